"""Metrics of models from the labels of a pool's pairs, in arrays padded to the largest query: known or in expectation,
how much each label would change them, and which pairs are asked by themselves.

A query has J places for pairs; unused places have gain 0 and rank ``UNLISTED``. A query without a match scores 0.
Gains are 1 for a full match, 0.5 for a partial one, 0 for none (ECCV Caption, equation E.4); the first three metrics
count every gain above 0 as a match.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterpart_statistics.audits import inclusion_of
from counterpart_statistics.estimation.probabilities import shift_logits

METRICS = ("mAP@R", "R-Precision", "R@1", "graded mAP@R")
UNLISTED = 10**6
"""The rank of an item that a list does not hold: beyond every R."""

Floats = NDArray[np.float64]


def pool_metrics(ranks: ArrayLike, gains: ArrayLike) -> Floats:
    """Return (K, M, Q): the ``METRICS`` of M models, query by query, as ``counterpart_metrics`` defines them.

    Args:
        ranks: (M, Q, J) place of each pair's item in the model's list of the query, from 1.
        gains: (Q, J).

    Raises ValueError for other shapes, ranks below 1 or shared by items of one list, and gains not from 0 to 1.

    >>> pool_metrics([[[1, 2, 3]]], [[1, 0, 0.5]])[:, 0, 0]
    array([0.5, 0.5, 1. , 0.5])
    """
    from counterpart_statistics.estimation.kernels import all_metrics

    places = np.asarray(ranks, np.int64)
    labels = np.asarray(gains, np.float64)
    if places.ndim != 3 or places.shape[1:] != labels.shape:
        raise ValueError(f"Ranks {places.shape} do not have the shape (models, *{labels.shape}).")
    if not ((labels >= 0) & (labels <= 1)).all():
        raise ValueError("Every gain must be a number from 0 to 1.")
    return np.asarray(all_metrics(places, _order_of(places), labels))


def _order_of(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the order of ranks (M, Q, J) along the last axis. Raises ValueError for ranks below 1, and for items of
    one list that share a rank; those beyond it all have ``UNLISTED``."""
    order = np.argsort(places, axis=2, kind="stable")
    ranked = np.take_along_axis(places, order, axis=2)
    if ranked.size and ranked[..., 0].min() < 1:
        raise ValueError(f"Rank {ranked[..., 0].min()}: ranks count from 1.")
    tied = (np.diff(ranked, axis=2) == 0) & (ranked[..., 1:] < UNLISTED)
    if tied.any():
        raise ValueError(f"Rank {ranked[..., 1:][tied][0]} is that of several items of one list: break ties first.")
    return order


class Expected(NamedTuple):
    """Of the K metrics of ``pool_metrics``, for M models and Q queries of J pairs with T thresholds each.

    Attributes:
        mean: (K, M, Q) g, the expected metric (formula 3).
        slopes: (K, M, Q, J, T) D, by how much a label that passes the threshold raises it (formula 4); 0 where known.
        curvature: (K, M, Q) ν, the variance over the draws of the metric minus its linear part (formula 8).
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
    from counterpart_statistics.estimation.kernels import expectations

    places = np.asarray(ranks, np.int64)
    drawn = _draw(probabilities, known, tau, draws, seed)
    order = _order_of(places)
    thresholds = np.shape(probabilities)[2] if np.ndim(probabilities) == 3 else 1
    return Expected(*expectations(places, order, drawn, np.isnan(np.asarray(known, np.float64)), thresholds))


def expected_mean(
    ranks: ArrayLike, probabilities: ArrayLike, known: ArrayLike, tau: float, *, draws: int = 24, seed: int = 0
) -> Floats:
    """Return (K, M, Q): the ``mean`` of ``expected_metric``, bit for bit, for a small part of its work."""
    from counterpart_statistics.estimation.kernels import mean_metrics

    places = np.asarray(ranks, np.int64)
    drawn = _draw(probabilities, known, tau, draws, seed)
    return np.asarray(mean_metrics(places, _order_of(places), drawn))


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


def _draw(probabilities: ArrayLike, labels: ArrayLike, tau: float, draws: int, seed: int) -> Floats:
    """Return gains (Q, S, J): one uniform number a pair passes the first threshold, both or none."""
    if draws < 2 or draws % 2:
        raise ValueError(f"Invalid number of draws {draws}: use an even number from 2.")
    given = np.asarray(probabilities, np.float64)
    known = np.asarray(labels, np.float64)
    thresholds = given[..., None] if given.ndim == 2 else given
    rng = np.random.default_rng(seed)
    queries, pairs, count = thresholds.shape
    half = tau * rng.standard_normal((queries, draws // 2, 1))
    shift = np.concatenate([half, -half], axis=1)
    uniform = rng.random((queries, draws, pairs))
    passed = np.zeros((queries, draws, pairs))
    for threshold in range(count):
        p = np.clip(thresholds[:, None, :, threshold], 1e-9, 1 - 1e-9)
        passed += uniform < shift_logits(p, tau, shift)
    return np.where(np.isnan(known)[:, None], passed / count, known[:, None])
