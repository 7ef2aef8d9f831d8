"""Calls to platforms: messages to workers, events that platforms sent, and the outbox."""

import uuid

from django.db import models

from annotation.models import Worker
from core import clock
from core.models import SignedRow
from hits.models import Round


class Message(SignedRow):
    """A message to a worker, sent by their platform."""

    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="messages")
    subject = models.CharField(max_length=200)
    text = models.TextField(max_length=4096)
    failure = models.TextField(blank=True, help_text="Why the platform could not deliver it.")

    free_text = ("subject", "text", "failure")
    personal_text = ("worker", "subject", "text", "failure")

    def __str__(self) -> str:
        return f"to {self.worker}: {self.subject}"


class Hint(models.Model):
    """An event that a platform sent. It stops the same one from being acted on twice."""

    channel = models.CharField(max_length=20)
    environment = models.CharField(max_length=20)
    external_id = models.CharField(max_length=64)
    at = models.DateTimeField(default=clock.now, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["channel", "environment", "external_id"], name="hint_once")]

    def __str__(self) -> str:
        return f"{self.channel} {self.environment} event {self.external_id}"


class Outbox(models.Model):
    """A call that costs money or publishes, stored before it is made. Its id is the idempotency token."""

    class Call(models.TextChoices):
        PUBLISH = "publish", "put a HIT on the platform"
        EXTEND = "extend", "post more answer sets of a posted HIT"
        PROLONG = "prolong", "let workers accept a posted HIT for longer"
        CLOSE = "close", "close a posted HIT"
        PAUSE = "pause", "let no visitors come for a while, or let them come again"
        DISPOSE = "dispose", "remove a finished HIT from the platform"
        PAY = "pay", "pay a reward or a bonus"
        REJECT = "reject", "reject work"
        MESSAGE = "message", "write to a worker"
        EXCLUDE = "exclude", "exclude a worker"
        READMIT = "readmit", "readmit a worker"

    class State(models.TextChoices):
        PENDING = "pending"
        SENDING = "sending"
        DONE = "done"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    channel = models.CharField(max_length=20)
    environment = models.CharField(max_length=20, blank=True)
    round = models.ForeignKey(
        Round,
        null=True,
        on_delete=models.CASCADE,
        related_name="calls",
        help_text="Empty for calls of no single round.",
    )
    call = models.CharField(max_length=20, choices=Call)
    subject = models.CharField(max_length=120, help_text="The row it is about, as app.model:key.")
    payload = models.JSONField(default=dict)
    state = models.CharField(max_length=7, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    waits = models.PositiveSmallIntegerField(
        default=0, help_text="How often in a row the platform asked to wait, for money or because of too many calls."
    )
    unclear = models.BooleanField(default=False, help_text="It was sent, and its effect is unknown.")
    sent = models.JSONField(
        null=True,
        help_text="Of a call that is never repeated: that it was made, with what the platform listed before.",
    )
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(default=clock.now)
    due_at = models.DateTimeField(
        default=clock.now, help_text="It is made after this time. If it is being made, it is lost after this time."
    )

    free_text = ("payload", "sent", "error")

    class Meta:
        verbose_name_plural = "outbox"
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(fields=["call", "subject", "channel", "environment"], name="one_call_per_subject")
        ]
        indexes = [models.Index(fields=["state", "due_at"])]

    def __str__(self) -> str:
        return f"{self.call} {self.subject} ({self.state})"

    def make_again(self, *come_from: State) -> bool:
        """Have a call made again that is being made, is done or has failed (or is in a state of ``come_from``). False:
        it is in another state."""
        states = come_from or (self.State.SENDING, self.State.DONE, self.State.FAILED)
        again = {"state": self.State.PENDING, "attempts": 0, "waits": 0, "due_at": clock.now()}
        return bool(Outbox.objects.filter(pk=self.pk, state__in=states).update(**again))
