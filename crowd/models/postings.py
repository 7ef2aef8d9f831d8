"""Postings on platforms and the visits of their workers; account balances, syncs and audits."""

from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Exists, OuterRef, Q

from annotation.models import Assignment, ConsentSheet, Worker
from core import clock
from crowd.study_states import There
from hits.models import HIT, Round, Seat


class PostingQuerySet(models.QuerySet["Posting"]):
    def unfinished(self) -> "PostingQuerySet":
        """Keep those that may still change: not settled, or with work that is undecided there, or answered here and
        timed out there, which may still land."""
        timed_out = visits_to_posting().filter(state=Visit.State.EXPIRED, assignment__state=Assignment.State.FLAGGED)
        return self.filter(Q(settled_at=None) | Exists(visits_to_posting().undecided()) | Exists(timed_out))


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
    there = models.CharField(
        max_length=9, choices=There, default=There.OPEN, help_text="What that means (crowd.study_states)."
    )
    freed = models.PositiveSmallIntegerField(
        null=True, help_text="How many places submitted work had that was rejected or returned, as last read."
    )
    paused_itself = models.BooleanField(default=False, help_text="The platform paused it by its own rule.")
    pending = models.PositiveSmallIntegerField(default=0, help_text="Accepted and not yet submitted, as last read.")
    created_at = models.DateTimeField(default=clock.now)
    posted_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True, help_text="When its submissions were last listed.")
    tried_at = models.DateTimeField(null=True, help_text="When a sync last tried to list its submissions.")
    paused_at = models.DateTimeField(null=True, help_text="Since when we have it take no visitors.")
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
        """The name of what it posts: a HIT or a round."""
        return str(self.hit) if self.hit else f"round {self.round}"

    def begin_visit(self, assignment: Assignment, **fields: Any) -> "Visit":
        """Record that the assignment's worker came for this posting."""
        known = {"worker": assignment.worker, "external_id": assignment.outside_key, **self.market}
        return Visit.objects.create(assignment=assignment, posting=self, **known, **fields)

    @property
    def wants_visitors(self) -> bool:
        """Whether visitors of a whole round may come: a HIT is left for them, and the round is not paused."""
        return Seat.objects.filter(round=self.round_id, round__paused_at=None, state=Seat.State.OPEN).exists()

    @property
    def unused(self) -> int:
        """How many of the answer sets that the platform lists were not submitted."""
        return self.posted_assignments - self.visits.listed().count()


class VisitQuerySet(models.QuerySet["Visit"]):
    def unconfirmed(self) -> "VisitQuerySet":
        """Keep those that the platform has not listed in any state."""
        return self.filter(state=Visit.State.UNCONFIRMED)

    def listed(self) -> "VisitQuerySet":
        """Keep those that the platform lists as submitted, whatever became of them."""
        return self.filter(state__in=Visit.LISTED)

    def undecided(self) -> "VisitQuerySet":
        """Keep those that are submitted and wait for a decision there."""
        return self.filter(state=Visit.State.SUBMITTED)

    def gone(self) -> "VisitQuerySet":
        """Keep those that ended there without a submission."""
        return self.filter(state__in=Visit.GONE)

    def move(self, to: str, *, decided_at: datetime | None) -> bool:
        """Record that the platform has decided. False: all of them were in that state."""
        return bool(self.exclude(state=to).update(state=to, decided_at=decided_at or clock.now()))


class Visit(models.Model):
    """How the worker of an assignment came from a platform, and what the platform says of their work.

    Where a platform has us choose the visitor's HIT, the assignment holds a seat from the start. Where the platform
    chooses, a visitor only claims to have taken the HIT: their assignment is leased without a seat until the platform
    lists it. Platforms give one id to several workers, one after the other; only a submission binds it to its worker.
    """

    class State(models.TextChoices):
        """What the platform says of it. Which state may follow which: ``crowd.endings.ONWARD``."""

        UNCONFIRMED = "", "claimed by a visitor, not confirmed"
        SUBMITTED = "submitted"
        APPROVED = "approved"
        REJECTED = "rejected"
        RETURNED = "returned"
        EXPIRED = "expired", "ran out of time there"
        SETTLED = "settled", "settled there otherwise: screened out, or paid in part"

    LISTED = (State.SUBMITTED, State.APPROVED, State.REJECTED, State.SETTLED)
    # Ended there without a submission; the platform pays such work by a bonus at most.
    GONE = (State.RETURNED, State.EXPIRED)

    assignment = models.OneToOneField(Assignment, on_delete=models.CASCADE, related_name="visit")
    posting = models.ForeignKey(Posting, on_delete=models.PROTECT, related_name="visits", db_index=False)
    # The assignment's worker and the posting's platform, repeated for the constraints.
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="+")
    channel = models.CharField(max_length=20)
    environment = models.CharField(max_length=20)
    external_id = models.CharField(max_length=64, help_text="The platform's id of the assignment or session.")
    state = models.CharField(max_length=9, choices=State, blank=True, default=State.UNCONFIRMED)
    sheet = models.ForeignKey(
        ConsentSheet,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="What the worker of a claim agreed to; noted as their consent once the platform confirms it.",
    )
    finish_url = models.CharField(max_length=500, blank=True, help_text="Where the finished page sends its form.")
    finish_fields = models.JSONField(
        default=dict, help_text="What that form holds; for a claim also answers and receipt."
    )
    auto_approval_at = models.DateTimeField(null=True, help_text="When the platform approves undecided work.")
    decided_at = models.DateTimeField(null=True, help_text="When it was approved or rejected on the platform.")
    content = models.TextField(blank=True, help_text="The answer as the platform gave it, unparsed.")

    objects = VisitQuerySet.as_manager()

    personal_text = ("worker", "content")

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["posting", "state"], name="visits_to_a_posting")]
        constraints = [
            models.UniqueConstraint(
                fields=["channel", "environment", "external_id", "worker"], name="visit_once_per_worker"
            ),
            models.UniqueConstraint(
                fields=["channel", "environment", "external_id"], condition=~Q(state=""), name="listed_visit_once"
            ),
        ]

    def __str__(self) -> str:
        return f"visit {self.external_id} ({self.state or 'not confirmed'})"

    @property
    def is_listed(self) -> bool:
        """Whether the platform lists it as submitted, whatever became of it."""
        return self.state in self.LISTED

    @property
    def is_unconfirmed(self) -> bool:
        """Whether the platform has not listed it in any state."""
        return self.state == self.State.UNCONFIRMED

    @property
    def is_undecided(self) -> bool:
        """Whether it is submitted and waits for a decision there."""
        return self.state == self.State.SUBMITTED

    @property
    def is_approved(self) -> bool:
        """Whether the platform has approved and paid it."""
        return self.state == self.State.APPROVED


def visits_to_posting() -> VisitQuerySet:
    """Return the visits to the outer query's posting."""
    return Visit.objects.filter(posting=OuterRef("pk"))


class AccountBalance(models.Model):
    """The last known balance of our account on a platform, in US dollars."""

    channel = models.CharField(max_length=20)
    environment = models.CharField(max_length=20)
    amount = models.DecimalField(max_digits=12, decimal_places=2)
    changed_at = models.DateTimeField(default=clock.now, help_text="When this amount was first read.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["channel", "environment"], name="one_balance_per_account")]

    def __str__(self) -> str:
        return f"{self.channel} {self.environment}: ${self.amount}"


class Sync(models.Model):
    """A sync of a round that found something new. Other syncs have no row."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="syncs")
    at = models.DateTimeField(default=clock.now)
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
    at = models.DateTimeField(default=clock.now)
    by = models.CharField(max_length=150)
    differences = models.JSONField(default=list, help_text="Rows of text, each with whether it can be repaired.")
    repaired = models.PositiveIntegerField(null=True, help_text="Number of repairs just before; null for a mere audit.")

    free_text = ("differences",)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"audit of {self.round} at {self.at:%Y-%m-%d %H:%M}"
