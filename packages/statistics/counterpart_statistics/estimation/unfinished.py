"""Intervals of audits in which drawn queries still miss verdicts, whatever these verdicts will be. Pure arrays."""

import numpy as np
import scipy
from numpy.typing import ArrayLike


def worst_interval(
    metric: ArrayLike,
    proxy: ArrayLike,
    drawn: ArrayLike,
    known: ArrayLike,
    *,
    lowest: float = 0.0,
    highest: float = 1.0,
    level: float = 0.95,
) -> tuple[float, float]:
    """Return an interval that holds those of ``estimate`` for all values that the missing metrics may have.

    Of an audit of n of N queries with equal probabilities, ``estimate`` is linear in the metrics: Σ w M with
    w = 1/n + (ḡ - ḡ_A)(g - ḡ_A) / S, where A are the drawn queries and S is the sum of (g - ḡ_A)² over them. Its ends
    come from the bound that the sign of each w asks for. With each of k missing metrics at most h from the middle,
    β moves by h Σ|g - ḡ_A| / S at most, and the residuals by a vector no longer than h√k, so that the spread of e is at
    most its spread with the middle in their places + |Δβ| sd(g) + (N/n) h √(k / (N - 1)).

    Args:
        metric: (Q,), read where the query was drawn and is known.
        proxy: (Q,).
        drawn: (Q,) whether the audit drew the query.
        known: (Q,) whether all its pairs have verdicts.
        lowest, highest: bounds of the metric; of a difference of two, -1 and 1.

    Raises ValueError for fewer than two drawn queries.
    """
    inside = np.asarray(drawn, bool)
    missing = inside & ~np.asarray(known, bool)
    guess = np.asarray(proxy, np.float64)
    n = int(inside.sum())
    queries = len(inside)
    if n < 2:
        raise ValueError(f"{n} queries were drawn. An interval needs at least 2.")
    half = (highest - lowest) / 2
    k = int(missing.sum())
    values = np.where(missing, lowest + half, np.where(inside, np.asarray(metric, np.float64), 0.0))

    centred = np.where(inside, guess - guess[inside].mean(), 0.0)
    spread = float((centred**2).sum()) if n < queries else 0.0  # where all were drawn, the proxy does not enter
    slope = centred / spread if spread > 0 else np.zeros(queries)
    weights = inside / n + (guess.mean() - guess[inside].mean()) * slope

    beta = float(slope @ values)
    constant = float(values[inside].mean() - beta * guess[inside].mean()) if n < queries else 0.0
    line = beta * guess + constant
    middle = line + np.where(inside, queries / n * (values - line), 0.0)
    deviation = (
        middle.std(ddof=1)
        + half * np.abs(slope[missing]).sum() * guess.std(ddof=1)
        + queries / n * half * np.sqrt(k / (queries - 1))
    )
    reach = float(scipy.stats.t.ppf((1 + level) / 2, n - 1)) * deviation / np.sqrt(queries)
    value = float(weights @ values)
    shift = half * float(np.abs(weights[missing]).sum())
    return value - shift - reach, value + shift + reach
