"""Agreement between judges: Krippendorff's alpha and Cohen's kappa, with bootstrap intervals. Pure arrays.

A matrix (units, raters) would be too large for millions of judgments: alpha needs only how often each unit got a value,
``counts`` (units, values). Own functions instead of the package ``krippendorff``, which makes an array
(units, values, values): these count equal units once, so that a thousand resamples take as long as one.
"""

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterpart_metrics.figures import percentiles

Scale = Literal["nominal", "ordinal", "interval"]
SCALES: tuple[Scale, ...] = get_args(Scale)
Weights = Literal["linear", "quadratic"] | None
Values = NDArray[np.float64]
Interval = tuple[float, float]


def krippendorff_alpha(ratings: ArrayLike, level: Scale = "interval") -> float:
    """Return Krippendorff's alpha: 1 for perfect agreement, 0 for that of chance (Krippendorff 2019, chapter 12).

    Args:
        ratings: (units, raters), NaN where a rater did not rate a unit. Units with a single rating do not count.
        level: of measurement: differences between values are alike (``nominal``), by their ranks (``ordinal``) or by
            their numbers (``interval``).

    Returns:
        NaN if no unit has two ratings, or all ratings that count are equal: then chance agrees as well.

    Raises:
        ValueError: for an array of another shape, or an unknown level.

    >>> round(krippendorff_alpha([[1, 1], [2, 2], [3, 4]], level="nominal"), 4)
    0.6154
    """
    table = np.asarray(ratings, float)
    if table.ndim != 2:
        raise ValueError(f"Ratings must be an array (units, raters), not one of shape {table.shape}.")
    units, raters = np.nonzero(~np.isnan(table))
    values, codes = np.unique(table[units, raters], return_inverse=True)
    return alpha_of_counts(value_counts(units, codes, (len(table), len(values))), values, level)


def value_counts(units: ArrayLike, codes: ArrayLike, shape: tuple[int, int]) -> Values:
    """Return how often each unit got each value, ``shape`` (units, values), from the places of both in each rating."""
    cells = np.asarray(units, np.int64) * shape[1] + np.asarray(codes, np.int64)
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(float)


def alpha_of_counts(counts: ArrayLike, values: ArrayLike, level: Scale = "interval") -> float:
    """Return alpha as ``krippendorff_alpha``, from ``counts`` (units, values) and the ``values``, ascending."""
    found = np.asarray(counts, float)
    return float(_alphas(_coincidences(found)[None], np.asarray(values, float), level)[0])


def alpha_interval(
    counts: ArrayLike,
    values: ArrayLike,
    level: Scale = "interval",
    *,
    confidence: float = 0.95,
    samples: int = 1000,
    seed: int = 0,
) -> Interval:
    """Return the bootstrap interval (low, high) of alpha over units, percentiles; arguments as ``alpha_of_counts``.

    Units with a single rating are not drawn. (NaN, NaN) where alpha is undefined.
    """
    resampled = _resampled_coincidences(np.asarray(counts, float), samples, seed)
    return percentiles(_alphas(resampled, np.asarray(values, float), level), confidence)


def specific_agreement(counts: ArrayLike) -> Values:
    """Return the probability that a second rater of a unit gives the value that the first gave.

    Args:
        counts: (units, values) as ``value_counts`` returns them.

    Returns:
        (1 + values,): first whatever the value is, then for each value (Fleiss et al. 2003, section 18.3); NaN for a
        value that no unit with two ratings has.
    """
    return np.asarray(_specific(_coincidences(np.asarray(counts, float))[None])[0])


def specific_intervals(
    counts: ArrayLike, *, confidence: float = 0.95, samples: int = 1000, seed: int = 0
) -> list[Interval]:
    """Return the bootstrap interval (low, high) over units of each figure of ``specific_agreement``."""
    resampled = _specific(_resampled_coincidences(np.asarray(counts, float), samples, seed))
    return [percentiles(figures, confidence) for figures in resampled.T]


def cohen_kappa(a: ArrayLike, b: ArrayLike, weights: Weights = None) -> float:
    """Return Cohen's kappa of two raters: 1 for perfect agreement, 0 for that of chance (Cohen 1960, 1968).

    Args:
        a, b: (n,) labels of the same units; units that are NaN in either are left out.
        weights: None: all disagreements are alike; ``linear`` or ``quadratic``: by the difference of the labels, which
            must be numbers, or its square.

    Returns:
        NaN if no unit is left, or if either rater gave all of them the same label: then agreement is that of chance
        whatever the other says, and the formula gives 0, or 0 / 0.

    Raises:
        ValueError: for arrays of other shapes, or unknown weights.

    >>> cohen_kappa([1, 1, 2, 2], [1, 1, 2, 1])
    0.5
    """
    first, second, labels = _coded(a, b)
    kept = (first >= 0) & (second >= 0)
    table = value_counts(first[kept], second[kept], (len(labels), len(labels)))
    return float(_kappas(table[None], labels, weights)[0])


def kappa_interval(
    a: ArrayLike,
    b: ArrayLike,
    weights: Weights = None,
    *,
    units: ArrayLike | None = None,
    confidence: float = 0.95,
    samples: int = 1000,
    seed: int = 0,
) -> Interval:
    """Return the bootstrap interval (low, high) of kappa over units, percentiles; arguments as ``cohen_kappa``.

    ``units`` (n,) numbers the unit that each label is of, from 0: labels of one unit are drawn together. None: each
    is a unit of its own. (NaN, NaN) where kappa is undefined.
    """
    first, second, labels = _coded(a, b)
    n = len(labels)
    cells = np.where((first < 0) | (second < 0), -1, first * n + second)
    resampled = _resampled_cells(cells, n * n, units, samples, seed).reshape(samples, n, n)
    return percentiles(_kappas(resampled, labels, weights), confidence)


def share_interval(
    right: ArrayLike, units: ArrayLike, *, confidence: float = 0.95, samples: int = 1000, seed: int = 0
) -> Interval:
    """Return the bootstrap interval (low, high) over units of the share of ``right``, (n,) of 0 and 1; ``units`` (n,)
    as of ``kappa_interval``. (NaN, NaN) for an empty list."""
    resampled = _resampled_cells(np.asarray(right, np.int64), 2, units, samples, seed)
    with np.errstate(invalid="ignore"):
        return percentiles(resampled[:, 1] / resampled.sum(1), confidence)


def _kinds(counts: Values) -> tuple[Values, NDArray[np.int64]]:
    """Return the distinct rows and their numbers, ten times as fast as ``np.unique`` of rows."""
    codes: NDArray[Any] = np.zeros(len(counts))
    for column in counts.T:
        codes = np.unique(codes * (counts.max() + 1) + column, return_inverse=True)[1]
    _, first, numbers = np.unique(codes, return_index=True, return_counts=True)
    return counts[first], numbers


def _resampled_coincidences(counts: Values, samples: int, seed: int) -> Values:
    """Return the coincidences (samples, values, values) of units drawn with replacement among those that have any."""
    pairable = counts[counts.sum(1) > 1]
    n = counts.shape[1]
    if not len(pairable):
        return np.zeros((samples, n, n))
    kinds, numbers = _kinds(pairable)
    drawn = np.random.default_rng(seed).multinomial(len(pairable), numbers / len(pairable), size=samples)
    of_kinds = np.stack([_coincidences(kind[None]).ravel() for kind in kinds])
    return np.asarray((drawn @ of_kinds).reshape(samples, n, n))


def _resampled_cells(cells: NDArray[np.int64], n: int, units: ArrayLike | None, samples: int, seed: int) -> Values:
    """Return how often each of ``n`` cells occurs, (samples, n), in units drawn with replacement; -1 is not a cell."""
    kept = cells >= 0
    rng = np.random.default_rng(seed)
    if not kept.any():
        return np.zeros((samples, n))
    if units is None:
        counts = np.bincount(cells[kept], minlength=n)
        return rng.multinomial(counts.sum(), counts / counts.sum(), size=samples).astype(float)
    _, places = np.unique(np.asarray(units)[kept], return_inverse=True)
    kinds, numbers = _kinds(value_counts(places, cells[kept], (int(places.max()) + 1, n)))
    return np.asarray(rng.multinomial(numbers.sum(), numbers / numbers.sum(), size=samples) @ kinds)


def _specific(coincidences: Values) -> Values:
    """Return the figures of ``specific_agreement`` for each matrix, (n, 1 + values)."""
    margins = coincidences.sum(2)
    equal = np.diagonal(coincidences, axis1=1, axis2=2)
    with np.errstate(invalid="ignore"):
        return np.concatenate([equal.sum(1, keepdims=True) / margins.sum(1, keepdims=True), equal / margins], axis=1)


def _coincidences(counts: Values) -> Values:
    """Return how often each value meets each other within a unit, (values, values); a unit of m ratings weighs m."""
    sizes = counts.sum(1)
    shares = counts[sizes > 1] / (sizes[sizes > 1] - 1)[:, None]
    return np.asarray(counts[sizes > 1].T @ shares - np.diag(shares.sum(0)))


def _alphas(coincidences: Values, values: Values, level: Scale) -> Values:
    """Return alpha of each matrix of coincidences (n, values, values)."""
    margins = coincidences.sum(2)
    if level == "nominal":
        distances = np.broadcast_to(1 - np.eye(len(values)), coincidences.shape)
    elif level == "ordinal":
        middle = margins.cumsum(1) - margins / 2  # mean ranks: their differences are Krippendorff's ordinal distances
        distances = (middle[:, :, None] - middle[:, None, :]) ** 2
    elif level == "interval":
        distances = np.broadcast_to((values[:, None] - values) ** 2, coincidences.shape)
    else:
        raise ValueError(f"Unknown level of measurement {level!r}: use {', '.join(SCALES)}.")
    observed = (coincidences * distances).sum((1, 2))
    with np.errstate(divide="ignore"):
        expected = np.einsum("ni,nj,nij->n", margins, margins, distances) / (margins.sum(1) - 1)
    return _of_chance(observed, expected)


def _coded(a: ArrayLike, b: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Return the place of each label in the list of labels, the third array; -1 where it is missing."""
    first = np.asarray(a)
    second = np.asarray(b)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"Labels must be two lists of equal length, not {first.shape} and {second.shape}.")
    both = np.concatenate([first, second])
    missing = np.isnan(both) if both.dtype.kind == "f" else np.zeros(len(both), bool)
    codes = np.full(len(both), -1)
    labels, codes[~missing] = np.unique(both[~missing], return_inverse=True)
    return codes[: len(first)], codes[len(first) :], labels


def _kappas(tables: Values, labels: NDArray[Any], weights: Weights) -> Values:
    """Return kappa of each table (n, labels, labels)."""
    if weights is None:
        distances = 1 - np.eye(len(labels))
    elif weights in ("linear", "quadratic"):
        numbers = labels.astype(float)
        distances = np.abs(numbers[:, None] - numbers) ** (1 if weights == "linear" else 2)
    else:
        raise ValueError(f"Unknown weights {weights!r}: use None, linear or quadratic.")
    observed = (tables * distances).sum((1, 2))
    rows = tables.sum(2)
    columns = tables.sum(1)
    expected = np.einsum("ni,nj,ij->n", rows, columns, distances)
    varies = ((rows > 0).sum(1) > 1) & ((columns > 0).sum(1) > 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return _of_chance(observed, np.where(varies, expected / tables.sum((1, 2)), 0))


def _of_chance(observed: Values, expected: Values) -> Values:
    """Return 1 - observed / expected disagreement; NaN where none is expected."""
    found = np.full(len(observed), np.nan)
    np.divide(observed, expected, out=found, where=expected > 0)
    return np.asarray(1 - found)
