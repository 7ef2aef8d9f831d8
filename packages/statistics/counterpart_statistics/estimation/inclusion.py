"""Which single pairs are asked with an audit."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterpart_statistics.audits import inclusion_of

Floats = NDArray[np.float64]


def pair_inclusion(
    slopes: ArrayLike,
    probabilities: ArrayLike,
    variances: ArrayLike,
    budget: float,
    *,
    asked: ArrayLike | None = None,
    floor: float = 0.15,
) -> Floats:
    """Return π (Q, J), the probabilities with which single pairs are asked, with sum ``budget`` (formula 9).

    π is proportional to floor + (1 - floor) s / mean(s), at most 1, with s² = p(1 - p) Σ D² / V over the models.

    Args:
        slopes: (..., Q, J) D, of several models, metrics or both.
        probabilities: (Q, J).
        variances: (...) V of each over queries.
        budget: expected number of pairs.
        asked: (Q, J) the pairs that may be drawn (default: those of probability above 0).
    """
    steep = np.asarray(slopes, np.float64)
    p = np.asarray(probabilities, np.float64)
    free = p > 0 if asked is None else np.asarray(asked, bool)
    scale = np.asarray(variances, np.float64)[..., None, None]
    worth = (steep**2 / scale).sum(axis=tuple(range(steep.ndim - 2)))
    root = np.where(free, np.sqrt(p * (1 - p) * worth), 0.0)
    mean = root[free].mean() if free.any() else 0.0
    share = np.where(free, floor + (1 - floor) * (root / mean if mean else 1.0), 0.0)
    return inclusion_of(share.ravel(), budget).reshape(share.shape)
