"""How far a score of pairs, such as the overlap of words, agrees with people, and what a filter by it drops.

Hodosh et al. 2013, section 4.2.2: scores are compared with people's by turning both into yes or no at thresholds.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from counterpart_metrics.arrays import Floats
from counterpart_statistics.agreement import cohen_kappa


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
                cohen_kappa((ours >= threshold).astype(float), (theirs >= level).astype(float))
                for level in np.atleast_1d(np.asarray(levels, float))
            ]
            for threshold in np.atleast_1d(np.asarray(thresholds, float))
        ]
    )


def filtered(overlap: ArrayLike, people: ArrayLike, thresholds: ArrayLike, *, good: float) -> Filtered:
    """Return what is dropped if pairs below each threshold are not shown to people (t,).

    ``good``: the score from which people find a pair good; 2⅔ and 3 of 4 in the paper, where BLEU-1 below 0.25 drops
    86.0% of all pairs and loses 6.7% and 3.5%. Raises ValueError for arrays of other shapes.

    >>> filtered([0.9, 0.8, 0.1, 0.3], [4, 3, 1, 3.5], [0.25, 0.5], good=3)
    Filtered(dropped=array([0.25, 0.5 ]), lost=array([0.        , 0.33333333]))
    """
    ours, theirs = _paired(overlap, people)
    below = ours < np.atleast_1d(np.asarray(thresholds, float))[:, None]
    right = theirs >= good
    lost = below[:, right].mean(1) if right.any() else np.full(len(below), np.nan)
    return Filtered(below.mean(1), lost)


def _paired(overlap: ArrayLike, people: ArrayLike) -> tuple[Floats, Floats]:
    ours = np.asarray(overlap, float)
    theirs = np.asarray(people, float)
    if ours.ndim != 1 or ours.shape != theirs.shape or not len(ours):
        raise ValueError(f"Scores must be two lists of the same pairs, not {ours.shape} and {theirs.shape}.")
    known = ~(np.isnan(ours) | np.isnan(theirs))
    return ours[known], theirs[known]
