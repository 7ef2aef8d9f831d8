"""Metrics of models from the labels of a pool's pairs, in arrays padded to the largest query.

A query has J places for pairs; unused places have gain 0 and rank ``UNLISTED``. A query without a match scores 0.
Gains are 1 for a full match, 0.5 for a partial one, 0 for none (ECCV Caption, equation E.4); the first three metrics
count every gain above 0 as a match.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

METRICS = ("mAP@R", "R-Precision", "R@1", "graded mAP@R")
UNLISTED = 10**6
"""The rank of an item that a list does not hold: beyond every R."""

Floats = NDArray[np.float64]


def pool_metrics(ranks: ArrayLike, gains: ArrayLike) -> Floats:
    """Return (K, M, Q): the ``METRICS`` of M models, query by query, as ``counterpart_metrics`` defines them.

    Args:
        ranks: (M, Q, J) place of each pair's item in the model's list of the query, from 1.
        gains: (Q, J).

    >>> pool_metrics([[[1, 2, 3]]], [[1, 0, 0.5]])[:, 0, 0]
    array([0.5, 0.5, 1. , 0.5])
    """
    from counterpart_statistics.estimation.kernels import all_metrics

    places = np.asarray(ranks, np.int64)
    labels = np.asarray(gains, np.float64)
    if places.ndim != 3 or places.shape[1:] != labels.shape:
        raise ValueError(f"Ranks {places.shape} do not have the shape (models, *{labels.shape}).")
    return all_metrics(places, np.argsort(places, axis=2, kind="stable"), labels)
