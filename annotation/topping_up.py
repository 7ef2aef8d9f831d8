"""Where a round's work took longer than its reward is worth, make up for it by a bonus: to everybody, once."""

from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotation.bonuses import owe_bonus
from annotation.budget import check_may_give, locked
from annotation.ledger import EARNED
from annotation.models import Assignment, Payment
from annotation.wages import LEAST_TIMED, Timing, fair_reward, timing_of
from core.errors import CounterpartError
from core.progress import Progress, silent
from hits.models import Round

REASON = "Top-up: this work took longer than we had planned."


@dataclass(frozen=True)
class TopUp:
    """What is short: ``bonus`` US dollars (or 0) for each of ``assignments``, ``total`` with the platform's fees."""

    timing: Timing
    fair: Decimal
    bonus: Decimal
    assignments: int
    total: Decimal


def shortfall_of(round: Round) -> TopUp:
    """Measure what the round's reward falls short of its wage floor, by the median active time of its own work.

    Everybody who is paid gets the same, as one worker's own time tells little. Raises CounterpartError where too little
    was submitted to tell.
    """
    timing = timing_of(round)
    if timing is None:
        raise CounterpartError(
            f"Round {round} has fewer than {LEAST_TIMED} timed submissions; it is too early to tell."
        )
    fair = fair_reward(timing.active, round.wage_floor)
    bonus = max(fair - round.reward, Decimal("0.00"))
    if not bonus:
        return TopUp(timing, fair, bonus, 0, bonus)
    wanted = _without_top_up(round).count()
    return TopUp(timing, fair, bonus, wanted, (bonus + round.fee_schedule.bonus_fee(bonus)) * wanted)


def top_up(round: Round, *, actor: str, progress: Progress = silent) -> TopUp:
    """Owe every paid assignment of the round what it falls short, all or none of them. Who had a top-up gets no other.

    Raises CounterpartError where too little was submitted, CeilingError where the ceiling leaves less than it takes.
    """
    with transaction.atomic():
        held = locked(round)
        short = shortfall_of(held)
        check_may_give(held, short.total)
        if short.bonus:
            for done, assignment in enumerate(_without_top_up(held)):
                progress("owing top-ups", done, short.assignments)
                owe_bonus(assignment, amount=short.bonus, reason=REASON, actor=actor)
    return short


def _without_top_up(round: Round) -> QuerySet[Assignment]:
    """Assignments whose reward is owed or paid and that had no top-up yet; on a platform, of those it can reach."""
    payments = Payment.objects.filter(assignment=OuterRef("pk"))
    rewarded = payments.filter(kind=Payment.Kind.REWARD, state__in=EARNED)
    topped_up = payments.filter(kind=Payment.Kind.BONUS, reason=REASON)
    theirs = Assignment.objects.filter(Exists(rewarded), ~Exists(topped_up), hit__round=round)
    if round.settles:
        theirs = theirs.filter(worker__forgotten_at=None)
    return theirs.select_related("hit__round").order_by("pk")
