"""Who works, under which pseudonym, and what became of each assignment."""

import secrets

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from hits.models.rounds import HIT, Seat


def new_pseudonym() -> str:
    return secrets.token_hex(6)


class Worker(models.Model):
    """A person who judges, known by a pseudonym only."""

    pseudonym = models.CharField(max_length=12, unique=True, default=new_pseudonym)
    consented_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.pseudonym


class WorkerIdentity(models.Model):
    """A worker's id on a platform: the only place where it stands, erasable on its own."""

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
                condition=~Q(state__in=("returned", "expired")),
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
