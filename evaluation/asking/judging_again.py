"""Judge again: which doubtful pairs of a round get further votes for a budget, and what they are expected to bring.

Pairs come by the number of verdicts that further votes are expected to correct. Votes that are expected to change no
verdict are not asked.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from annotation.work.judgments import votes_in
from core.errors import CounterpartError
from corpus.models import Caption, Image
from counterpart_statistics.vote_gains import best_order
from dataset.judged.verdict_files import least_certain
from dataset.models import Aggregation, Review, Verdict
from hits.models import Item, Round, Seat
from hits.question import Level

Pair = tuple[int, int]  # ids of image and caption

MOST = 10_000
"""Pairs of one order."""
EACH = (1, 2, 3)
"""Further votes on a pair of one order. Two votes may correct a verdict where one only makes a tie."""


@dataclass(frozen=True)
class Again:
    """Further votes on some pairs of a round.

    Attributes:
        votes: further votes on each pair.
        verdicts: of the round by its last aggregation.
        wrong: expected number of them on the wrong side, match or no match, before the votes; ``gain`` fewer after.
    """

    pairs: Sequence[Pair]
    votes: int
    verdicts: int
    wrong: float
    gain: float

    @property
    def left(self) -> float:
        """Expected number of verdicts on the wrong side after the votes."""
        return self.wrong - self.gain

    @property
    def figures(self) -> dict[str, int | float]:
        """What a command prints of it, and an event keeps."""
        return {
            "verdicts": self.verdicts,
            "expected_wrong": round(self.wrong, 1),
            "expected_wrong_after": round(self.left, 1),
            "votes_each": self.votes,
        }


def judge_again(round: Round, budget: Decimal) -> Again:
    """Return the pairs, and the number of votes on each, by which the budget is expected to correct most verdicts.

    Pairs that wait for votes, that a reviewer gave a level, or whose image or caption is excluded get none. Raises
    CounterpartError for a round without verdicts of today, a budget below one HIT, and where no vote would help.
    """
    aggregation = _last_aggregation(round)
    figures: dict[str, Any] = aggregation.certainty or {}
    if budget < round.seat_cost:
        raise CounterpartError(f"One answer set of round {round} costs ${round.seat_cost:,}: raise the budget.")
    # More than the budget asks, as some wait for votes or were reviewed.
    verdicts = _eligible(round, least_certain(aggregation, 1_000 + 2 * _affordable(round, budget, 1)))
    order = best_order(
        np.array([one.probability for one in verdicts]),
        np.array([one.is_match for one in verdicts], dtype=bool),
        {votes: _affordable(round, budget, votes) for votes in EACH},
        figures=figures,
        given=np.array([one.votes for one in verdicts]),
        lead=np.array([_lead(one) for one in verdicts]) if aggregation.method == "majority" else None,
        tie_is_match=aggregation.ties == "lower",
    )
    if not order.places:
        raise CounterpartError(
            f"No further vote is expected to correct a verdict of round {round}. Review its doubtful pairs instead."
        )
    pairs = [(verdicts[place].image_id, verdicts[place].caption_id) for place in order.places]
    wrong = figures["expected_wrong"]
    if wrong is None:
        wrong = sum(1 - (one.probability or 0) for one in verdicts)
    return Again(pairs, order.votes, figures["verdicts"], wrong, order.gain)


def _last_aggregation(round: Round) -> Aggregation:
    found = Aggregation.objects.filter(round=round).order_by("-at", "-pk").first()
    if found is None or "silent" not in (found.certainty or {}):
        raise CounterpartError(
            f"Round {round} has no verdicts with probabilities. Aggregate it first (aggregate {round})."
        )
    votes = votes_in(round).count()
    if votes != found.judgments:
        raise CounterpartError(
            f"{votes:,} votes of round {round} count, and its verdicts are by {found.judgments:,}. Aggregate it again "
            f"first (aggregate {round} --method {found.method})."
        )
    return found


def _eligible(round: Round, verdicts: Iterable[Verdict]) -> list[Verdict]:
    known = list(verdicts)
    items = Item.objects.filter(hit__round=round, control=None, image__in={one.image_id for one in known})
    waiting = items.filter(hit__seats__state__in=Seat.UNFILLED).order_by().values_list("image", "caption")
    reviewed = (pair for pair, one in Review.objects.holding(round.pool.collection).items() if one.level)
    left_out = {*waiting, *reviewed}
    images, captions = (
        set(side.objects.filter(excluded_at__isnull=False).values_list("pk", flat=True)) for side in (Image, Caption)
    )
    return [
        one
        for one in known
        if (one.image_id, one.caption_id) not in left_out
        and one.image_id not in images
        and one.caption_id not in captions
    ]


def _lead(verdict: Verdict) -> float:
    """Return how many more votes a verdict by majority has for a match than against."""
    return verdict.votes * (2 * sum(verdict.distribution[: Level.PARTIALLY_YES]) - 1)


def _affordable(round: Round, budget: Decimal, votes: int) -> int:
    """Return for how many pairs the budget pays this number of further votes."""
    cost = votes * round.seat_cost
    return min(int(budget // cost) * int(round.design["candidates"]), MOST) if cost else MOST
