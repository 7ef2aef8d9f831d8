"""Who works, under which pseudonym, and what became of each assignment."""

import secrets
from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from hits.models import HIT, Seat


def new_pseudonym() -> str:
    return secrets.token_hex(6)


class Worker(models.Model):
    """A person who judges, known by a pseudonym only."""

    pseudonym = models.CharField(max_length=12, unique=True, default=new_pseudonym)
    consented_at = models.DateTimeField(null=True)
    forgotten_at = models.DateTimeField(null=True, help_text="When the platform ids were erased for good.")
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.pseudonym


class WantsCall(models.Model):
    """A row of which a platform has to be told. ``crowd`` makes the call, and notes here what concerns this app."""

    class Call(models.TextChoices):
        NONE = "", "none"
        WANTED = "wanted", "wanted (not yet in the outbox)"
        UNDER_WAY = "under way", "under way (the platform may be acting on it, or have acted)"

    call = models.CharField(max_length=9, choices=Call, blank=True, default=Call.NONE)

    class Meta:
        abstract = True


class WorkerIdentity(models.Model):
    """A worker's id on a platform: the only place where it is stored, erasable on its own."""

    OURS = ("browser", "simulation")  # channels whose ids we make up: they lead to nobody

    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="identities")
    channel = models.CharField(max_length=20)
    environment = models.CharField(max_length=20, blank=True)
    external_id = models.CharField(max_length=120)

    class Meta:
        verbose_name_plural = "worker identities"
        constraints = [
            models.UniqueConstraint(fields=["channel", "environment", "external_id"], name="identity_once_per_platform")
        ]

    def __str__(self) -> str:
        return f"{self.channel} identity of {self.worker_id}"


class Assignment(models.Model):
    """One worker's turn at one seat: leased → submitted → accepted | flagged → accepted | excluded,
    or leased → returned | expired."""

    class State(models.TextChoices):
        LEASED = "leased"
        SUBMITTED = "submitted"
        FLAGGED = "flagged", "flagged for a human check"
        ACCEPTED = "accepted"
        EXCLUDED = "excluded"
        RETURNED = "returned"
        EXPIRED = "expired"

    HOLDING = (State.LEASED, State.SUBMITTED, State.FLAGGED, State.ACCEPTED)
    ABANDONED = (State.RETURNED, State.EXPIRED)

    seat = models.ForeignKey(Seat, on_delete=models.PROTECT, related_name="assignments")
    hit = models.ForeignKey(HIT, on_delete=models.PROTECT, related_name="assignments")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="assignments")
    state = models.CharField(max_length=9, choices=State, default=State.LEASED)
    leased_at = models.DateTimeField(default=timezone.now)
    deadline = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True)
    active_seconds = models.PositiveIntegerField(null=True, help_text="Time with the page visible and in use.")
    receipt = models.CharField(max_length=24, blank=True, help_text="Shown to the worker as proof of submission.")
    control_failures = models.PositiveSmallIntegerField(
        null=True, help_text="Gold controls answered wrong; null before grading."
    )

    class Meta:
        ordering = ["id"]
        permissions = [("decide_assignment", "May decide whether votes count and work is paid")]
        indexes = [
            models.Index(fields=["state", "deadline"]),
            models.Index(fields=["worker", "hit"]),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["seat"],
                condition=Q(state__in=("leased", "submitted", "flagged", "accepted")),
                name="one_holder_of_a_seat",
            ),
            models.UniqueConstraint(
                fields=["hit", "worker"],
                condition=~Q(state__in=("returned", "expired", "excluded")),
                name="a_worker_answers_a_hit_once",
            ),
        ]

    def __str__(self) -> str:
        return f"assignment {self.pk} ({self.state})"


class Decision(models.Model):
    """Whether an assignment's votes count and whether it is paid. Only added; the latest holds."""

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="decisions")
    votes_count = models.BooleanField()
    paid = models.BooleanField()
    reason = models.TextField(blank=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Null: the grading rule.",
    )
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"votes {'count' if self.votes_count else 'excluded'}, {'paid' if self.paid else 'unpaid'}"


class Rejection(WantsCall):
    """A person's wish not to pay: grounds, a reason the worker reads, evidence. Holds once nothing more is needed:
    where many are rejected, a second person has to agree first."""

    class Grounds(models.TextChoices):
        """What platforms accept. A failed gold control alone is none of them."""

        EMPTY = "empty", "nothing was answered"
        RANDOM = "random", "the answers are plainly random or all the same"
        AUTOMATED = "automated", "a script answered"
        INSTRUCTIONS = "instructions", "explicit instructions were ignored"
        TOO_FAST = "too_fast", "done faster than the pairs can be read"

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="rejections")
    grounds = models.CharField(max_length=12, choices=Grounds)
    reason = models.TextField(max_length=1024, help_text="The worker reads it.")
    evidence = models.TextField(help_text="What shows it; for reviewers and appeals.")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    needs_second = models.BooleanField(default=False)
    seconded_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    seconded_at = models.DateTimeField(null=True)
    dropped_at = models.DateTimeField(null=True, help_text="Given up before it held, or reversed after.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["assignment"], condition=Q(dropped_at=None), name="one_standing_rejection")
        ]

    def __str__(self) -> str:
        return f"rejection of assignment {self.assignment_id} ({self.grounds})"

    @property
    def is_proposal(self) -> bool:
        """Whether a second person has yet to agree."""
        return self.dropped_at is None and self.needs_second and self.seconded_at is None

    @property
    def holds(self) -> bool:
        """Whether the work goes unpaid for it."""
        return self.dropped_at is None and not self.is_proposal

    @property
    def held_at(self) -> datetime:
        """When it began to hold; when it was proposed, where it did not yet."""
        return self.seconded_at or self.at


class Appeal(models.Model):
    """A worker's objection to a rejection, and what a person answered."""

    rejection = models.OneToOneField(Rejection, on_delete=models.PROTECT, related_name="appeal")
    text = models.TextField(max_length=4096)
    at = models.DateTimeField(default=timezone.now)
    upheld = models.BooleanField(null=True, help_text="Whether the worker was right; null while it waits.")
    answer = models.TextField(blank=True)
    answered_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    answered_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"appeal against {self.rejection}"


class Exclusion(WantsCall):
    """A worker who gets no more HITs from us. Judgments and pay stay as they are; it can be lifted."""

    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="exclusions")
    reason = models.TextField()
    by = models.CharField(max_length=150)
    at = models.DateTimeField(default=timezone.now)
    lifted_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["worker"], condition=Q(lifted_at=None), name="one_standing_exclusion")
        ]

    def __str__(self) -> str:
        return f"exclusion of {self.worker}"
