"""What further votes on a pair say, and which pairs' verdicts they are expected to correct. Pure arrays."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

Floats = NDArray[np.float64]
_LEAST = 1e-6  # expected corrections of a pair, below which rounding may have made them


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
        figures: ``found``, ``refused`` and ``temperature`` of ``aggregation.certainty``; the temperature draws the
            rates towards one half, as votes of several people err together.
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


def match_posterior(probability: ArrayLike, yes: ArrayLike, no: ArrayLike, found: float, refused: float) -> Floats:
    """Return the probability of a match after ``yes`` and ``no`` votes, each given by itself.

    Args:
        probability: before the votes.
        found, refused: the probabilities that a worker calls a match a match, and another pair none.

    >>> match_posterior([0.5, 0.5, 0.02], [1, 1, 1], [0, 1, 0], 0.9, 0.9).round(2).tolist()
    [0.9, 0.5, 0.16]
    """
    for_yes = np.log(found / (1 - refused))
    for_no = np.log((1 - found) / refused)
    return np.asarray(expit(logit(probability) + np.multiply(yes, for_yes) + np.multiply(no, for_no)))
