"""How far a score of pairs, such as the overlap of words, agrees with people, and what a filter by it drops.

Hodosh et al. 2013, section 4.2.2: scores are compared with people's by turning both into yes or no at thresholds.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from counterpart_metrics.arrays import Floats
from counterpart_statistics.agreement import cohen_kappa

SLACK = 1e-9  # means of thirds and sums of tenths differ in their last digits


class Filtered(NamedTuple):
    """What a filter drops at each threshold: the share of all pairs, and of the good ones (NaN if there are none)."""

    dropped: Floats
    lost: Floats


def kappas(overlap: ArrayLike, people: ArrayLike, thresholds: ArrayLike, levels: ArrayLike) -> Floats:
    """Return Cohen's kappa of "overlap at least a threshold" with "people's score at least a level".

    Args:
        overlap, people: (n,) scores of the same pairs.
        thresholds: (t,) for the overlap.
        levels: (m,) for people's scores.

    Returns:
        (t, m); NaN if either gives all pairs the same answer, or no pair has both scores.

    Raises:
        ValueError: for arrays of other shapes.

    >>> kappas([0.9, 0.8, 0.1, 0.3], [4, 3, 1, 3.5], thresholds=[0.2, 0.5], levels=[3]).round(2).tolist()
    [[1.0], [0.5]]
    """
    ours, theirs = _paired(overlap, people)
    return np.array(
        [
            [
                cohen_kappa((ours >= threshold - SLACK).astype(float), (theirs >= level - SLACK).astype(float))
                for level in np.atleast_1d(np.asarray(levels, float))
            ]
            for threshold in np.atleast_1d(np.asarray(thresholds, float))
        ]
    )


def best_kappas(overlap: ArrayLike, people: ArrayLike, thresholds: ArrayLike, levels: ArrayLike) -> Floats:
    """Return the best threshold for each level, and its kappa: (m, 2), NaN where none is defined; of equal ones the
    lowest threshold (tables 8 and 9). Arguments as ``kappas``."""
    tried = np.atleast_1d(np.asarray(thresholds, float))
    found = kappas(overlap, people, tried, levels)
    best = np.where(np.isnan(found), -np.inf, found).argmax(0)
    value = found[best, np.arange(found.shape[1])]
    return np.stack([np.where(np.isnan(value), np.nan, tried[best]), value], axis=1)


class Detection(NamedTuple):
    """Of what a score finds good, the share that people find good; the reverse; and their harmonic mean; (m,) each."""

    precision: Floats
    recall: Floats
    f1: Floats


def detection(overlap: ArrayLike, people: ArrayLike, threshold: float, levels: ArrayLike) -> Detection:
    """Return how "overlap at least the threshold" finds "people's score at least a level" (table 10b).

    The overlap may also be another group's score, such as a crowd's share of yes. NaN where nothing is found, or
    nothing is good. Raises ValueError for arrays of other shapes.

    >>> detection([0.9, 0.8, 0.1, 0.3], [4, 3, 1, 3.5], 0.5, [3]).recall.round(2).tolist()
    [0.67]
    """
    ours, theirs = _paired(overlap, people)
    said = ours >= threshold - SLACK
    good = theirs >= np.atleast_1d(np.asarray(levels, float))[:, None] - SLACK
    both = (good & said).sum(1)
    with np.errstate(invalid="ignore"):
        return Detection(both / said.sum(), both / good.sum(1), 2 * both / (said.sum() + good.sum(1)))


def filtered(overlap: ArrayLike, people: ArrayLike, thresholds: ArrayLike, *, good: float) -> Filtered:
    """Return what is dropped if pairs below each threshold are not shown to people (t,).

    ``people`` are NaN for pairs that were not judged: they are dropped, but not lost. ``good``: the score from which
    people find a pair good; 2⅔ and 3 of 4 in the paper, where BLEU-1 below 0.25 drops 86.0% of all pairs and loses 6.7%
    and 3.5%. Raises ValueError for arrays of other shapes.

    >>> filtered([0.9, 0.8, 0.1, 0.3], [4, 3, 1, 3.5], [0.25, 0.5], good=3)
    Filtered(dropped=array([0.25, 0.5 ]), lost=array([0.        , 0.33333333]))
    """
    ours, theirs = _same_pairs(overlap, people)
    below = ours < np.atleast_1d(np.asarray(thresholds, float))[:, None]
    right = theirs >= good - SLACK
    lost = below[:, right].mean(1) if right.any() else np.full(len(below), np.nan)
    return Filtered(below[:, ~np.isnan(ours)].mean(1), lost)


def _paired(overlap: ArrayLike, people: ArrayLike) -> tuple[Floats, Floats]:
    ours, theirs = _same_pairs(overlap, people)
    known = ~(np.isnan(ours) | np.isnan(theirs))
    return ours[known], theirs[known]


def _same_pairs(overlap: ArrayLike, people: ArrayLike) -> tuple[Floats, Floats]:
    ours = np.asarray(overlap, float)
    theirs = np.asarray(people, float)
    if ours.ndim != 1 or ours.shape != theirs.shape or not len(ours):
        raise ValueError(f"Scores must be two lists of the same pairs, not {ours.shape} and {theirs.shape}.")
    return ours, theirs
