"""Postings on platforms, account balances, syncs, audits, messages to workers, and the outbox of calls."""

import uuid

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from annotation.models import Assignment, AssignmentQuerySet, PlatformState, Worker
from hits.models import HIT, Round, Seat


class PostingQuerySet(models.QuerySet["Posting"]):
    def unfinished(self) -> "PostingQuerySet":
        """Keep those that may still change: not settled, or with work that is undecided there, or answered here and
        timed out there, which may still land."""
        late = work_on_posting().filter(platform_state=PlatformState.EXPIRED, state=Assignment.State.FLAGGED)
        return self.filter(Q(settled_at=None) | Exists(undecided_work()) | Exists(late))


def undecided_work() -> AssignmentQuerySet:
    """Return the work on the outer query's posting that its platform has not decided."""
    return work_on_posting().filter(platform_state=PlatformState.SUBMITTED)


def work_on_posting() -> AssignmentQuerySet:
    """Return the work on the outer query's posting."""
    return Assignment.objects.filter(hit__round=OuterRef("round"), external_posting=OuterRef("external_id"))


class Posting(models.Model):
    """What a platform lists for us: a HIT or, without one, a whole round, whose visitors we give a HIT as they arrive.

    A HIT has several postings if seats were opened again; a whole round has one, which grows.
    """

    class State(models.TextChoices):
        PLANNED = "planned", "planned (not on the platform yet)"
        LIVE = "live"
        CLOSED = "closed", "closed (no worker can accept it; accepted work may still be submitted)"
        DISPOSED = "disposed", "disposed (removed from the platform)"

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="postings")
    hit = models.ForeignKey(
        HIT, null=True, on_delete=models.PROTECT, related_name="postings", help_text="Null: of the whole round."
    )
    channel = models.CharField(max_length=20)
    environment = models.CharField(max_length=20)
    external_id = models.CharField(max_length=64, blank=True, help_text="The platform's id; empty until it is posted.")
    terms_id = models.CharField(
        max_length=64, blank=True, help_text="The platform's id of the terms, which postings may share."
    )
    max_assignments = models.PositiveSmallIntegerField(help_text="Maximum number of answer sets.")
    posted_assignments = models.PositiveSmallIntegerField(default=0, help_text="How many of them the platform lists.")
    excludes = models.CharField(
        max_length=64, blank=True, help_text="The platform's id of the group of workers who do not see it."
    )
    state = models.CharField(max_length=8, choices=State, default=State.PLANNED)
    status = models.CharField(max_length=20, blank=True, help_text="The platform's status, as last read.")
    pending = models.PositiveSmallIntegerField(default=0, help_text="Accepted and not yet submitted, as last read.")
    created_at = models.DateTimeField(default=timezone.now)
    posted_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True, help_text="When its submissions were last listed.")
    tried_at = models.DateTimeField(null=True, help_text="When a sync last tried to list its submissions.")
    paused_at = models.DateTimeField(null=True, help_text="Since when we have it take no visitors.")
    is_stopped = models.BooleanField(default=False, help_text="A person has it take no visitors for a while.")
    over_since = models.DateTimeField(null=True, help_text="Since when the platform has listed it as over.")
    settled_at = models.DateTimeField(null=True, help_text="When it had been over for SYNC_LAG_SECONDS.")

    objects = PostingQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["channel", "environment", "external_id"],
                condition=~Q(external_id=""),
                name="posting_once",
            )
        ]
        indexes = [models.Index(fields=["state", "hit"])]

    def __str__(self) -> str:
        return f"{self.channel} {self.environment} posting {self.external_id or self.pk} of {self.label}"

    @property
    def market(self) -> dict[str, str]:
        """Its channel and environment, as the fields of a row."""
        return {"channel": self.channel, "environment": self.environment}

    @property
    def one_hit(self) -> HIT:
        """The HIT of a posting that is of one. Raises ValueError for one of a whole round."""
        if self.hit is None:
            raise ValueError(f"{self} is of no single HIT.")
        return self.hit

    @property
    def label(self) -> str:
        """What it is a posting of."""
        return str(self.hit) if self.hit else f"round {self.round}"

    @property
    def work(self) -> AssignmentQuerySet:
        """The work on it."""
        return Assignment.objects.filter(hit__round=self.round_id, external_posting=self.external_id)

    @property
    def wants_visitors(self) -> bool:
        """Whether visitors of a whole round may come: there is a HIT for them, and nobody has paused it."""
        return not self.is_stopped and self.round.seats.filter(state=Seat.State.OPEN).exists()

    @property
    def unused(self) -> int:
        """How many of the answer sets that the platform lists were not submitted."""
        return self.posted_assignments - self.work.listed().count()


class AccountBalance(models.Model):
    """The last known balance of our account on a platform, in US dollars."""

    channel = models.CharField(max_length=20)
    environment = models.CharField(max_length=20)
    amount = models.DecimalField(max_digits=12, decimal_places=2)
    changed_at = models.DateTimeField(default=timezone.now, help_text="When this amount was first read.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["channel", "environment"], name="one_balance_per_account")]

    def __str__(self) -> str:
        return f"{self.channel} {self.environment}: ${self.amount}"


class Sync(models.Model):
    """A sync of a round that found something new. Other syncs have no row."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="syncs")
    at = models.DateTimeField(default=timezone.now)
    submitted = models.PositiveIntegerField(help_text="New submissions.")
    taken_in = models.PositiveIntegerField(help_text="Submissions whose answers were stored.")
    asked_for = models.PositiveIntegerField(help_text="Open seats that were posted again.")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"sync of {self.round} at {self.at:%Y-%m-%d %H:%M}"


class Audit(models.Model):
    """A comparison of a round with its platform. Staff repair what the latest one lists."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="audits")
    at = models.DateTimeField(default=timezone.now)
    by = models.CharField(max_length=150)
    differences = models.JSONField(default=list, help_text="Rows of text, each with whether it can be repaired.")
    repaired = models.PositiveIntegerField(null=True, help_text="Number of repairs just before; null for a mere audit.")

    free_text = ("differences",)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"audit of {self.round} at {self.at:%Y-%m-%d %H:%M}"


class Message(models.Model):
    """A message to a worker, sent by their platform."""

    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="messages")
    subject = models.CharField(max_length=200)
    text = models.TextField(max_length=4096)
    by = models.CharField(max_length=150)
    at = models.DateTimeField(default=timezone.now)
    failure = models.TextField(blank=True, help_text="Why the platform could not deliver it.")

    free_text = ("subject", "text", "failure")
    personal_text = ("worker", "subject", "text", "failure")

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"to {self.worker}: {self.subject}"


class Hint(models.Model):
    """An event that a platform sent. It stops the same one from being acted on twice."""

    channel = models.CharField(max_length=20)
    environment = models.CharField(max_length=20)
    external_id = models.CharField(max_length=64)
    at = models.DateTimeField(default=timezone.now, db_index=True)

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
    created_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField(
        default=timezone.now, help_text="It is made after this time. If it is being made, it is lost after this time."
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
        again = {"state": self.State.PENDING, "attempts": 0, "waits": 0, "due_at": timezone.now()}
        return bool(Outbox.objects.filter(pk=self.pk, state__in=states).update(**again))
