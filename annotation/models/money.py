"""What work has earned."""

from decimal import Decimal

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models.work import Assignment, WantsCall
from hits.models import Round


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
    created_at = models.DateTimeField(default=timezone.now)
    paid_at = models.DateTimeField(null=True)

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
