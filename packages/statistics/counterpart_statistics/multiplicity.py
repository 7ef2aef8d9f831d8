"""How uncertainty of items goes with the number of their matches (ECCV Caption, figure 3b). Pure arrays."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike


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
