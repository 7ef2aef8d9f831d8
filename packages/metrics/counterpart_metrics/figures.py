"""Figures: means over queries with their bootstrap intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from counterpart_metrics.arrays import Floats
from counterpart_metrics.binary import mean_over_queries

_BLOCK = 1 << 22  # drawn numbers at a time: bounds the memory
_REPEATED = 32  # equal values are drawn together where there are this many of each, on average


@dataclass(frozen=True)
class Figure:
    """The mean of a metric in 0..1, its 95% bootstrap interval over the queries, and the number of queries."""

    value: float
    low: float
    high: float
    queries: int


def figure_of(values: Floats) -> Figure:
    """Return the mean over the queries that have a value, and its interval."""
    mean = mean_over_queries(values)
    return Figure(mean.value, *bootstrap_interval(values), mean.queries)


def average(sides: Sequence[Figure]) -> Figure:
    """Return the mean of both directions' means. Their queries differ, so the halves of its interval add as squares."""
    value = float(np.mean([side.value for side in sides]))
    below = np.linalg.norm([side.value - side.low for side in sides]) / 2
    above = np.linalg.norm([side.high - side.value for side in sides]) / 2
    return Figure(value, float(value - below), float(value + above), sum(side.queries for side in sides))


def bootstrap_interval(
    values: ArrayLike, *, confidence: float = 0.95, samples: int = 1000, seed: int = 0
) -> tuple[float, float]:
    """Return the bootstrap interval (low, high) of the mean: percentiles of the means of resampled queries.

    Args:
        values: (Q,) values; NaN are left out.

    Returns:
        (NaN, NaN) if no query counts.

    Raises:
        ValueError: for an array of another shape, a confidence outside 0..1, or fewer than one sample.
    """
    kept = np.asarray(values, float)
    if kept.ndim != 1:
        raise ValueError(f"Floats must be a list with an entry per query, not an array of shape {kept.shape}.")
    if not 0 < confidence < 1:
        raise ValueError(f"Invalid confidence {confidence}: use a number between 0 and 1, such as 0.95.")
    if samples < 1:
        raise ValueError(f"Invalid number of samples {samples}: use at least 1.")
    kept = np.sort(kept[~np.isnan(kept)])  # so that the order of the queries changes nothing
    if not kept.size:
        return float("nan"), float("nan")
    return percentiles(_resampled_means(kept, samples, seed), confidence)


def percentiles(resampled: ArrayLike, confidence: float) -> tuple[float, float]:
    """Return the middle ``confidence`` of resampled statistics; those that are undefined (NaN) are left out."""
    found = np.asarray(resampled, float)
    found = found[~np.isnan(found)]
    if not found.size:
        return float("nan"), float("nan")
    low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _resampled_means(values: Floats, samples: int, seed: int) -> Floats:
    """Return the means of ``samples`` draws with replacement."""
    rng = np.random.default_rng(seed)
    n = values.size
    distinct, counts = np.unique(values, return_counts=True)
    if distinct.size * _REPEATED <= n:
        return rng.multinomial(n, counts / n, size=samples) @ distinct / n
    rows = max(1, _BLOCK // n)
    return np.concatenate(
        [values[rng.integers(n, size=(min(rows, samples - at), n))].mean(1) for at in range(0, samples, rows)]
    )
