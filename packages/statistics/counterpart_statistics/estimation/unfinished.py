"""Intervals of audits in which drawn queries still miss verdicts, whatever these verdicts will be. Pure arrays."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterpart_statistics.estimation.intervals import (
    FEWEST,
    PSEUDO_QUERIES,
    UNSEEN,
    UNSEEN_OF_WHOLE,
    Bounds,
    Question,
    distance,
    score_ends,
)

Floats = NDArray[np.float64]


def worst_interval(
    metric: ArrayLike,
    proxy: ArrayLike,
    drawn: ArrayLike,
    known: ArrayLike,
    *,
    queries: Question = "these",
    bounds: Bounds = (0.0, 1.0),
    level: float = 0.95,
) -> tuple[float, float]:
    """Return an interval that holds those of ``score_interval`` for all values that the missing metrics may have.

    Of an audit of n of N queries with equal probabilities, value and residuals are linear in the metrics: the value is
    Σ w M with w = 1/n + (ḡ - ḡ_A)(g - ḡ_A) / S, where A are the drawn queries and S is the sum of (g - ḡ_A)² over them,
    so that its ends come from the bound that the sign of each w asks for. With the missing metrics in the middle of the
    bounds, a residual moves by at most half of their span times the sum of its absolute weights of them; the sums of
    squares and the pseudo-queries are the largest that such residuals give. At a given effective number of queries,
    both ends rise with the value.

    Args:
        metric: (Q,), read where the query was drawn and is known.
        proxy: (Q,).
        drawn: (Q,) whether the audit drew the query.
        known: (Q,) whether all its pairs have verdicts.
        queries, bounds, level: as of ``score_interval``.

    Raises ValueError for fewer than three drawn queries.
    """
    inside = np.asarray(drawn, bool)
    missing = (~np.asarray(known, bool))[inside]
    guess = np.asarray(proxy, np.float64)
    n = int(inside.sum())
    count = len(inside)
    if n < FEWEST:
        raise ValueError(f"{n} queries were drawn. An interval needs at least {FEWEST}.")
    half = (bounds[1] - bounds[0]) / 2
    values = np.where(missing, bounds[0] + half, np.asarray(metric, np.float64)[inside])
    unseen = [UNSEEN_OF_WHOLE] if (values[~missing] == np.round(values[~missing])).all() else []
    if missing.any() or not unseen:
        unseen.append(UNSEEN)

    weights, residuals = _linear(guess, inside)
    middle = float(weights @ values)
    reach = half * float(np.abs(weights[missing]).sum())
    ends = np.clip([middle - reach, middle + reach], *bounds)
    far = float(distance(ends, bounds).max())
    variance = (1 / n - 1 / count) * _largest_squares(residuals, values, missing, half, far, unseen) / (n - 1)
    if queries == "like":
        around = np.eye(n) - 1 / n
        variance += _largest_squares(around, values, missing, half, far, unseen) / (n - 1) / count
    return _widest(ends, variance, n, bounds, level)


def _linear(guess: Floats, inside: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the weights (n,) and (n, n) of the metrics of audited queries in the value and in their residuals."""
    n = int(inside.sum())
    centred = guess[inside] - guess[inside].mean()
    spread = float((centred**2).sum())
    slope = centred / spread if spread > 1e-12 * n else np.zeros(n)
    weights = 1 / n + (guess.mean() - guess[inside].mean()) * slope
    line = 1 / n + np.outer(centred, slope)
    left = 1 - np.minimum(np.diag(line), 1 - 1e-6)
    return (weights if n < len(guess) else np.full(n, 1 / n)), (np.eye(n) - line) / left[:, None]


def _largest_squares(
    weights: Floats, values: Floats, missing: NDArray[np.bool_], half: float, far: float, unseen: list[float]
) -> float:
    """Return the largest Σr² with its pseudo-queries, of r = ``weights`` @ metrics, (n,)."""
    size = np.abs(weights @ values)
    shift = half * np.abs(weights[:, missing]).sum(axis=1)
    most = (size + shift) ** 2
    least = float((np.maximum(size - shift, 0.0) ** 2).sum())
    # The squared informative size is a mean of the r², weighted by themselves, and of far², weighted by ε far².
    peak = float(most.max())
    pseudo = 0.0
    for each in unseen:
        over = least + each * far**2
        bound = peak if peak >= far**2 else (peak * least + each * far**4) / over
        pseudo = max(pseudo, min(bound, float((most**2).sum() + each * far**4) / over))
    return float(most.sum() + PSEUDO_QUERIES * pseudo)


def _widest(ends: Floats, variance: float, n: int, bounds: Bounds, level: float) -> tuple[float, float]:
    """Return the lowest and the highest end that a value between ``ends`` has with at most this variance."""
    inner = (n * (ends - bounds[0]) / (bounds[1] - bounds[0]) + 1) / (n + 2)
    spreads = inner * (1 - inner)
    # The effective number of queries is least at one of both ends: there the variance is scaled to give that number.
    scaled = variance * spreads / spreads.min()
    low, high = score_ends(ends, scaled, n, bounds, level)
    return float(low[0]), float(high[1])
