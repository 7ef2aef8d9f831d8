"""The progress of rounds: seats, states of work, cost, with three queries for any number of rounds; and when a round's
last answer set will come, as far as the arrivals so far say."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

import numpy as np
import scipy
from django.db.models import Count, Q, QuerySet, Sum

from annotation.models import Assignment, Payment
from core import clock
from hits.models import Round, Seat
from hits.prices import cents

ARRIVED = Q(
    state__in=(Assignment.State.SUBMITTED, Assignment.State.FLAGGED, Assignment.State.ACCEPTED), seat__isnull=False
)
"""Answer sets that fill a seat, or will if they are accepted."""


@dataclass(frozen=True)
class Standing:
    """Counts of one round, and US dollars with the platform's fees.

    ``seats`` and ``work`` count by state, every state present; ``workers`` have submitted work; ``arrived`` counts what
    is ARRIVED; ``owed`` is earned and not yet paid, ``spent`` is paid to workers and platform. ``seat_cost`` is that of
    one answer set; ``due`` counts those that may still come to be paid.
    """

    seats: dict[str, int]
    work: dict[str, int]
    workers: int
    arrived: int
    owed: Decimal
    spent: Decimal
    ceiling: Decimal
    seat_cost: Decimal
    due: int

    @property
    def wanted(self) -> int:
        """All seats: the answer sets that the round wants."""
        return sum(self.seats.values())

    @property
    def filled(self) -> int:
        return self.seats[Seat.State.FILLED]

    @property
    def share(self) -> float:
        """Filled seats among the wanted, in 0..1."""
        return self.filled / self.wanted if self.wanted else 0.0

    @property
    def is_complete(self) -> bool:
        return 0 < self.wanted == self.filled

    @property
    def missing(self) -> int:
        """Answer sets that have yet to be submitted, if all submissions that wait for a review are accepted."""
        return max(self.wanted - self.arrived, 0)

    @property
    def waiting(self) -> int:
        """Assignments that a person has to look at."""
        return self.work[Assignment.State.FLAGGED]

    @property
    def cost(self) -> Decimal:
        """What the round has cost so far, paid or owed."""
        return self.owed + self.spent

    @property
    def left(self) -> Decimal:
        """What the ceiling leaves after what the round has cost so far."""
        return self.ceiling - self.cost

    @property
    def expected_cost(self) -> Decimal:
        """What the round will have cost once every seat is filled, work included that was paid and is done again."""
        return self.cost + self.cost_to_come

    @property
    def cost_to_come(self) -> Decimal:
        """What the answer sets that may still come will cost."""
        return self.seat_cost * self.due


def standing_of(round: Round) -> Standing:
    """Return one round's standing."""
    return standings([round])[round.pk]


def standings(rounds: Sequence[Round]) -> dict[int, Standing]:
    """Return the standing of each round, by its id."""
    seats = _counted(Seat.objects.all(), rounds, _counts("state", Seat.State.values))
    work = _counted(
        Assignment.objects.without_claims(),
        rounds,
        _counts("state", Assignment.State.values)
        | {
            "workers": Count("worker", distinct=True, filter=Q(submitted_at__isnull=False, has_hit=True)),
            "arrived": Count("pk", filter=ARRIVED),
        },
    )
    money: dict[int, dict[str, Decimal]] = {}
    payments = Payment.objects.filter(round__in=[round.pk for round in rounds]).order_by()
    for row in payments.values("round", "state").annotate(rewards=Sum("amount"), fees=Sum("fee")):
        money.setdefault(row["round"], {})[row["state"]] = cents(row["rewards"] + row["fees"])
    return {
        round.pk: _standing(round, seats.get(round.pk, {}), work.get(round.pk, {}), money.get(round.pk, {}))
        for round in rounds
    }


def _counts(field: str, values: Iterable[str]) -> dict[str, Count]:
    return {value: Count("pk", filter=Q(**{field: value})) for value in values}


def _counted(rows: QuerySet, rounds: Sequence[Round], counts: dict[str, Count]) -> dict[int, dict[str, int]]:
    """Count ``rows`` of each round that has any: round id to count by name."""
    theirs = rows.filter(hit__round__in=[round.pk for round in rounds])
    return {row["hit__round"]: row for row in theirs.order_by().values("hit__round").annotate(**counts)}


def _standing(round: Round, seats: dict[str, int], work: dict[str, int], money: dict[str, Decimal]) -> Standing:
    due = [Seat.State.TAKEN] if round.closed_at else [Seat.State.TAKEN, Seat.State.OPEN]
    return Standing(
        seats={state: seats.get(state, 0) for state in Seat.State.values},
        work={state: work.get(state, 0) for state in Assignment.State.values},
        workers=work.get("workers", 0),
        arrived=work.get("arrived", 0),
        owed=money.get(Payment.State.OWED, Decimal(0)),
        spent=money.get(Payment.State.PAID, Decimal(0)),
        ceiling=round.ceiling,
        seat_cost=round.seat_cost,
        due=sum(seats.get(state, 0) for state in due),
    )


RECENT = timedelta(days=3)  # older arrivals say little of the pace now
LEAST = 5  # arrivals that a forecast needs
WINDOWS = 12
SPREAD = 0.8


@dataclass(frozen=True)
class Forecast:
    """``middle`` is the median time of the last arrival; it is between ``low`` and ``high`` with a probability of 80%,
    if the pace stays what it was."""

    low: datetime
    middle: datetime
    high: datetime


def forecast_of(round: Round, standing: Standing) -> Forecast | None:
    """Return the forecast of an open round, with one query; None where it is paused, nothing more has to come, fewer
    than LEAST answer sets came in the last three days, or the end is more than a century away."""
    missing = standing.missing
    if not round.takes_workers or not missing:
        return None
    moment = clock.now()
    recent = Assignment.objects.filter(
        ARRIVED, hit__round=round, submitted_at__gt=moment - RECENT, submitted_at__lte=moment
    )
    times = np.array([at.timestamp() for at in recent.values_list("submitted_at", flat=True) if at])
    if len(times) < LEAST:
        return None
    start = float(times.min())
    # The observation starts with the first arrival, which therefore does not count for the pace.
    counts = np.histogram(times, WINDOWS, (start, max(moment.timestamp(), start + 1)))[0]
    counts[0] -= 1
    try:
        low, middle, high = (
            moment + timedelta(seconds=wait) for wait in waits(counts, moment.timestamp() - start, missing)
        )
    except OverflowError:
        return None
    return Forecast(low, middle, high)


def waits(counts: Sequence[int] | np.ndarray, seconds: float, missing: int) -> list[float]:
    """Return the seconds until ``missing`` more arrivals: the quantiles at 10%, 50% and 90%.

    Args:
        counts: (windows,) arrivals in equal parts of the ``seconds`` that were observed.

    For a Poisson process whose pace is known only by n arrivals in time T, the wait for m more is T·m/n times a
    variable of the F distribution with 2m and 2n degrees of freedom. People come in bursts: both numbers are divided
    by the dispersion of the counts (variance over mean, at least 1), as in quasi-Poisson regression.
    """
    table = np.asarray(counts, float)
    arrived = table.sum()
    burst = max(1.0, table.var(ddof=1) / table.mean())
    quantiles = scipy.special.fdtri(2 * missing / burst, 2 * arrived / burst, [(1 - SPREAD) / 2, 0.5, (1 + SPREAD) / 2])
    return [float(wait) for wait in seconds * missing / arrived * quantiles]
