"""Orders of further votes on doubtful pairs of a round: who ordered what and when, and which votes arrived."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, QuerySet

from annotation.models import Judgment
from console.events.event_sentences import who
from core.events import subject_of
from core.models import Event
from hits.models import HIT, Item, Round, Seat, TopUp


@dataclass(frozen=True)
class VoteOrder:
    """``votes`` further votes on some pairs; ``arrived`` of them count by now. ``wrong`` and ``left`` are the verdicts
    that were expected on the wrong side before and after it; None where an earlier program took the order."""

    top_up: TopUp
    at: datetime
    by: str
    pairs: int
    votes: int
    arrived: int
    cost: Decimal
    wrong: float | None
    left: float | None


def orders_of(round: Round) -> list[VoteOrder]:
    """Return the orders, newest first.

    A top-up does not tell an order from the further votes on disputed pairs, but its event does. Earlier programs
    wrote none of that: theirs are orders where the round asks no further votes by itself.
    """
    found = list(round.top_ups.for_disputes().order_by("-number"))
    if not found:
        return []
    events = Event.objects.filter(subject=subject_of(round), verb="topped up")
    told: dict[int, dict[str, Any]] = {one.data["number"]: {**one.data, "by": one.actor} for one in events}
    orders = [one for one in found if not round.top_up or "votes_each" in told.get(one.number, {})]
    pairs = _counts(Item.objects.filter(control=None, hit__top_up__in=orders), "hit__top_up")
    hits = _counts(HIT.objects.filter(top_up__in=orders), "top_up")
    seats = _counts(Seat.objects.filter(hit__top_up__in=orders), "hit__top_up")
    votes = Judgment.objects.counted().of_candidates().filter(assignment__hit__top_up__in=orders)
    arrived = _counts(votes, "assignment__hit__top_up")
    return [
        VoteOrder(
            top_up=one,
            at=one.created_at,
            by=who(told.get(one.number, {}).get("by", "")),
            pairs=pairs[one.pk],
            votes=pairs[one.pk] * seats[one.pk] // hits[one.pk],
            arrived=arrived.get(one.pk, 0),
            cost=seats[one.pk] * round.seat_cost,
            wrong=told.get(one.number, {}).get("expected_wrong"),
            left=told.get(one.number, {}).get("expected_wrong_after"),
        )
        for one in orders
    ]


def _counts(rows: QuerySet[Any], by: str) -> Mapping[int, int]:
    return dict(rows.order_by().values_list(by).annotate(n=Count("pk")))
