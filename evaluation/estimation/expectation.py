"""What a metric is worth in expectation while labels are missing, and how much each label would change it."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from evaluation.estimation.pool_metrics import metrics_of_list
from evaluation.estimation.probabilities import shift_logits

Floats = NDArray[np.float64]


class Expected(NamedTuple):
    """Of the K metrics of ``pool_metrics``, for M models and Q queries of J pairs with T thresholds each.

    Attributes:
        mean: (K, M, Q) g, the expected metric (formula 3).
        slopes: (K, M, Q, J, T) D, by how much a label that passes the threshold raises it (formula 4); 0 where known.
        curvature: (K, M, Q) the variance over the draws of the metric minus its linear part (ν of formula 8, before
            it is divided by each metric's variance and summed over the models).
    """

    mean: Floats
    slopes: Floats
    curvature: Floats


def expected_metric(
    ranks: ArrayLike, probabilities: ArrayLike, known: ArrayLike, tau: float, *, draws: int = 24, seed: int = 0
) -> Expected:
    """Return expected metrics under labels drawn from their probabilities, the same draws for all models.

    Args:
        ranks: (M, Q, J) as in ``pool_metrics``.
        probabilities: (Q, J) of a match; or (Q, J, 2) of a match, and of a full match.
        known: (Q, J) gains of pairs whose label is known, also of unused places; NaN for the others.
        tau: spread of the logit shift of a query, from ``query_effect``.
        draws: an even number of draws; the shifts of one half are those of the other with the opposite sign.

    >>> expected_metric([[[1, 2]]], [[0.5, 0.5]], [[1.0, np.nan]], 0.0).mean[0, 0, 0]
    1.0
    """
    if draws < 2 or draws % 2:
        raise ValueError(f"Invalid number of draws {draws}: use an even number from 2.")
    places = np.asarray(ranks, np.int64)
    labels = np.asarray(known, np.float64)
    p = np.asarray(probabilities, np.float64)
    thresholds = p[..., None] if p.ndim == 2 else p
    drawn = _draw(thresholds, labels, tau, draws, np.random.default_rng(seed))
    order = np.argsort(places, axis=2, kind="stable")
    return Expected(*_expectations(places, order, drawn, np.isnan(labels), thresholds.shape[2]))


def _draw(thresholds: Floats, known: Floats, tau: float, draws: int, rng: np.random.Generator) -> Floats:
    """Return gains (Q, S, J): one uniform number a pair passes the first threshold, both or none."""
    queries, pairs, count = thresholds.shape
    half = tau * rng.standard_normal((queries, draws // 2, 1))
    shift = np.concatenate([half, -half], axis=1)
    uniform = rng.random((queries, draws, pairs))
    passed = np.zeros((queries, draws, pairs))
    for threshold in range(count):
        p = np.clip(thresholds[:, None, :, threshold], 1e-9, 1 - 1e-9)
        passed += uniform < shift_logits(p, tau, shift)
    return np.where(np.isnan(known)[:, None], passed / count, known[:, None])


@njit(cache=True)
def _expectations(ranks, order, drawn, unknown, thresholds):
    models, queries, pairs = ranks.shape
    draws = drawn.shape[1]
    mean = np.zeros((4, models, queries))
    curvature = np.zeros((4, models, queries))
    slopes = np.zeros((4, models, queries, pairs, thresholds))
    values = np.zeros((draws, 4))
    levels = np.zeros((thresholds + 1, 4))
    for query in range(queries):
        asked = np.flatnonzero(unknown[query])
        counts = [(np.sum(gains > 0), np.sum(gains == 1)) for gains in drawn[query]]
        for model in range(models):
            places, by_rank = ranks[model, query], order[model, query]
            for draw in range(draws):
                gains = drawn[query, draw]
                metrics_of_list(gains, places, by_rank, *counts[draw], values[draw])
                for pair in asked:
                    _force(gains, pair, places, by_rank, *counts[draw], levels)
                    for level in range(thresholds):
                        slopes[:, model, query, pair, level] += (levels[level + 1] - levels[level]) / draws
            for metric in range(4):
                mean[metric, model, query] = values[:, metric].mean()
                linear = _linear(slopes[metric, model, query], drawn[query], asked, thresholds)
                curvature[metric, model, query] = np.var(values[:, metric] - linear)
    return mean, slopes, curvature


@njit(cache=True)
def _force(gains, pair, places, by_rank, positives, full, levels):
    """Write the metrics with the pair's label at each level, from no match to a full one."""
    kept = gains[pair]
    top = len(levels) - 1
    for level in range(top + 1):
        gains[pair] = level / top
        some = positives - (kept > 0) + (level > 0)
        ones = full - (kept == 1) + (level == top)
        metrics_of_list(gains, places, by_rank, some, ones, levels[level])
    gains[pair] = kept


@njit(cache=True)
def _linear(slopes, drawn, asked, thresholds):
    """Return (S,): the part of a metric that is linear in the labels, in each draw."""
    linear = np.zeros(len(drawn))
    for draw in range(len(drawn)):
        for pair in asked:
            for level in range(thresholds):
                if drawn[draw, pair] * thresholds > level:
                    linear[draw] += slopes[pair, level]
    return linear
