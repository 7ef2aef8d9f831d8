"""What stands on a crowd platform: our HITs as posted there, and the work on them as both sides know it."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models.work import Assignment, Worker
from hits.models import HIT, Round


class Posting(models.Model):
    """A HIT as it was put on a platform. One of ours has several where seats were opened again."""

    class State(models.TextChoices):
        PLANNED = "planned", "planned (written down, not on the platform yet)"
        LIVE = "live"
        CLOSED = "closed", "closed (no more work is taken; what was accepted may still come in)"
        DISPOSED = "disposed", "disposed (removed from the platform)"

    hit = models.ForeignKey(HIT, on_delete=models.PROTECT, related_name="postings")
    channel = models.CharField(max_length=20)
    environment = models.CharField(max_length=20)
    external_id = models.CharField(max_length=64, blank=True, help_text="The platform's id; empty until it is there.")
    type_id = models.CharField(max_length=64, blank=True, help_text="The platform's id of its terms (HIT type).")
    max_assignments = models.PositiveSmallIntegerField(help_text="Answer sets that this posting may bring at most.")
    posted_assignments = models.PositiveSmallIntegerField(default=0, help_text="How many of them the platform knows.")
    excludes = models.CharField(
        max_length=64, blank=True, help_text="The platform's id of the qualification whose bearers are shut out."
    )
    state = models.CharField(max_length=8, choices=State, default=State.PLANNED)
    status = models.CharField(max_length=20, blank=True, help_text="The platform's own word, as last read.")
    pending = models.PositiveSmallIntegerField(default=0, help_text="Accepted and not yet submitted, as last read.")
    created_at = models.DateTimeField(default=timezone.now)
    posted_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True, help_text="When all its work was last listed.")
    over_since = models.DateTimeField(null=True, help_text="Since when every listing found nothing more to come.")
    settled_at = models.DateTimeField(null=True, help_text="When that had held long enough to be believed.")

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
        return f"{self.channel} {self.environment} posting {self.external_id or self.pk} of HIT {self.hit_id}"


class PlatformAssignment(models.Model):
    """One worker's turn at a posted HIT. What the page in the platform's frame was told are claims; what the platform
    lists (``status``) is the truth, and only that makes an Assignment.

    Platforms hand out one assignment id twice, to the same worker or another: ours is told apart by the worker, and
    only a submitted one binds the id.
    """

    class Status(models.TextChoices):
        CLAIMED = "", "claimed by a visitor, not confirmed"
        SUBMITTED = "submitted"
        APPROVED = "approved"
        REJECTED = "rejected"

    posting = models.ForeignKey(Posting, on_delete=models.PROTECT, related_name="assignments")
    channel = models.CharField(max_length=20)
    environment = models.CharField(max_length=20)
    external_id = models.CharField(max_length=64)
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="platform_assignments")
    assignment = models.OneToOneField(
        Assignment, null=True, on_delete=models.PROTECT, related_name="platform", help_text="Once taken in."
    )
    opened_at = models.DateTimeField(null=True, help_text="When our page was first opened for it.")
    answers = models.JSONField(default=dict, help_text="By item id: level, shortcoming, wrong way, as last saved.")
    active_seconds = models.PositiveIntegerField(null=True)
    saved_at = models.DateTimeField(null=True, help_text="When a whole answer set was last saved with us.")
    receipt = models.CharField(max_length=40, blank=True, help_text="Sent along, so that either copy finds the other.")
    status = models.CharField(max_length=9, choices=Status, blank=True, default=Status.CLAIMED)
    submitted_at = models.DateTimeField(null=True)
    auto_approval_at = models.DateTimeField(null=True)
    decided_at = models.DateTimeField(null=True, help_text="Approved or rejected on the platform.")
    content = models.TextField(blank=True, help_text="The answer as the platform gave it, unparsed.")
    seen_at = models.DateTimeField(null=True, help_text="When it was last listed.")
    problem = models.TextField(blank=True, help_text="What a person has to look at.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["channel", "environment", "external_id", "worker"], name="platform_assignment_once_per_worker"
            ),
            models.UniqueConstraint(
                fields=["channel", "environment", "external_id"],
                condition=~Q(status=""),
                name="listed_platform_assignment_once",
            ),
        ]
        indexes = [models.Index(fields=["status", "assignment"])]

    def __str__(self) -> str:
        return f"{self.channel} {self.environment} assignment {self.external_id}"


class AccountBalance(models.Model):
    """What our account on a platform held when it was last asked, in US dollars."""

    channel = models.CharField(max_length=20)
    environment = models.CharField(max_length=20)
    amount = models.DecimalField(max_digits=12, decimal_places=2)
    changed_at = models.DateTimeField(default=timezone.now, help_text="When this amount was first seen.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["channel", "environment"], name="one_balance_per_account")]

    def __str__(self) -> str:
        return f"{self.channel} {self.environment}: ${self.amount}"


class Sync(models.Model):
    """A sync of a round that found something new; syncs that found nothing leave no row."""

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
    differences = models.JSONField(default=list, help_text="Rows of words, each with whether it can be repaired.")
    repaired = models.PositiveIntegerField(null=True, help_text="Repaired just before; null if nothing was asked.")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"audit of {self.round} at {self.at:%Y-%m-%d %H:%M}"


class Message(models.Model):
    """Words to a worker, sent by their platform."""

    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="messages")
    subject = models.CharField(max_length=200)
    text = models.TextField(max_length=4096)
    by = models.CharField(max_length=150)
    at = models.DateTimeField(default=timezone.now)
    failure = models.TextField(blank=True, help_text="Why the platform could not deliver it.")

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"to {self.worker}: {self.subject}"


class Outbox(models.Model):
    """A call that costs money or publishes, written down before it is made. Its id is the idempotency token."""

    class Call(models.TextChoices):
        PUBLISH = "publish", "put a HIT on the platform"
        EXTEND = "extend", "ask for more answer sets of a posted HIT"
        CLOSE = "close", "take a posted HIT off the market"
        DISPOSE = "dispose", "remove a finished HIT from the platform"
        PAY = "pay", "pay a reward or a bonus"
        REJECT = "reject", "refuse to pay"
        MESSAGE = "message", "write to a worker"
        EXCLUDE = "exclude", "shut a worker out"
        READMIT = "readmit", "let a worker in again"

    class State(models.TextChoices):
        PENDING = "pending"
        SENDING = "sending"
        DONE = "done"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    channel = models.CharField(max_length=20)
    environment = models.CharField(max_length=20, blank=True)
    round = models.ForeignKey(
        Round, null=True, on_delete=models.CASCADE, related_name="calls", help_text="Empty: of no one round."
    )
    call = models.CharField(max_length=20, choices=Call)
    subject = models.CharField(max_length=120, help_text="The row it is about, as app.model:key.")
    payload = models.JSONField(default=dict)
    state = models.CharField(max_length=7, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    unclear = models.BooleanField(default=False, help_text="Sent, and whether it took effect is not known.")
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField(
        default=timezone.now, help_text="Not to be sent before; one that is being sent is lost if this passes."
    )

    class Meta:
        verbose_name_plural = "outbox"
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(fields=["call", "subject", "channel", "environment"], name="one_call_per_subject")
        ]
        indexes = [models.Index(fields=["state", "due_at"])]

    def __str__(self) -> str:
        return f"{self.call} {self.subject} ({self.state})"
