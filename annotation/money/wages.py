"""What a HIT's time is worth: measured in a pilot or stated by a person, held against the round's wage floor."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_UP, Decimal
from math import ceil
from statistics import median

import numpy as np
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotation.models import Assignment, Payment
from annotation.money.budget import check_may_give, locked
from annotation.money.payments import IN_ITS_PLACE, owe_bonus
from core.errors import CounterpartError
from core.progress import Progress, silent, tracked
from core.text import counted
from core.work.authority import check_authority
from hits.models import Round, Seat
from hits.prices import fair_reward
from hits.task_types import task_type_of

PILOT_SIZE = 30  # assignments that may go out before any was timed
LEAST_TIMED = 5  # accepted assignments below which a median means nothing
TOP_UP = "Top-up: this work took longer than we had planned."  # a bonus with this reason is given once


@dataclass(frozen=True)
class Timing:
    """How long accepted work of a round took: medians in seconds over ``n`` assignments. ``active`` is with the page
    visible and in use, half of it from ``low`` to ``high`` (quartiles). ``simulated`` of the ``n`` are of programs,
    which make their times up. ``elapsed`` is from taking to submitting it, where that was asked for."""

    n: int
    active: float
    low: float
    high: float
    simulated: int = 0
    elapsed: float | None = None

    def __str__(self) -> str:
        half = f"half of them {self.low / 60:.1f} to {self.high / 60:.1f}"
        elapsed = "" if self.elapsed is None else f" elapsed {self.elapsed / 60:.1f} min,"
        return (
            f"median active {self.active / 60:.1f} min ({half}),{elapsed} of {counted(self.n, 'accepted assignment')}"
            + (f", {self.simulated:,} of them simulated" if self.simulated else "")
        )


@dataclass(frozen=True)
class Expectation:
    """How long a HIT will take in seconds (None: unknown), and the source of that figure."""

    seconds: int | None
    source: str = ""


@dataclass(frozen=True)
class Shortfall:
    """What is short: ``bonus`` US dollars (or 0) for each of ``assignments``, ``total`` with the platform's fees."""

    timing: Timing
    fair: Decimal
    bonus: Decimal
    assignments: int
    total: Decimal


def timing_of(round: Round, *, at_least: int = LEAST_TIMED, elapsed: bool = False) -> Timing | None:
    """Return how long the round's work took; None where less than ``at_least`` is timed. Only accepted work counts, as
    anybody can submit; work whose rejection is proposed does not; and simulated work only while people did too little.
    The ``elapsed`` time takes several times as long to read as all else.
    """
    timed = Assignment.objects.filter(hit__round=round, state=Assignment.State.ACCEPTED, active_seconds__isnull=False)
    rows = timed.exclude(rejections__dropped_at=None, rejections__isnull=False).order_by()
    counts = list(rows.values_list("active_seconds", "worker__simulated").annotate(n=Count("pk")))
    of_people = [one for one in counts if not (one[1] or round.rehearsal)]
    n_people = sum(n for *_, n in of_people)
    simulated = 0 if n_people >= at_least else sum(n for *_, n in counts) - n_people
    counts = counts if simulated else of_people
    active = np.repeat([float(seconds or 0) for seconds, *_ in counts], [n for *_, n in counts] or 0)
    if len(active) < at_least:
        return None
    low, middle, high = np.quantile(active, [0.25, 0.5, 0.75]).tolist()
    spent = None
    if elapsed:
        those = rows if simulated else rows.filter(worker__simulated=False)
        took = those.annotate(spent=F("submitted_at") - F("leased_at")).values_list("spent", flat=True)
        spent = median(time.total_seconds() for time in took)
    return Timing(len(active), middle, low, high, simulated, spent)


def pilot_of(round: Round, *, rehearsed: bool = False) -> tuple[Round, Timing] | None:
    """Return the latest earlier round that asked the same of its workers and was answered often enough, timed.

    What a crowd only played counts for nothing, unless the round itself is to be ``rehearsed``.
    """
    for earlier in alike_rounds(round):
        if not rehearsed and was_played(earlier):
            continue
        if timing := timing_of(earlier):
            return earlier, timing
    return None


def check_wage(
    round: Round, *, pilot: Round | None = None, expected_minutes: Decimal | None = None, below_floor: bool = False
) -> Expectation:
    """Return how long a HIT of the round will take: as stated, or as measured in ``pilot`` or the latest similar round.

    Raises CounterpartError for a reward below the round's wage floor for that time, for a pilot that asked something
    else or has too few answers, and for a pilot together with a stated time. Where the time is unknown, it raises
    CounterpartError on a channel that settles payments for more than PILOT_SIZE assignments, and on others for a reward
    below the floor for workers of the usual slow speed, unless a person says that it may be ``below_floor``.
    """
    expected = _expected(round, pilot, expected_minutes)
    if expected.seconds is None and round.settles:
        wanted = Seat.objects.filter(hit__round=round).count()
        if wanted > PILOT_SIZE:
            raise CounterpartError(
                f"Round {round} asks for {wanted:,} assignments, and the time of one is unknown. Publish a pilot "
                f"of up to {PILOT_SIZE} first, name one with --pilot, or state the time with --expected-minutes."
            )
    elif expected.seconds is not None or not below_floor:
        _hold_to_floor(round, expected)
    return expected


def shortfall_of(round: Round) -> Shortfall:
    """Measure what the round's reward falls short of its wage floor, by the median active time of its own work.

    Everybody who is paid gets the same, as one worker's own time is not a sound measure. Raises CounterpartError where
    too little of people's work was accepted; a rehearsal has no people.
    """
    timing = timing_of(round)
    if timing is None or (timing.simulated and not round.rehearsal):
        raise CounterpartError(
            f"Round {round} has fewer than {LEAST_TIMED} timed, accepted assignments of people; wait for more."
        )
    fair = fair_reward(timing.active, round.wage_floor)
    bonus = max(fair - round.reward, Decimal("0.00"))
    if not bonus:
        return Shortfall(timing, fair, bonus, 0, bonus)
    wanted = _without_bonus(round).count()
    return Shortfall(timing, fair, bonus, wanted, (bonus + round.fee_schedule.bonus_fee(bonus)) * wanted)


def pay_shortfall(round: Round, *, agreed: Decimal | None = None, actor: str, progress: Progress = silent) -> Shortfall:
    """Owe every paid assignment of the round what it falls short, all assignments or none; a worker who had the
    difference gets no other.

    Raises CounterpartError where too little was accepted or it takes more than was ``agreed``, CeilingError where the
    ceiling leaves less than it takes.
    """
    check_authority()
    # The times are measured without the lock; who is still without it is read under it.
    short = shortfall_of(round)
    with transaction.atomic():
        current = locked(round)
        # Asked again: the right may have been taken away while this waited for the lock.
        check_authority()
        unpaid = list(_without_bonus(current)) if short.bonus else []
        total = (short.bonus + current.fee_schedule.bonus_fee(short.bonus)) * len(unpaid)
        if agreed is not None and total > agreed:
            raise CounterpartError(
                f"To pay round {round} up to the wage floor takes ${total} now, more than the ${agreed} that were "
                "confirmed: look at it again."
            )
        check_may_give(current, total)
        for assignment in tracked(unpaid, "writing bonuses", progress, total=len(unpaid)):
            owe_bonus(assignment, amount=short.bonus, reason=TOP_UP, actor=actor)
    return replace(short, assignments=len(unpaid), total=total)


def _expected(round: Round, pilot: Round | None, minutes: Decimal | None) -> Expectation:
    if pilot and minutes is not None:
        raise CounterpartError("Give a pilot or the expected minutes, not both.")
    if minutes is not None:
        if not minutes.is_finite() or not 0 < minutes <= 24 * 60:
            raise CounterpartError(f"Invalid number of expected minutes {minutes}: use more than 0, up to a day.")
        return Expectation(int((minutes * 60).to_integral_value(ROUND_UP)), "as stated")
    if pilot and not round.rehearsal and was_played(pilot):
        raise CounterpartError(
            f"Round {pilot} was only rehearsed or simulated, so its times say nothing of people; choose another pilot "
            "or state the expected minutes."
        )
    measured = (pilot, _timing_of_pilot(round, pilot)) if pilot else pilot_of(round, rehearsed=round.rehearsal)
    if measured is None:
        return Expectation(None)
    return Expectation(ceil(measured[1].active), f"pilot {measured[0]}: {measured[1]}")


def _timing_of_pilot(round: Round, pilot: Round) -> Timing:
    if pilot not in alike_rounds(round):
        raise CounterpartError(
            f"Round {pilot} asked for other work than {round} (its design, or whether reasons are asked, differ), "
            "so its times say nothing here; choose another pilot or state the expected minutes."
        )
    if timing := timing_of(pilot):
        return timing
    raise CounterpartError(
        f"Round {pilot} has fewer than {LEAST_TIMED} timed, accepted assignments; wait for more, or state the expected "
        "minutes."
    )


def was_played(round: Round) -> bool:
    """Whether the round is a rehearsal or has work of simulated workers."""
    simulated = Assignment.objects.filter(hit__round=round, worker__simulated=True)
    return round.rehearsal or simulated.exists()


def alike_rounds(round: Round) -> Sequence[Round]:
    """Earlier rounds with as many pairs of each kind in a HIT and the same question for reasons, the latest first."""
    unnamed = {"name": ""}
    others = Round.objects.filter(task=round.task, reasons=round.reasons, published_at__isnull=False)
    alike = others.exclude(pk=round.pk).order_by("-published_at")
    return [other for other in alike if other.design | unnamed == round.design | unnamed]


def _hold_to_floor(round: Round, expected: Expectation) -> None:
    """Compare the reward with the wage floor for the expected time; where it is unknown, for that of slow workers."""
    seconds = task_type_of(round).usual_seconds if expected.seconds is None else expected.seconds
    fair = fair_reward(seconds, round.wage_floor)
    if fair <= round.reward:
        return
    takes = f"of round {round} takes {seconds / 60:.1f} min ({expected.source})"
    advice = ""
    if expected.seconds is None:
        takes = f"like those of round {round} usually takes up to {seconds // 60} min"
        advice = (
            ", state the minutes that a HIT takes (--expected-minutes), or say that slow workers may earn less than "
            "the floor (--below-floor)"
        )
    raise CounterpartError(
        f"A HIT {takes}; at the wage floor of ${round.wage_floor} an hour that is ${fair}, more than its reward of "
        f"${round.reward}. Pack it again with --reward {fair}{advice}."
    )


def _without_bonus(round: Round) -> QuerySet[Assignment]:
    """Assignments whose reward, or a bonus in its place, is owed or paid and that did not get the difference yet; of
    people, and on a platform of those it can reach."""
    payments = Payment.objects.filter(assignment=OuterRef("pk"))
    rewards = Q(kind=Payment.Kind.REWARD) | Q(reason__in=IN_ITS_PLACE)
    rewarded = payments.filter(rewards, state__in=Payment.EARNED)
    top_ups = payments.filter(kind=Payment.Kind.BONUS, reason=TOP_UP)
    of_people = Assignment.objects.with_hit().filter(hit__round=round, worker__simulated=False)
    theirs = of_people.filter(Exists(rewarded), ~Exists(top_ups))
    if round.settles:
        theirs = theirs.filter(worker__forgotten_at=None)
    return theirs.select_related("hit__round").order_by("pk")
