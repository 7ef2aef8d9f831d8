"""Lists that end early: the depth that is missing, or the interval of a metric that they leave open."""

import numpy as np

from counterpart_metrics.arrays import Floats, Mask
from counterpart_metrics.binary import Metric
from counterpart_metrics.found import Found


def check_depth(found: Found, depth: int | None = None) -> None:
    """Raise ValueError that names the missing depth, if lists end before rank ``depth`` (default: each query's R).

    A list that holds all judged items of its query is never too short.
    """
    wanted = found.qrels.positives if depth is None else np.where(found.qrels.positives > 0, depth, 0)
    unlisted = np.bincount(found.qrels.rows[found.ranks == 0], minlength=len(found.lengths))
    missing = (wanted > found.lengths) & (unlisted > 0)
    if missing.any():
        most = int((wanted - found.lengths)[missing].max())
        raise ValueError(
            f"{missing.sum()} lists end too early: up to {most} entries are missing, rank {wanted[missing].max()} is "
            "needed. Rank deeper, or use open_interval."
        )


def open_interval(metric: Metric, found: Found) -> tuple[Floats, Floats]:
    """Return the smallest and largest value that a metric may have once lists that end early go on, (Q,) each.

    For every metric but infAP. The unlisted matches follow at once, the fullest first, or never; likewise the items
    judged no match.

    >>> from counterpart_metrics import METRICS, Qrels, Rankings, find
    >>> found = find(Rankings.of({1: [7, 8]}), Qrels.of({1: {8, 9, 10}}))
    >>> open_interval(METRICS["R-Precision"], found)
    (array([0.33333333]), array([0.66666667]))
    """
    one, other = (metric(each) for each in open_extremes(found))
    return np.fmin(one, other), np.fmax(one, other)


def open_extremes(found: Found) -> tuple[Found, Found]:
    """Return the judged items' ranks if the unlisted matches follow at once, and if the items judged no match do."""
    return _continued(found, found.qrels.matches), _continued(found, found.qrels.gains == 0)


def _continued(found: Found, mask: Mask) -> Found:
    """Return the same lists, gone on with the unlisted items in ``mask``."""
    more = np.flatnonzero((found.ranks == 0) & mask)
    rows = found.qrels.rows[more]
    order = np.lexsort((-found.qrels.gains[more], rows))
    more = more[order]
    rows = rows[order]
    ranks = found.ranks.copy()
    ranks[more] = found.lengths[rows] + 1 + np.arange(len(rows)) - np.searchsorted(rows, rows)
    return Found(found.qrels, ranks, found.lengths + np.bincount(rows, minlength=len(found.lengths)))
