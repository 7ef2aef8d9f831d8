"""Outcomes of submitted work: decisions, rejections, appeals and payments; and rulings on controls."""

from datetime import datetime
from decimal import Decimal
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_noop

from annotation.models.people import WantsCall
from annotation.models.work import Assignment
from core import clock
from core.models import DatedRow
from hits.models import Control, Round


class Decision(DatedRow):
    """Whether an assignment's votes count and whether it is paid. Only added; the latest holds that is not undone."""

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
    undone_at = models.DateTimeField(null=True, help_text="When who decided took it back; the work waited again.")

    free_text = ("reason",)

    def __str__(self) -> str:
        return f"votes {'count' if self.votes_count else 'excluded'}, {'paid' if self.paid else 'unpaid'}"


class ControlRuling(DatedRow):
    """Whether a control judges work: retired, or reinstated. Only added; the latest holds.

    ``by`` is empty where the rule of ``annotation.work.retirement`` retired it. What a person has ruled on, the rule
    leaves alone, unless only its caption or image was excluded and is so no longer.
    """

    control = models.ForeignKey(Control, on_delete=models.PROTECT, related_name="rulings")
    retired = models.BooleanField()
    reason = models.TextField()
    by = models.CharField(max_length=150, blank=True, help_text="Empty: the rule.")
    exclusion = models.BooleanField(default=False, help_text="As its caption or image was excluded, or is no longer.")

    free_text = ("reason",)

    def __str__(self) -> str:
        return "retired" if self.retired else "reinstated"


class Rejection(WantsCall, DatedRow):
    """A person's wish not to pay: grounds, a reason the worker reads, evidence. Holds once nothing more is needed:
    where many are rejected, a second person has to agree first."""

    class Grounds(models.TextChoices):
        """The reasons for a rejection that platforms accept. A failed gold control alone is not enough."""

        EMPTY = "empty", gettext_noop("nothing was answered")
        RANDOM = "random", gettext_noop("the answers are plainly random or all the same")
        AUTOMATED = "automated", gettext_noop("a script answered")
        INSTRUCTIONS = "instructions", gettext_noop("explicit instructions were ignored")
        TOO_FAST = "too_fast", gettext_noop("done faster than the pairs can be read")

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="rejections")
    grounds = models.CharField(max_length=12, choices=Grounds)
    reason = models.TextField(max_length=1024, help_text="The worker reads it.")
    evidence = models.TextField(help_text="What shows it; for reviewers and appeals.")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    needs_second = models.BooleanField(default=False)
    seconded_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    seconded_at = models.DateTimeField(null=True)
    dropped_at = models.DateTimeField(null=True, help_text="Given up before it held, or reversed after.")

    free_text = ("reason", "evidence")
    PROPOSED: ClassVar = Q(dropped_at=None, needs_second=True, seconded_at=None)

    class Meta(DatedRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["assignment"], condition=Q(dropped_at=None), name="one_standing_rejection")
        ]

    def __str__(self) -> str:
        return f"rejection of assignment {self.assignment_id} ({self.grounds})"

    @property
    def is_agreed(self) -> bool:
        """Whether every person who has to agree has agreed: it holds, or did until it was reversed."""
        return not self.needs_second or self.seconded_at is not None

    @property
    def is_proposal(self) -> bool:
        """Whether a second person has yet to agree."""
        return self.dropped_at is None and not self.is_agreed

    @property
    def holds(self) -> bool:
        """Whether the work goes unpaid for it."""
        return self.dropped_at is None and self.is_agreed

    @property
    def state(self) -> str:
        if self.dropped_at:
            return "reversed" if self.is_agreed else "dropped"
        return "rejected" if self.is_agreed else "proposed"

    @property
    def held_at(self) -> datetime:
        """When it began to hold; when it was proposed, where it did not yet."""
        return self.seconded_at or self.at


class Appeal(DatedRow):
    """A worker's appeal against a rejection or, without one, for the pay of a HIT that another worker was given when
    its time ran out; and what a person answered."""

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="appeals")
    rejection = models.OneToOneField(Rejection, null=True, on_delete=models.PROTECT, related_name="appeal")
    text = models.TextField(max_length=4096)
    upheld = models.BooleanField(null=True, help_text="Whether the worker was right; null while it waits.")
    answer = models.TextField(blank=True)
    answered_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    answered_at = models.DateTimeField(null=True)

    free_text = ("answer",)
    personal_text = ("assignment__worker", "text")

    class Meta(DatedRow.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["assignment"], condition=Q(rejection=None), name="one_appeal_for_the_pay_of_lost_work"
            )
        ]

    def __str__(self) -> str:
        return f"appeal against {self.rejection}" if self.rejection else f"appeal for the pay of {self.assignment}"


class Payment(WantsCall):
    """What one assignment earned: its reward once, whatever is retried, and perhaps bonuses, each reason once.
    ``round`` repeats the assignment's, so that a round's payments are counted from the index alone."""

    class Kind(models.TextChoices):
        REWARD = "reward"
        BONUS = "bonus"

    class State(models.TextChoices):
        OWED = "owed"
        PAID = "paid"
        WITHDRAWN = "withdrawn", "withdrawn (a person decided not to pay)"

    EARNED = (State.OWED, State.PAID)

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="payments")
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="payments", db_index=False)
    kind = models.CharField(max_length=6, choices=Kind, default=Kind.REWARD)
    reason = models.CharField(max_length=200, blank=True, help_text="Of a bonus; its worker reads it.")
    amount = models.DecimalField(max_digits=8, decimal_places=2)
    fee = models.DecimalField(max_digits=8, decimal_places=2, default=Decimal("0.00"), help_text="The platform's.")
    state = models.CharField(max_length=9, choices=State, default=State.OWED)
    created_at = models.DateTimeField(default=clock.now)
    paid_at = models.DateTimeField(null=True)

    free_text = ("reason",)

    class Meta:
        permissions = [("pay_workers", "May see whom to pay, with platform ids, and mark it paid")]
        indexes = [
            models.Index(fields=["round", "state"]),
            models.Index(fields=["call"], condition=~Q(call=""), name="payment_call"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "kind", "reason"], name="one_payment_per_reason"),
            models.UniqueConstraint(
                fields=["assignment"], condition=Q(kind="reward"), name="one_reward_per_assignment"
            ),
        ]

    def __str__(self) -> str:
        return f"${self.amount} {self.state}"
