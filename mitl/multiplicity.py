"""Figure 3b of ECCV Caption: are items that a machine is unsure of those that have more matches? Pure arrays."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


@dataclass(frozen=True)
class Level:
    """The items with so many positives: how many they are, and how unsure of them a machine is in the mean."""

    positives: int
    items: int
    uncertainty: float


@dataclass(frozen=True)
class Multiplicity:
    """The levels by rising positives, and Kendall's tau-b of uncertainty with positives over all items: above 0 where
    items of which the machine is unsure have more; NaN where either is the same for all."""

    levels: list[Level]
    tau_b: float


def multiplicity(uncertainty: ArrayLike, positives: ArrayLike) -> Multiplicity:
    """Hold uncertainty (N,) against the number of positives that each item has (N,).

    >>> multiplicity([0.1, 0.3, 0.4], [1, 1, 2]).levels
    [Level(positives=1, items=2, uncertainty=0.2), Level(positives=2, items=1, uncertainty=0.4)]
    """
    counts, places = np.unique(np.asarray(positives), return_inverse=True)
    items = np.bincount(places)
    means = np.bincount(places, weights=np.asarray(uncertainty)) / items
    levels = [Level(int(n), int(k), float(mean)) for n, k, mean in zip(counts, items, means, strict=True)]
    return Multiplicity(levels, float(stats.kendalltau(uncertainty, positives).statistic))
