"""Which queries an audit judges whole, and which single pairs are asked beside it, each with its probability."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

ACTIVE = 0.75
"""How far the probabilities of an active audit follow the residuals; the rest is even (formula 8)."""

Floats = NDArray[np.float64]


class AuditOrder(NamedTuple):
    """Attributes:
    order: (N,) places of the queries, in the order in which they are audited.
    inclusion: (N,) each query's share of the audit, with sum 1; ``inclusion_of`` gives the probabilities a.
    """

    order: NDArray[np.int64]
    inclusion: Floats


def audit_order(query_ids: ArrayLike, seed: int, weights: ArrayLike | None = None) -> AuditOrder:
    """Draw the order in which whole queries are audited. A longer audit continues the list.

    Each query has a uniform random number, divided by its weight, and the least come first (sequential Poisson
    sampling, Ohlsson 1998). The numbers belong to the sorted ids, so the order of ``query_ids`` decides nothing.

    Args:
        query_ids: (N,) distinct.
        seed: of the draw; keep it with the judgments.
        weights: (N,) above 0, known before any label of the query (default: all equal).

    Raises ValueError for repeated ids and for weights that are not above 0.
    """
    ids = np.asarray(query_ids)
    distinct, place = np.unique(ids, return_inverse=True)
    if len(distinct) < len(ids):
        raise ValueError(f"{len(ids) - len(distinct)} query ids are repeated.")
    share = np.ones(len(ids)) if weights is None else np.asarray(weights, np.float64)
    if share.shape != ids.shape or not (share > 0).all():
        raise ValueError("Every query needs a weight above 0.")
    numbers = np.random.default_rng(seed).random(len(ids))[place]
    return AuditOrder(np.argsort(numbers / share, kind="stable"), share / share.sum())


def inclusion_of(share: ArrayLike, audited: float) -> Floats:
    """Return the probabilities (N,) that an audit of so many queries holds each: proportional to ``share``, at most 1.

    >>> inclusion_of([0.5, 0.25, 0.25], 2)
    array([1. , 0.5, 0.5])
    """
    return _filled(np.asarray(share, np.float64), audited)


def active_weights(curvature: ArrayLike, variances: ArrayLike, pairs: ArrayLike) -> Floats:
    """Return the weights (Q,) of an active audit: queries whose metric is hard to predict, by their cost (formula 8).

    Args:
        curvature: (K, M, Q) of ``expected_metric``.
        variances: (K, M) of each metric over queries, from a pilot.
        pairs: (Q,) pairs to ask in each query.
    """
    worth = np.asarray(curvature, np.float64) / np.asarray(variances, np.float64)[..., None]
    root = np.sqrt(worth.sum(axis=(0, 1)) / np.maximum(np.asarray(pairs, np.float64), 1))
    mean = root.mean()
    return np.full(len(root), 1.0) if mean == 0 else 1 - ACTIVE + ACTIVE * root / mean


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
    return _filled(share.ravel(), budget).reshape(share.shape)


def _filled(share: Floats, total: float) -> Floats:
    """Return min(1, c · share) with the c that makes the sum ``total``, or as much as there is."""
    most = int((share > 0).sum())
    if total >= most:
        return (share > 0).astype(np.float64)
    found = np.zeros(len(share))
    certain = np.zeros(len(share), bool)
    while True:
        rest = np.where(certain, 0.0, share)
        found = np.where(certain, 1.0, rest * (total - certain.sum()) / rest.sum())
        if not (found > 1).any():
            return found
        certain |= found >= 1
