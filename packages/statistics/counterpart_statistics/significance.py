"""Tests of paired outcomes, and tables of systems that are compared with one of them. Pure arrays.

Values are those of one metric, an entry per query, in the same order for both models. A query that is NaN (it has no
positives) for either model is left out.
"""

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

FEW = 25
"""Discordant pairs below which McNemar's test is exact."""
_BLOCK = 1 << 22  # drawn numbers at a time: bounds the memory

Values = NDArray[np.float64]


class Significance(NamedTuple):
    """``statistic`` as the test defines it, ``pvalue`` two-sided."""

    statistic: float
    pvalue: float


class Compared(NamedTuple):
    """Figures of S systems, and two-sided p-values of their difference to one of them (1 for itself)."""

    figures: NDArray[np.float64]
    pvalues: NDArray[np.float64]


def cumulative_shares(scores: ArrayLike, thresholds: ArrayLike, *, against: int) -> Compared:
    """Return how many of a system's results people scored at least each threshold (Hodosh et al. 2013, table 1).

    Args:
        scores: (S, Q) people's score of each system's result for each query; NaN where it has none.
        thresholds: (T,) scores. One that is short by less than a billionth reaches them, as means of thirds may be.
        against: the system that McNemar's test compares the others with, over the queries of both.

    Returns:
        Shares (S, T) and p-values (S, T); NaN for a system without any score.

    Raises:
        ValueError: for scores of another shape.

    >>> cumulative_shares([[4, 3, 1, 1], [1, 3, 3, 1]], [4, 3], against=0).figures.tolist()
    [[0.25, 0.5], [0.0, 0.5]]
    """
    found = _systems(scores)
    levels = np.atleast_1d(np.asarray(thresholds, float)) - 1e-9
    reached = np.where(np.isnan(found)[..., None], np.nan, found[..., None] >= levels)
    tests = [[mcnemar(one[:, t], reached[against, :, t]).pvalue for t in range(len(levels))] for one in reached]
    return Compared(_means(reached, axis=1), np.array(tests))


def compared_means(scores: ArrayLike, *, against: int, samples: int = 100_000, seed: int = 0) -> Compared:
    """Return each system's mean score and, by Fisher's randomisation, whether it differs from that of one system
    (Hodosh et al. 2013, table 2): means (S,) and p-values (S,). Arguments as ``cumulative_shares`` and
    ``fisher_randomisation``.

    >>> compared_means([[4, 3, 4], [1, 1, 1]], against=0).pvalues.tolist()
    [1.0, 0.25]
    """
    found = _systems(scores)
    tests = [fisher_randomisation(one, found[against], samples, seed).pvalue for one in found]
    return Compared(_means(found, axis=1), np.array(tests))


def stars(pvalue: float) -> str:
    """Return the marks of the paper's tables: three up to 0.01, two up to 0.05, one up to 0.1.

    >>> stars(0.01), stars(0.05), stars(0.2)
    ('***', '**', '')
    """
    return "*" * sum(pvalue <= level for level in (0.1, 0.05, 0.01))


def mcnemar(a: ArrayLike, b: ArrayLike, *, exact: bool | None = None) -> Significance:
    """Compare paired binary outcomes, such as R@k (McNemar 1947; Hodosh et al. 2013, section 4.2.1).

    n10 queries are right for ``a`` alone and n01 for ``b`` alone. The exact test takes n10 as Binomial(n10 + n01, 1/2);
    its statistic is min(n10, n01). Otherwise the statistic is (|n10 - n01| - 1)² / (n10 + n01), chi-square with one
    degree of freedom (with continuity correction); where n10 = n01 it is 0, not 1 / (n10 + n01). Without any discordant
    pair the p-value is 1.

    Args:
        a, b: (Q,) outcomes, 0 or 1 (or NaN).
        exact: None: the exact test for fewer than 25 discordant pairs, else chi-square.

    Raises:
        ValueError: for arrays of other shapes, or other values.

    >>> mcnemar([1, 1, 1, 1, 0], [0, 0, 0, 1, 1])
    Significance(statistic=1.0, pvalue=0.625)
    """
    first, second = paired(a, b)
    if not (np.isin(first, (0, 1)).all() and np.isin(second, (0, 1)).all()):
        raise ValueError("McNemar's test compares outcomes that are 0 or 1.")
    only_a = int((first > second).sum())
    only_b = int((second > first).sum())
    discordant = only_a + only_b
    if exact is None:
        exact = discordant < FEW
    if exact:
        pvalue = float(scipy.stats.binomtest(only_a, discordant).pvalue) if discordant else 1.0
        return Significance(float(min(only_a, only_b)), pvalue)
    statistic = max(abs(only_a - only_b) - 1, 0) ** 2 / discordant if discordant else 0.0
    return Significance(statistic, float(scipy.stats.chi2.sf(statistic, 1)))


def fisher_randomisation(a: ArrayLike, b: ArrayLike, samples: int = 100_000, seed: int = 0) -> Significance:
    """Test whether two models' means differ, by Fisher's paired randomisation (Hodosh et al. 2013, section 4.2.1).

    If the models were equal, each query's difference would have either sign. The p-value is the share of sign
    assignments whose mean difference is at least as far from 0 as the one found: of all assignments where there are at
    most ``samples``, else (1 + those among ``samples`` random ones) / (1 + ``samples``), which is never 0.

    Args:
        a, b: (Q,) values.

    Returns:
        The statistic is the mean of ``a - b``; NaN if no query counts.

    Raises:
        ValueError: for arrays of other shapes, or fewer than one sample.

    >>> fisher_randomisation([1, 1, 1], [0, 0, 0])
    Significance(statistic=1.0, pvalue=0.25)
    """
    if samples < 1:
        raise ValueError(f"Invalid number of samples {samples}: use at least 1.")
    first, second = paired(a, b)
    differences = first - second
    found = abs(differences.sum())
    statistic = float(differences.mean()) if differences.size else float("nan")
    signed = differences[differences != 0]
    sizes = np.abs(signed)
    least = found - 1e-12 * sizes.sum()  # sums in another order differ in the last digits
    if 2 ** min(sizes.size, 62) <= samples:
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate([sums + size, sums - size])
        return Significance(statistic, float((np.abs(sums) >= least).mean()))
    return Significance(statistic, float(randomisation_pvalues(signed[:, None], samples=samples, seed=seed)[0]))


def randomisation_pvalues(differences: ArrayLike, *, samples: int = 10_000, seed: int = 0) -> Values:
    """Fisher's randomisation test for many pairs of models at once, over the same random signs of the queries.

    Args:
        differences: (Q, M) differences of values, a column for each pair of models, without NaN.

    Returns:
        (M,) p-values: (1 + signs whose mean difference is at least as far from 0 as the one found) / (1 + samples).

    Raises:
        ValueError: for an array of another shape, or fewer than one sample.
    """
    given = np.asarray(differences, float)
    if given.ndim != 2:
        raise ValueError(f"Differences must have the shape (queries, pairs), not {given.shape}.")
    if samples < 1:
        raise ValueError(f"Invalid number of samples {samples}: use at least 1.")
    rng = np.random.default_rng(seed)
    n = len(given)
    least = np.abs(given.sum(0)) - 1e-12 * np.abs(given).sum(0)
    extreme = np.zeros(given.shape[1], int)
    rows = max(1, _BLOCK // max(1, n))
    for at in range(0, samples, rows):
        signs = 2.0 * rng.integers(2, size=(min(rows, samples - at), n), dtype=np.int8) - 1
        extreme += (np.abs(signs @ given) >= least).sum(0)
    return (1 + extreme) / (1 + samples)


def paired(a: ArrayLike, b: ArrayLike) -> tuple[Values, Values]:
    """Return both (n,) without the places that are NaN in either. Raises ValueError for other shapes."""
    first = np.asarray(a, float)
    second = np.asarray(b, float)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"Scores must be two lists of equal length, not {first.shape} and {second.shape}.")
    kept = ~(np.isnan(first) | np.isnan(second))
    return first[kept], second[kept]


def _systems(scores: ArrayLike) -> Values:
    found = np.asarray(scores, float)
    if found.ndim != 2:
        raise ValueError(f"Scores must have the shape (systems, queries), not {found.shape}.")
    return found


def _means(values: Values, axis: int) -> Values:
    """Return the means of the known values; NaN without a known value."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0).sum(axis) / known.sum(axis))
