"""HITs that would be added to a round: what they ask, their cost, and how they are added."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Self

import numpy as np
from django.db import transaction

from annotation.money.budget import locked, room
from annotation.platforms import want_seats_posted
from core.errors import CounterpartError
from core.parameters import Parameters
from core.progress import Progress, silent
from corpus.models import Caption, Image
from counterpart_statistics.pair_codes import Ids, ids_in, pairs_of
from hits.models import Round, TopUp
from hits.packing.plan import Plan
from hits.rounds.top_ups import add_top_up, pack_top_up
from hits.task_types import require_pairs, task_type_of


@dataclass(frozen=True, kw_only=True)
class PlannedTopUp:
    """HITs that would be added to a round.

    Attributes:
        top_up: why they are asked, as the round keeps it.
        pairs: number of pairs that would be asked.
        seats: votes on each of them.
        cost: US dollars, with the fees of the round's channel.
        figures: what a command prints of the purpose, and ``note`` what a page adds to it.
        expected: what the event keeps of further votes.
    """

    top_up: TopUp
    pairs: int
    seats: int
    plan: Plan
    cost: Decimal
    figures: dict[str, Any]
    note: str = ""
    expected: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, top_up: TopUp, pairs: Ids, *, nothing: str = "", seats: int | None = None, **more: Any) -> Self:
        """Pack pairs of these codes, without those of excluded items, with as many votes as the round's own unless
        ``seats`` says else. ``more``: the other attributes. Raises CounterpartError with ``nothing`` where no pair
        remains."""
        pairs = _without_excluded(pairs)
        if not len(pairs):
            raise CounterpartError(nothing)
        plan = pack_top_up(top_up, pairs_of(pairs))
        seats = seats or top_up.round.replication
        cost = top_up.round.seat_cost * plan.n_hits * seats
        return cls(top_up=top_up, pairs=len(pairs), seats=seats, plan=plan, cost=cost, **more)


class TopUpAct(Parameters):
    """Base class of the acts that top up a round."""

    def plan(self, round: Round, *, progress: Progress = silent) -> PlannedTopUp:
        """Plan the HITs. Raises CounterpartError for a round to which none can be added, and where no pair remains."""
        raise NotImplementedError


def require_addable(round: Round) -> None:
    """Raise CounterpartError unless HITs can be added to the round."""
    require_pairs(round)
    if task_type_of(round).group > 1:
        raise CounterpartError(f"Round {round} asks about several pairs together: it cannot be topped up.")
    if round.state == "closed":
        raise CounterpartError(f"Round {round} is closed: no HIT can be added. Plan a new round of its pool.")


@transaction.atomic
def add_planned(planned: PlannedTopUp, *, actor: str) -> None:
    """Add the planned HITs to the round, with their seats, and have them posted.

    Raises CounterpartError where the round has changed since, and where its ceiling does not leave the cost.
    """
    current = locked(planned.top_up.round)
    if current.state == "closed" or current.top_ups.count() + 1 != planned.top_up.number:
        raise CounterpartError(f"Round {current} has changed since this top-up was planned. Plan it again.")
    # Answer sets that workers may still send keep their money: a top-up spends only what they leave.
    left = room(current, reserve_open=True)
    if planned.cost > left:
        raise CounterpartError(
            f"The top-up costs ${planned.cost:,}; round {current} has ${max(left, Decimal(0)):,} left below its "
            f"ceiling of ${current.ceiling:,}. Raise it with set_ceiling."
        )
    add_top_up(planned.top_up, planned.plan, seats=planned.seats, expected=planned.expected, actor=actor)
    want_seats_posted(current)


def excluded_sides() -> list[set[int]]:
    """Return the ids of the excluded images and captions, of all collections."""
    return [set(side.objects.exclude(excluded_at=None).values_list("pk", flat=True)) for side in (Image, Caption)]


def _without_excluded(pairs: Ids) -> Ids:
    images, captions = map(list, excluded_sides())
    image, caption = ids_in(pairs)
    return np.unique(pairs[~np.isin(image, images) & ~np.isin(caption, captions)])
