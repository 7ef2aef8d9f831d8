"""Intervals of scores from audited queries, for the question that is asked. Pure arrays.

``these`` asks what judging all N queries would say, ``like`` what a much larger set of queries drawn like them would.
Formula numbers are those of docs/estimation.md. The ends are those of Wilson's score interval (Wilson, JASA 1927) at
the effective number of queries; two pseudo-queries keep the width above 0 where all audited queries agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

FEWEST = 3
"""Audited queries below which no interval is given."""
FEW = 30
"""Audited queries below which an interval is thin."""
FEWEST_INFORMATIVE = 5.0
"""Informative queries below which an interval is thin: more than a quarter of its variance is then pseudo-queries."""
PSEUDO_QUERIES = 2.0
"""κ: queries of the informative size that are added to every sum of squares."""
UNSEEN = 0.02
UNSEEN_OF_WHOLE = 1.0
"""ε: weight, in the informative size, of one residual as large as the bounds allow; and where every audited value is a
whole number, so that what deviates does so by 1."""
CAUTION = 3.0
"""How many variances the squared gap of estimate and counted score must exceed before the estimate enters."""

Question = Literal["these", "like"]
Bounds = tuple[float, float]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """Means over queries with their intervals: arrays of one shape (...), of K metrics and M models for example.

    Attributes:
        error: standard error, pseudo-queries included; 0 where every query was judged and ``these`` are asked of.
        informative: effective number of audited queries that show how far the proxy is off (formula 19).
        beta: how much of the proxy enters.
        n_audited: queries that were judged whole, of ``n_queries``.
        question: ``these``, ``like`` or, of a nested interval, ``wide``.
        level: confidence of each interval.
    """

    value: Floats
    low: Floats
    high: Floats
    error: Floats
    informative: Floats
    beta: Floats
    n_audited: int
    n_queries: int
    question: str
    level: float

    @property
    def is_thin(self) -> NDArray[np.bool_]:
        """(...): whether too few queries, or too few that differ from what was expected, carry the interval."""
        return np.asarray(self.error > 0) & ((self.informative < FEWEST_INFORMATIVE) | (self.n_audited < FEW))


def score_interval(
    metric: ArrayLike,
    proxy: ArrayLike,
    audited: ArrayLike,
    inclusion: ArrayLike | None = None,
    *,
    queries: Question = "these",
    bounds: Bounds = (0.0, 1.0),
    level: float = 0.95,
    beta: float | None = None,
) -> Interval:
    """Return the mean of each metric over N queries with an interval for the question (formulas 6 and 16 to 19).

    Valid whatever the proxy is, as long as the probabilities of inclusion are true and no label decided which queries
    were audited; a poor proxy only widens it.

    Args:
        metric: (..., N) M, read where audited. Of a difference of two models: M - M', with bounds -1 and 1.
        proxy: (..., N) g, for example of ``expected_metric``.
        audited: (N,) whether every pair of the query was judged.
        inclusion: (N,) or one number: a, the probability that the query was audited (default: n / N for each).
        queries: the question.
        bounds: the least and the greatest value that the metric may have.
        beta: a weight of the proxy that is fixed beforehand (default: by least squares over the audited queries).

    Raises ValueError for an unknown question or level, arrays of other shapes, fewer than three audited queries,
    metrics that are not finite or out of bounds, proxies that are not finite, and a probability outside (0, 1].
    """
    if queries not in get_args(Question):
        raise ValueError(f"Unknown question {queries}: use {' or '.join(get_args(Question))}.")
    whole = np.asarray(audited, bool)
    n = int(whole.sum())
    inside, guess = audited_values(metric, proxy, whole, bounds)
    weight = 1 / chances_of(inclusion, whole)
    missed = weight * (weight - 1)
    line = Line.through(inside, guess[..., whole], missed, beta=beta)
    guessed = line.at(guess) if missed.any() else np.zeros(guess.shape)  # without rounding, where all is counted
    value = np.clip(guessed.mean(-1) + (weight * (inside - guessed[..., whole])).sum(-1) / len(whole), *bounds)

    far = distance(value, bounds)
    unseen = _unseen(inside)
    sizes = np.sqrt(missed) * line.residuals
    total = (sizes**2).sum(-1)
    if missed.any():
        total = total + PSEUDO_QUERIES * informative_square(sizes, far * np.sqrt(missed.mean()), unseen)
    variance = total * n / (n - 1) / len(whole) ** 2
    if queries == "like":
        even = weight / weight.mean()
        around = np.sqrt(even) * (inside - (even * inside).mean(-1, keepdims=True))
        spread = (around**2).sum(-1) + PSEUDO_QUERIES * informative_square(around, far, unseen)
        variance = variance + spread / (n - 1) / len(whole)
    carriers = informative_count(sizes if missed.any() else inside - inside.mean(-1, keepdims=True))
    ends = score_ends(value, variance, n, bounds, level)
    return Interval(value, *ends, np.sqrt(variance), carriers, line.beta, n, len(whole), queries, level)


def nested_interval(
    metric: ArrayLike,
    proxies: Sequence[ArrayLike],
    audits: Sequence[ArrayLike],
    *,
    bounds: Bounds = (0.0, 1.0),
    level: float = 0.95,
) -> Interval:
    """Return what judging all queries would say, from K audits of one drawn list, each within the one before (formula
    20): of a round that was topped up in the first queries of its audit, or of some of its queries.

    Args:
        metric: (..., N), read where the last audit judged.
        proxies: K arrays (..., N): the first is read everywhere, each other one where the audit before it judged.
        audits: K arrays (N,): ``audits[k]`` is where ``proxies[k + 1]``, and of the last one the metric, is known.

    Raises ValueError as ``score_interval`` does, and for audits that do not lie within each other.
    """
    last = np.asarray(audits[-1], bool)
    n = int(last.sum())
    known = np.ones(len(last), bool)
    value = np.float64(0.0)
    phases = list[tuple[Line, float]]()
    inside = np.empty(0)
    for proxy, audit in zip(proxies, audits, strict=True):
        here = np.asarray(audit, bool)
        if (here & ~known).any():
            raise ValueError("Each audit must lie within the one before it.")
        inside, guess = audited_values(metric, np.where(known, proxy, 0.0), last, bounds)
        line = Line.through(inside, guess[..., last], np.ones(n))
        guessed = line.at(guess)
        value = value + guessed[..., known].mean(-1) - guessed[..., here].mean(-1)
        phases.append((line, 1 / here.sum() - 1 / known.sum()))
        known = here
    value = np.clip(value + inside.mean(-1), *bounds)
    variance = np.zeros_like(value)
    for line, share in phases:
        pseudo = informative_square(line.residuals, distance(value, bounds), _unseen(inside))
        variance = variance + share * ((line.residuals**2).sum(-1) + PSEUDO_QUERIES * pseudo) / (n - 1)
    ends = score_ends(value, variance, n, bounds, level)
    carriers = informative_count(line.residuals)
    return Interval(value, *ends, np.sqrt(variance), carriers, line.beta, n, len(last), "wide", level)


def shrunk(estimate: ArrayLike, error: ArrayLike, counted: ArrayLike) -> tuple[Floats, Floats]:
    """Return guarded scores (..., M) between the counted scores and the estimates of M models, and the weight (...) of
    the estimates, one for all models of a metric, as weights of their own would reorder them by noise (formula 15).

    Args:
        estimate, error: (..., M) value and standard error of ``score_interval`` for ``these``.
        counted: (..., M) scores with unjudged pairs as no matches.

    >>> guarded, weight = shrunk([0.5, 0.6], [0.01, 0.01], [0.45, 0.55])
    >>> guarded.round(3), weight.round(2)
    (array([0.494, 0.594]), np.float64(0.88))
    """
    estimated = np.asarray(estimate, np.float64)
    score = np.asarray(counted, np.float64)
    gap = ((estimated - score) ** 2).mean(-1)
    noise = (np.asarray(error, np.float64) ** 2).mean(-1)
    weight = np.where(gap > 0, np.maximum(0.0, 1 - CAUTION * noise / np.where(gap > 0, gap, 1.0)), 0.0)
    return score + weight[..., None] * (estimated - score), weight


class Line(NamedTuple):
    """The least squares line of a metric on a proxy over the audited queries: β and c (...), and the residuals
    (..., n), each divided by one minus the query's leverage, as if the line were drawn without it (formula 16)."""

    beta: Floats
    constant: Floats
    residuals: Floats

    def at(self, proxy: Floats) -> Floats:
        """Return β g + c, (..., N)."""
        return self.beta[..., None] * proxy + self.constant[..., None]

    @classmethod
    def through(
        cls, metric: Floats, proxy: Floats, weight: Floats, *, beta: float | None = None, noise: float = 0.0
    ) -> "Line":
        """Return the line through (..., n) with a weight (n,) for each query, equal ones if all are 0.

        ``noise``: variance of the proxy's own error, as a part of the spread that lowers β.
        """
        total = weight.sum()
        share = weight / total if total > 0 else np.full(len(weight), 1 / len(weight))
        proxy_mean = (share * proxy).sum(-1, keepdims=True)
        metric_mean = (share * metric).sum(-1, keepdims=True)
        centred = proxy - proxy_mean
        spread = (share * centred**2).sum(-1, keepdims=True) + noise
        is_flat = spread <= 1e-12
        over = np.where(is_flat, 1.0, spread)
        slope = np.where(is_flat, 0.0, (share * centred * (metric - metric_mean)).sum(-1, keepdims=True) / over)
        leverage = share * (1 + np.where(is_flat, 0.0, centred**2 / over))
        if beta is not None:
            slope = np.full_like(slope, beta)
            leverage = share
        residuals = (metric - metric_mean - slope * centred) / (1 - np.minimum(leverage, 1 - 1e-6))
        return cls(slope[..., 0], (metric_mean - slope * proxy_mean)[..., 0], residuals)


def informative_square(sizes: Floats, bound: ArrayLike, unseen: ArrayLike = UNSEEN) -> Floats:
    """Return (...): the squared size of the informative ones among sizes (..., n): that of the largest residual which
    is possible, ``bound``, where all are 0 (formula 17)."""
    squares = sizes**2
    largest = np.maximum(np.asarray(bound, np.float64) ** 2, 1e-24)
    return np.asarray(((squares**2).sum(-1) + unseen * largest**2) / (squares.sum(-1) + unseen * largest))


def informative_count(sizes: Floats) -> Floats:
    """Return (...): (Σu²)² / Σu⁴, the number of queries over which the sum of squares spreads (formula 19)."""
    squares = np.where(np.abs(sizes) > 1e-9, sizes, 0.0) ** 2
    fourth = (squares**2).sum(-1)
    return np.asarray(np.where(fourth > 0, squares.sum(-1) ** 2 / np.where(fourth > 0, fourth, 1.0), 0.0))


def score_ends(value: Floats, variance: Floats, n: int, bounds: Bounds, level: float) -> tuple[Floats, Floats]:
    """Return both ends (...) at the effective number of queries, by t with n - 2 degrees of freedom (formula 18); the
    value itself where the variance is 0."""
    if not 0 < level < 1:
        raise ValueError(f"Invalid level {level}: use a probability between 0 and 1.")
    lowest, highest = bounds
    span = highest - lowest
    x = (value - lowest) / span
    inner = (n * x + 1) / (n + 2)
    effective = inner * (1 - inner) / np.maximum(variance / span**2, 1e-300)
    reach = float(stdtrit(n - 2, (1 + level) / 2))
    centre = (effective * x + reach**2 / 2) / (effective + reach**2)
    half = reach * np.sqrt(effective * x * (1 - x) + reach**2 / 4) / (effective + reach**2)
    low = np.where(x <= 0, 0.0, np.maximum(centre - half, 0.0))
    high = np.where(x >= 1, 1.0, np.minimum(centre + half, 1.0))
    is_counted = variance <= 0
    return np.where(is_counted, value, lowest + span * low), np.where(is_counted, value, lowest + span * high)


def audited_values(
    metric: ArrayLike, proxy: ArrayLike, whole: NDArray[np.bool_], bounds: Bounds
) -> tuple[Floats, Floats]:
    """Return the metric of audited queries (..., n) and the proxy of all (..., N)."""
    values = np.asarray(metric, np.float64)
    guess = np.asarray(proxy, np.float64)
    if whole.ndim != 1 or not values.shape[-1:] == guess.shape[-1:] == whole.shape:
        raise ValueError(
            f"Metric {values.shape}, proxy {guess.shape} and audit {whole.shape} must have one last axis, of queries."
        )
    if whole.sum() < FEWEST:
        raise ValueError(f"{whole.sum()} queries were audited. An estimate needs at least {FEWEST}.")
    inside = np.ascontiguousarray(values[..., whole])
    if unknown := int((~np.isfinite(inside)).any(axis=tuple(range(inside.ndim - 1))).sum()):
        raise ValueError(f"{unknown} audited queries have no value that is a finite number: judge all their pairs.")
    if not np.isfinite(guess).all():
        raise ValueError("Every query needs a proxy that is a finite number.")
    if ((inside < bounds[0] - 1e-9) | (inside > bounds[1] + 1e-9)).any():
        raise ValueError(f"The metric has values outside its bounds {bounds[0]:g} and {bounds[1]:g}.")
    return inside, guess


def chances_of(inclusion: ArrayLike | None, whole: NDArray[np.bool_]) -> Floats:
    """Return (n,): the probability of inclusion of each audited query."""
    given = np.asarray(whole.mean() if inclusion is None else inclusion, np.float64)
    chance = np.broadcast_to(given, whole.shape)[whole]
    if not ((chance > 0) & (chance <= 1)).all():
        raise ValueError("Every audited query needs a probability of inclusion above 0 and up to 1.")
    if not whole.all() and (chance == 1).all():
        raise ValueError("Queries that were certain to be audited say nothing of the others.")
    return chance


def distance(value: Floats, bounds: Bounds) -> Floats:
    """Return (...): how far the value is from the farther bound; 1 of a difference of two models, whose order one
    query is unlikely to change by more than a hit."""
    if bounds == (-1.0, 1.0):
        return np.ones_like(value)
    return np.maximum(value - bounds[0], bounds[1] - value)


def _unseen(inside: Floats) -> Floats:
    """Return ε (...)."""
    return np.where((inside == np.round(inside)).all(-1), UNSEEN_OF_WHOLE, UNSEEN)
