"""Orders of further votes on pairs of a round, and the votes that arrived."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Count, QuerySet

from annotation.work.judgments import votes_in
from console.events.event_subjects import who
from core.events import subject_of
from core.models import Event
from corpus.models import Caption, Image
from dataset.judged.verdict_files import verdicts_on
from dataset.judged.verdict_worth import Wrong, wrong_range
from dataset.models import Aggregation
from hits.models import HIT, Item, Round, Seat, TopUp


def orders_of(round: Round) -> list[dict[str, Any]]:
    """Return the orders, newest first: ``votes`` further votes on some pairs, of which ``arrived`` count by now; the
    numbers of ``wrong`` verdicts before, and ``left`` after it as the order promised; and what was measured ``then``,
    once its votes were counted. None where no number was said.

    Further votes on disputed pairs are top-ups alike; the event of an order has ``votes_each``."""
    top_ups = list(round.top_ups.for_disputes().order_by("-number"))
    if not top_ups:
        return []
    events = Event.objects.filter(subject=subject_of(round), verb="topped up")
    promised: dict[int, dict[str, Any]] = {one.data["number"]: {**one.data, "by": one.actor} for one in events}
    orders = [one for one in top_ups if "votes_each" in promised.get(one.number, {})]
    pairs = _counts(Item.objects.filter(control=None, hit__top_up__in=orders), "hit__top_up")
    hits = _counts(HIT.objects.filter(top_up__in=orders), "top_up")
    seats = _counts(Seat.objects.filter(hit__top_up__in=orders), "hit__top_up")
    votes = votes_in(round).filter(assignment__hit__top_up__in=orders)
    arrived = _counts(votes, "assignment__hit__top_up")
    return [
        {
            "at": one.created_at,
            "by": who(promised[one.number]["by"]),
            "pairs": pairs[one.pk],
            "votes": pairs[one.pk] * seats[one.pk] // hits[one.pk],
            "arrived": arrived.get(one.pk, 0),
            "cost": seats[one.pk] * round.seat_cost,
            "wrong": _kept(promised[one.number], "wrong"),
            "left": _kept(promised[one.number], "wrong_after"),
            "then": _kept(promised[newer.number], "wrong") if newer else _counted_since(one),
        }
        for one, newer in zip(orders, [None, *orders], strict=False)
    ]


def repeats_of(aggregation: Aggregation) -> list[tuple[float, float]]:
    """Return how sure the side of each pair was that was drawn at random for further votes, and how probable it is now
    that the side holds. Where the first are right on average, the second have the same mean."""
    events = Event.objects.filter(subject=subject_of(aggregation.round), verb="topped up")
    called = {(image, caption): match for event in events for image, caption, match in event.data.get("called", [])}
    images = Image.objects.filter(pk__in={image for image, _ in called})
    captions = Caption.objects.filter(pk__in={caption for _, caption in called})
    found = []
    for verdict in verdicts_on([aggregation], list(images), list(captions)) if called else []:
        before = called.get((verdict.image_id, verdict.caption_id))
        if before is not None and verdict.votes > 1 and verdict.probability is not None:
            match = verdict.probability if verdict.is_match else 1 - verdict.probability
            found.append((max(before, 1 - before), match if before >= 0.5 else 1 - match))
    return found


def _kept(data: Mapping[str, Any], name: str) -> Wrong | None:
    return Wrong(**data[name]) if name in data else None


def _counted_since(last: TopUp) -> Wrong | None:
    """Return the number of wrong verdicts by a count of votes that has all votes of the round's last order."""
    aggregation = last.round.aggregations.first()
    if aggregation is None or not aggregation.certainty:
        return None
    waits = Seat.objects.filter(hit__top_up=last).exclude(state=Seat.State.FILLED).exists()
    is_counted = aggregation.at > last.created_at and aggregation.judgments == votes_in(last.round).count()
    return None if waits or not is_counted else wrong_range(aggregation.certainty)


def _counts(rows: QuerySet[Any], by: str) -> Mapping[int, int]:
    return dict(rows.order_by().values_list(by).annotate(n=Count("pk")))
