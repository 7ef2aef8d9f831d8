"""What a metric is worth in expectation while labels are missing, and how much each label would change it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterpart_statistics.estimation.probabilities import shift_logits

Floats = NDArray[np.float64]


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

    if draws < 2 or draws % 2:
        raise ValueError(f"Invalid number of draws {draws}: use an even number from 2.")
    places = np.asarray(ranks, np.int64)
    labels = np.asarray(known, np.float64)
    p = np.asarray(probabilities, np.float64)
    thresholds = p[..., None] if p.ndim == 2 else p
    drawn = _draw(thresholds, labels, tau, draws, np.random.default_rng(seed))
    order = np.argsort(places, axis=2, kind="stable")
    return Expected(*expectations(places, order, drawn, np.isnan(labels), thresholds.shape[2]))


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
