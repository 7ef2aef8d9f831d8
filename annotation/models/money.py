"""What is owed and what was sent to the outside world."""

from decimal import Decimal

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models.work import Assignment
from hits.models import Round


class Payment(models.Model):
    """What one assignment earned: its reward once, whatever is retried, and perhaps bonuses, each reason once.
    ``round`` repeats the assignment's, so that a round's payments are counted from the index alone."""

    class Kind(models.TextChoices):
        REWARD = "reward"
        BONUS = "bonus"

    class State(models.TextChoices):
        OWED = "owed"
        PAID = "paid"
        WITHDRAWN = "withdrawn", "withdrawn (a person decided not to pay)"

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
        indexes = [models.Index(fields=["round", "state"])]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "kind", "reason"], name="one_payment_per_reason"),
            models.UniqueConstraint(
                fields=["assignment"], condition=Q(kind="reward"), name="one_reward_per_assignment"
            ),
        ]

    def __str__(self) -> str:
        return f"${self.amount} {self.state}"


class LedgerEntry(models.Model):
    """Money that moved from one account of a round to another. Only added; all accounts of a round sum to zero.

    The ceiling stands in ``free`` at first; ``outside`` is where it came from, and so the sum of the others, negated.
    """

    class Account(models.TextChoices):
        OUTSIDE = "outside"
        FREE = "free", "free (within the ceiling, promised to nobody)"
        PLANNED = "planned", "planned (seats that wait for an answer set)"
        HELD = "held", "held (set aside by the platform for posted HITs)"
        OWED = "owed", "owed (earned and not yet paid, with its fee)"
        PAID = "paid", "paid (to workers)"
        FEES = "fees", "fees (to the platform)"

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="ledger")
    source = models.CharField(max_length=7, choices=Account)
    target = models.CharField(max_length=7, choices=Account)
    amount = models.DecimalField(max_digits=12, decimal_places=2)
    subject = models.CharField(max_length=120, help_text="The row it is about, as app.model:key.")
    cause = models.CharField(max_length=40, help_text="What moved it; once a subject and cause.")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "ledger entries"
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="ledger_amount_positive"),
            models.CheckConstraint(condition=~Q(source=models.F("target")), name="ledger_moves"),
            models.UniqueConstraint(fields=["round", "subject", "cause"], name="ledger_entry_once"),
        ]

    def __str__(self) -> str:
        return f"${self.amount} {self.source} to {self.target}"
