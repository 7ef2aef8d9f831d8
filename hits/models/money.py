"""What is owed and what was sent to the outside world."""

import uuid

from django.db import models
from django.utils import timezone

from hits.models.rounds import Round
from hits.models.work import Assignment


class Payment(models.Model):
    """What one assignment earned. One row an assignment, whatever is retried. ``round`` repeats the assignment's,
    so that a round's payments are counted from the index alone."""

    class State(models.TextChoices):
        OWED = "owed"
        PAID = "paid"
        WITHDRAWN = "withdrawn", "withdrawn (a person decided not to pay)"

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="payments")
    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="payment")
    amount = models.DecimalField(max_digits=8, decimal_places=2)
    state = models.CharField(max_length=9, choices=State, default=State.OWED)
    created_at = models.DateTimeField(default=timezone.now)
    paid_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["round", "state"])]

    def __str__(self) -> str:
        return f"${self.amount} {self.state}"


class Outbox(models.Model):
    """A call that costs money or publishes, written down before it is made. Its id is the idempotency token."""

    class Call(models.TextChoices):
        PUBLISH = "publish"
        CLOSE = "close"
        PAY = "pay"

    class State(models.TextChoices):
        PENDING = "pending"
        SENDING = "sending"
        DONE = "done"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    channel = models.CharField(max_length=20)
    environment = models.CharField(max_length=20, blank=True)
    call = models.CharField(max_length=20, choices=Call)
    subject = models.CharField(max_length=120, help_text="The row it is about, as app.model:key.")
    payload = models.JSONField(default=dict)
    state = models.CharField(max_length=7, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField(
        default=timezone.now, help_text="Not to be sent before; one that is being sent is lost if this passes."
    )

    class Meta:
        verbose_name_plural = "outbox"
        ordering = ["created_at"]
        constraints = [models.UniqueConstraint(fields=["call", "subject"], name="one_call_per_subject")]
        indexes = [models.Index(fields=["state", "due_at"])]

    def __str__(self) -> str:
        return f"{self.call} {self.subject} ({self.state})"
