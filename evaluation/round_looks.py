"""Looks at a round while its judgments arrive: which of them count, when a look comes, and what stopping saves.

A round has units in a random order that was drawn before the first answer: the HITs of a round of all pairs, the drawn
queries of an audit. The order in which units are *finished* is not random, as a HIT of hard pairs and a query with many
pairs take longer. So only the units before the first unfinished one count, a sample of all; later ones wait. What is
estimated at a look, and why it holds at all looks together, differs: ``live_effect`` (HITs) and ``live_estimates``
(queries).
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Generic, TypeVar

import numpy as np
from django.db.models import Count, QuerySet
from numpy.typing import NDArray

from annotation.models import Assignment
from annotation.work.disputes import disputed_pairs
from hits.models import Item, Round, Seat

OneLook = TypeVar("OneLook")


@dataclass(frozen=True)
class Looks(Generic[OneLook]):
    """What the units of a round showed until now.

    Attributes:
        units: number of units.
        counting: of them, those before the first unfinished one.
        waiting: finished units that come after an unfinished one; they count once it is finished.
        looks: those that were reached.
    """

    units: int
    counting: int
    waiting: int
    looks: tuple[OneLook, ...]

    @property
    def last(self) -> OneLook | None:
        return self.looks[-1] if self.looks else None


@dataclass(frozen=True)
class Saving:
    """What a round that stops at a time saves: answer sets that are begun later, and their cost."""

    hits: int
    answer_sets: int
    dollars: Decimal


def arrived(finished: NDArray[np.bool_]) -> tuple[int, int]:
    """Return how many units (n,) count and how many wait.

    >>> arrived(np.array([True, True, False, True]))
    (2, 1)
    """
    counting = int(np.cumprod(finished).sum())
    return counting, int(finished[counting:].sum())


def look_sizes(units: int, looks: int, *, least: int = 1, whole: Callable[[float], int] = round) -> tuple[int, ...]:
    """Return the numbers of units at the looks, evenly spread; of few units, some looks fall together.

    >>> look_sizes(14, 4), look_sizes(3, 5, least=2)
    ((4, 7, 10, 14), (2, 3))
    """
    return tuple(sorted({max(whole(number * units / looks), least) for number in range(1, looks + 1)}))


def waiting_pairs(round: Round) -> set[tuple[int, int]]:
    """Return the pairs (ids of image and caption) that wait for a vote: a HIT with an open seat asks them, perhaps a
    later HIT that asks the pair again, or they wait for such a HIT."""
    unfilled = Seat.objects.filter(hit__round=round).exclude(state=Seat.State.FILLED).values("hit")
    waiting = set(Item.objects.filter(hit__in=unfilled, control=None).order_by().values_list("image_id", "caption_id"))
    if round.top_up and round.state == "open":
        waiting |= set(disputed_pairs(round))
    return waiting


def saving_since(round: Round, stop: datetime) -> Saving:
    """Return what stopping at that time would have saved of a round."""
    begun = Assignment.objects.filter(hit__round=round, state=Assignment.State.ACCEPTED, leased_at__gt=stop)
    hits, sets = _counts(begun)
    return Saving(hits, sets, round.seat_cost * sets)


def saving_now(round: Round) -> Saving:
    """Return what closing an open round now saves: the answer sets that are not begun, and their cost."""
    hits, sets = _counts(Seat.objects.filter(round=round, state=Seat.State.OPEN))
    # A visitor of a platform has no seat before the platform confirms them.
    seatless = Assignment.objects.filter(hit__round=round, state=Assignment.State.LEASED, seat=None, has_hit=True)
    sets = max(sets - seatless.count(), 0)
    return Saving(min(hits, sets), sets, round.seat_cost * sets)


def _counts(rows: QuerySet[Any]) -> tuple[int, int]:
    """Return how many HITs the rows are of, and their number."""
    counts = rows.aggregate(hits=Count("hit", distinct=True), rows=Count("pk"))
    return counts["hits"], counts["rows"]
