"""Rank correlation between metrics over models (ECCV Caption, table 5 and figure 4), and of the uncertainty of items
with the number of their matches (figure 3b). Pure arrays."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from counterpart_statistics.significance import paired

Values = NDArray[np.float64]


def tau_b(a: ArrayLike, b: ArrayLike) -> float:
    """Return Kendall's tau-b between two lists of scores of the same models: 1 the same order, -1 reversed.

    Models that are NaN in either list are left out. NaN if fewer than two are left, or all are equal in one list.

    Args:
        a, b: (n,) scores.

    Raises:
        ValueError: for arrays of other shapes.

    >>> round(tau_b([1, 2, 3, 4], [1, 2, 4, 3]), 4)
    0.6667
    """
    first, second = paired(a, b)
    return float(scipy.stats.kendalltau(first, second).statistic) if _varied(first, second) else float("nan")


def spearman(a: ArrayLike, b: ArrayLike) -> float:
    """Return Spearman's correlation, that of the ranks, equal scores sharing their mean rank; otherwise as ``tau_b``.

    >>> round(spearman([1, 2, 3, 4], [1, 2, 4, 3]), 4)
    0.8
    """
    first, second = paired(a, b)
    if not _varied(first, second):
        return float("nan")
    return float(np.corrcoef(scipy.stats.rankdata(first), scipy.stats.rankdata(second))[0, 1])


def correlations(scores: ArrayLike, coefficient: Callable[[ArrayLike, ArrayLike], float] = tau_b) -> Values:
    """Return the correlation of every two metrics.

    Args:
        scores: (models, metrics).
        coefficient: ``tau_b`` or ``spearman``.

    Returns:
        (metrics, metrics), symmetric; NaN where undefined.

    Raises:
        ValueError: for an array of another shape.
    """
    table = np.asarray(scores, float)
    if table.ndim != 2:
        raise ValueError(f"Scores must be an array (models, metrics), not one of shape {table.shape}.")
    n = table.shape[1]
    found = np.empty((n, n))
    for i in range(n):
        for j in range(i, n):
            found[i, j] = found[j, i] = coefficient(table[:, i], table[:, j])
    return found


@dataclass(frozen=True)
class Level:
    """The items with the same number of positives: their number, and their mean uncertainty."""

    positives: int
    items: int
    uncertainty: float


@dataclass(frozen=True)
class Multiplicity:
    """The levels by rising positives, and Kendall's tau-b of uncertainty with positives over all items: above 0 where
    uncertain items have more positives; NaN where either is the same for all."""

    levels: list[Level]
    tau_b: float


def multiplicity(uncertainty: ArrayLike, positives: ArrayLike) -> Multiplicity:
    """Compare uncertainty (N,) with the number of positives of each item (N,).

    >>> multiplicity([0.1, 0.3, 0.4], [1, 1, 2]).levels
    [Level(positives=1, items=2, uncertainty=0.2), Level(positives=2, items=1, uncertainty=0.4)]
    """
    counts, places = np.unique(np.asarray(positives), return_inverse=True)
    items = np.bincount(places)
    means = np.bincount(places, weights=np.asarray(uncertainty)) / items
    levels = [Level(int(n), int(k), float(mean)) for n, k, mean in zip(counts, items, means, strict=True)]
    return Multiplicity(levels, float(scipy.stats.kendalltau(uncertainty, positives).statistic))


def _varied(first: Values, second: Values) -> bool:
    return first.size > 1 and bool(np.ptp(first) and np.ptp(second))
