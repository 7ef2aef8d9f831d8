"""Judge again: which doubtful pairs of a round get further votes for a budget, and what they are expected to bring.

Pairs come by the number of verdicts that further votes are expected to correct. Votes that are expected to change no
verdict are not asked.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from annotation.models import Judgment
from core.errors import CounterpartError
from corpus.models import Caption, Image
from dataset.models import Aggregation, Review, Verdict
from dataset.verdict_files import least_certain
from hits.models import Item, Round, Seat
from hits.question import Level

Floats = NDArray[np.float64]
Pair = tuple[int, int]  # ids of image and caption

MOST = 10_000
"""Pairs of one order."""
_LEAST = 1e-6  # expected corrections of a pair, below which rounding may have made them
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
        lead=np.array([_lead(one) for one in verdicts]) if aggregation.method == "majority" else None,
        tie_is_match=aggregation.ties == "lower",
    )
    if not order.places:
        raise CounterpartError(
            f"No further vote is expected to correct a verdict of round {round}. Review its doubtful pairs instead."
        )
    pairs = [(verdicts[place].image_id, verdicts[place].caption_id) for place in order.places]
    return Again(pairs, order.votes, figures["verdicts"], figures["expected_wrong"], order.gain)


class Order(NamedTuple):
    """``votes`` further votes on each pair at some ``places``, and the number of verdicts that they are expected to
    correct."""

    places: list[int]
    votes: int
    gain: float


def best_order(
    probability: Floats,
    is_match: NDArray[np.bool_],
    affordable: Mapping[int, int],
    *,
    figures: Mapping[str, float],
    lead: Floats | None,
    tie_is_match: bool = False,
) -> Order:
    """Return the pairs and votes that are expected to correct most verdicts.

    Args:
        probability: (pairs,) that the side of each verdict, match (``is_match``) or none, is right.
        affordable: the number of pairs by the number of further votes on each.
        figures, lead, tie_is_match: as of ``wrong_after``.
    """
    match = np.where(is_match, probability, 1 - probability)
    best = Order([], 0, 0.0)
    for votes, n in affordable.items():
        gains = 1 - probability - wrong_after(match, votes, figures=figures, lead=lead, tie_is_match=tie_is_match)
        order = np.lexsort((probability, -gains))[:n]
        chosen = order[gains[order] > _LEAST]
        if gains[chosen].sum() > best.gain:
            best = Order(chosen.tolist(), votes, float(gains[chosen].sum()))
    return best


def wrong_after(
    match: ArrayLike, votes: int, *, figures: Mapping[str, float], lead: ArrayLike | None, tie_is_match: bool = False
) -> Floats:
    """Return the probability that the side of each pair's verdict is wrong once ``votes`` further votes are in.

    Args:
        match: (pairs,) the probability of a match.
        figures: ``found``, ``refused`` and ``temperature`` of ``dataset.aggregation.certainty``; the temperature draws
            the rates towards one half, as votes of several people err together.
        lead: (pairs,) how many more votes each has for a match than against, where the majority decides; None where the
            probability does.
    """
    found, refused = expit(logit([figures["found"], figures["refused"]]) / figures["temperature"])
    chance = np.asarray(match, float)
    wrong = np.zeros_like(chance)
    for yes in range(votes + 1):
        is_match = chance * scipy.stats.binom.pmf(yes, votes, found)
        is_none = (1 - chance) * scipy.stats.binom.pmf(yes, votes, 1 - refused)
        says = (
            is_match > is_none if lead is None else np.asarray(lead) + 2 * yes - votes > (-0.5 if tie_is_match else 0.5)
        )
        wrong += np.where(says, is_none, is_match)
    return wrong


def _last_aggregation(round: Round) -> Aggregation:
    found = Aggregation.objects.filter(round=round).order_by("-at", "-pk").first()
    if found is None or not found.certainty:
        raise CounterpartError(
            f"Round {round} has no verdicts with probabilities. Aggregate it first (aggregate {round})."
        )
    votes = Judgment.objects.counted().of_candidates().filter(assignment__hit__round=round).count()
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
    """Return how many pairs the budget gives so many further votes."""
    cost = votes * round.seat_cost
    return min(int(budget // cost) * int(round.design["candidates"]), MOST) if cost else MOST
