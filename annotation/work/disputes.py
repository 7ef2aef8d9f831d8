"""Further votes on pairs that a round asks already: those on which workers disagree, where the round says so."""

import logging
from collections.abc import Callable, Collection, Container
from decimal import Decimal

from django.db import transaction
from django.db.models import Count, Q

from annotation.models import Report
from annotation.money.budget import locked, room
from annotation.money.ledger import balance_of
from annotation.platforms import want_seats_posted
from annotation.work.judgments import BY_LEVEL, votes_in
from hits.models import Item, Round, Seat
from hits.rounds.top_ups import add_top_up, new_top_up, pack_top_up

logger = logging.getLogger(__name__)

Pair = tuple[int, int]  # ids of image and caption


def is_disputed(votes: Collection[int]) -> bool:
    """Whether no level has more than half of a pair's votes, given the number of votes at each level. As many votes for
    yes as for no are such a case. A pair without votes is not disputed."""
    return sum(votes) > 0 and 2 * max(votes) <= sum(votes)


def disputed_pairs(round: Round) -> list[Pair]:
    """Return the pairs that may get one more vote, in order: disputed ones, and those that miss a vote because a worker
    could not load the picture. All their seats are filled, and there are fewer of them than the round's votes for a
    pair with its top-up. An excluded image or caption gets none."""
    usable = {"image__excluded_at": None, "caption__excluded_at": None}
    votes = votes_in(round)
    by_pair = votes.filter(**usable).values_list("image", "caption").annotate(**BY_LEVEL)
    counted = {(image, caption): counts for image, caption, *counts in by_pair}
    skipped = Report.objects.filter(**usable, problem=Report.Problem.PICTURE, assignment__hit__round=round).order_by()
    unseen = {
        pair for pair in skipped.values_list("image", "caption") if sum(counted.get(pair, ())) < round.replication
    }
    disputed = unseen | {pair for pair, counts in counted.items() if is_disputed(counts)}
    return pairs_with_room(round, disputed) if disputed else []


def pairs_with_room(round: Round, pairs: Container[Pair]) -> list[Pair]:
    """Return those of the pairs, in order, that may get one more vote: all their seats are filled, and there are fewer
    of them than the round's votes for a pair with its top-up."""
    items = Item.objects.filter(hit__round=round, control=None).order_by().values_list("image", "caption")
    unfilled = Count("hit__seats", filter=~Q(hit__seats__state=Seat.State.FILLED))
    seats = items.annotate(seats=Count("hit__seats"), unfilled=unfilled)
    most = round.replication + round.top_up
    return sorted((i, c) for i, c, n, unfilled in seats if (i, c) in pairs and not unfilled and n < most)


def top_up(round: Round, *, actor: str) -> int:
    """Add HITs with a seat each for the round's disputed pairs, and have them posted. Returns how many."""
    return add_votes(round, disputed_pairs, actor=actor)


def add_votes(round: Round, wanting: Callable[[Round], list[Pair]], *, actor: str) -> int:
    """Add HITs with a seat each for the pairs that are ``wanting`` one more vote, and have them posted. Returns how
    many.

    Pairs wait until they fill a HIT, or until every seat of the round is filled; then the last HIT is filled up with
    controls. No more HITs are added than the ceiling pays for after the existing seats. Repeating it adds nothing
    until there are new votes; 0 also where another process was faster.
    """
    if round.state != "open" or not round.top_up:
        return 0
    pairs = _affordable(round, _in_full_hits(round, wanting(round)))
    if not pairs:
        return 0
    added = new_top_up(round)
    plan = pack_top_up(added, pairs)  # takes seconds, so the round is not locked yet
    with transaction.atomic():
        current = locked(round)
        if current.state != "open" or current.top_ups.count() + 1 != added.number:
            return 0
        if not set(pairs) <= set(wanting(current)):
            return 0
        if current.seat_cost * plan.n_hits > room(current, reserve_open=True):
            return 0
        add_top_up(added, plan, actor=actor)
        want_seats_posted(current)
    return plan.n_hits


def top_up_rounds() -> int:
    """Top up every open round that says so. Returns how many HITs were added; a round that fails is logged."""
    added = 0
    for round in Round.objects.filter(top_up__gt=0, published_at__isnull=False, closed_at=None):
        try:
            added += top_up(round, actor="reconciler")
        except Exception:
            logger.exception("round %s could not be topped up", round)
    return added


def _in_full_hits(round: Round, pairs: list[Pair]) -> list[Pair]:
    if not Seat.objects.filter(hit__round=round).exclude(state=Seat.State.FILLED).exists():
        return pairs
    return pairs[: len(pairs) // round.design["candidates"] * round.design["candidates"]]


def _affordable(round: Round, pairs: list[Pair]) -> list[Pair]:
    cost = round.seat_cost
    return pairs[: int(max(balance_of(round).free, Decimal(0)) // cost) * round.design["candidates"]] if cost else pairs
