"""What further votes on a pair say, and which pairs' verdicts they are expected to correct. Pure arrays."""

from collections.abc import Mapping
from typing import Any, NamedTuple

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
    figures: Mapping[str, Any],
    given: ArrayLike = 1,
    lead: Floats | None,
    tie_is_match: bool = False,
) -> Order:
    """Return the pairs and votes that are expected to correct most verdicts.

    Args:
        probability: (pairs,) that the side of each verdict, match (``is_match``) or none, is right.
        affordable: the number of pairs by the number of further votes on each.
        figures, given, lead, tie_is_match: as of ``wrong_after``.
    """
    match = np.where(is_match, probability, 1 - probability)
    best = Order([], 0, 0.0)
    for votes, n in affordable.items():
        after = wrong_after(match, votes, figures=figures, given=given, lead=lead, tie_is_match=tie_is_match)
        gains = 1 - probability - after
        order = np.lexsort((probability, -gains))[:n]
        chosen = order[gains[order] > _LEAST]
        if gains[chosen].sum() > best.gain:
            best = Order(chosen.tolist(), votes, float(gains[chosen].sum()))
    return best


def vote_rates(figures: Mapping[str, Any]) -> tuple[float, float]:
    """Return the probabilities that a vote of an average answer set calls a match a match, and another pair none.

    ``figures``, of ``aggregation.certainty``: ``mean``, ``easier`` (no match, match) and ``gap``; the rates on controls
    of a side are the mean's, shifted by how much easier the side is, and those on candidates nearer to one half.
    """
    on_controls = expit(logit(figures["mean"]) + np.array(figures["easier"]))
    refused, found = 0.5 + (on_controls - 0.5) * (1 - figures["gap"])
    return float(found), float(refused)


def wrong_after(
    match: ArrayLike,
    votes: int,
    *,
    figures: Mapping[str, Any],
    given: ArrayLike = 1,
    lead: ArrayLike | None,
    tie_is_match: bool = False,
) -> Floats:
    """Return the probability that the side of each pair's verdict is wrong once ``votes`` further votes are in.

    Args:
        match: (pairs,) the probability of a match.
        figures: as of ``vote_rates``; ``shared`` draws the rates towards one half, as votes of several people err
            together: k of them count as k / (1 + (k - 1) shared).
        given: (pairs,) the votes that each has.
        lead: (pairs,) how many more votes each has for a match than against, where the majority decides; None where the
            probability does.
    """
    thinned = 1 + np.maximum(np.asarray(given) + votes - 1, 0) * figures["shared"]
    found, refused = (expit(logit(rate) / thinned) for rate in vote_rates(figures))
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
