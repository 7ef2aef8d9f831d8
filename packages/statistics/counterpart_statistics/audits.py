"""Which queries an audit judges whole: a random order that a longer audit continues, and the chance of each query."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

STOP_RECALL = 0.95
"""The recall at which batches of likely matches have been measured to stop well: the last matches cost most."""
STOP_BELOW = 0.03
"""How far below it its 95% interval may start: replays that looked at the estimate alone stopped at 0.86 at worst."""

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


class AuditOrder(NamedTuple):
    """The order in which queries are audited, and their chances.

    Attributes:
        order: (N,) places of the queries, the first to be audited first.
        inclusion: (N,) each query's share of the audit, with sum 1; ``inclusion_of`` gives the probabilities a.
    """

    order: Codes
    inclusion: Floats


def audit_order(query_ids: ArrayLike, seed: int | Sequence[int], weights: ArrayLike | None = None) -> AuditOrder:
    """Draw the order in which whole queries are audited. A longer audit continues the list.

    Each query has a uniform random number, divided by its weight, and the least come first (sequential Poisson
    sampling, Ohlsson 1998). The numbers belong to the sorted ids, so the order of ``query_ids`` decides nothing.

    Args:
        query_ids: (N,) distinct.
        seed: of the draw, one number or several; keep it with the judgments.
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
    """Return min(1, c · share), (N,), with the c that makes the sum ``audited``, or as much as there is: the
    probabilities that an audit of ``audited`` queries holds each.

    >>> inclusion_of([0.5, 0.25, 0.25], 2)
    array([1. , 0.5, 0.5])
    """
    wanted = np.asarray(share, np.float64)
    if audited >= (wanted > 0).sum():
        return (wanted > 0).astype(np.float64)
    certain = np.zeros(len(wanted), bool)
    while True:
        rest = np.where(certain, 0.0, wanted)
        found = np.where(certain, 1.0, rest * (audited - certain.sum()) / rest.sum())
        if not (found > 1).any():
            return found
        certain |= found >= 1
