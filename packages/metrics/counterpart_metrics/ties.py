"""Items with equal scores: in one of the known orders, or the interval of a metric over all of their orders."""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from counterpart_metrics.arrays import NO_ITEM, Floats, Integers, Qrels, Rankings
from counterpart_metrics.binary import Metric
from counterpart_metrics.found import Found, find
from counterpart_metrics.ids import sort_key

Ties = Literal["counterpart", "trec"]
ORDERS: tuple[Ties, ...] = get_args(Ties)
Names = Callable[[Integers], NDArray]
BLOCK = 2**22  # entries that are sorted at a time


def by_score(rankings: Rankings, ties: Ties = "counterpart", names: Names = lambda ids: ids.astype(str)) -> Rankings:
    """Return the rankings by falling score.

    Args:
        ties: of equal scores the item with the smaller name comes first, numbers by size and before texts
            (``counterpart``), or the larger as text, scores rounded to float32 (``trec``, as trec_eval does).
        names: of items, as texts; their decimal digits by default.

    Raises:
        ValueError: for rankings without scores.

    >>> tied = Rankings(np.array([1]), np.array([[12, 9, 11]]), np.array([[0.5, 0.9, 0.5]]))
    >>> by_score(tied).items, by_score(tied, "trec").items
    (array([[ 9, 11, 12]]), array([[ 9, 12, 11]]))
    """
    if ties not in ORDERS:
        raise ValueError(f"Unknown order of ties {ties!r}; choose {' or '.join(ORDERS)}.")
    ids, places = np.unique(rankings.items, return_inverse=True)
    texts = names(ids).tolist()
    key = np.empty(len(ids), np.int64)
    if ties == "counterpart":
        key[sorted(range(len(ids)), key=lambda place: sort_key(texts[place]))] = np.arange(len(ids))
        return _sorted(rankings, key[places].reshape(rankings.items.shape))
    key[sorted(range(len(ids)), key=texts.__getitem__, reverse=True)] = np.arange(len(ids))
    rounded = None if rankings.scores is None else rankings.scores.astype(np.float32)
    return _sorted(rankings, key[places].reshape(rankings.items.shape), rounded)


def tie_interval(metric: Metric, rankings: Rankings, qrels: Qrels) -> tuple[Floats, Floats]:
    """Return the metric's smallest and largest value over all orders of items with equal scores, (Q,) each.

    For every metric but infAP, which may rise when a match moves down. Raises as ``find`` and ``by_score`` do.

    >>> tied = Rankings(np.array([1]), np.array([[7, 8]]), np.array([[0.5, 0.5]]))
    >>> from counterpart_metrics import METRICS
    >>> tie_interval(METRICS["R@1"], tied, Qrels.of({1: {8}}))
    (array([0.]), array([1.]))
    """
    one, other = (metric(found) for found in tie_extremes(rankings, qrels))
    return np.fmin(one, other), np.fmax(one, other)


def tie_extremes(rankings: Rankings, qrels: Qrels) -> tuple[Found, Found]:
    """Return the judged items' ranks if matches come first among equal scores, and if they come last.

    Raises as ``find`` and ``by_score`` do.
    """
    as_listed = find(rankings, qrels)
    key = np.zeros(rankings.items.shape)  # -gain: a match; 0: not judged; 1: no match
    listed = as_listed.ranks > 0
    row = np.searchsorted(rankings.queries, qrels.queries)[qrels.rows[listed]]
    gains = qrels.gains[listed]
    key[row, as_listed.ranks[listed] - 1] = np.where(gains > 0, -gains, gains == 0)
    return find(_sorted(rankings, key), qrels), find(_sorted(rankings, -key), qrels)


def _sorted(rankings: Rankings, key: NDArray, scores: NDArray | None = None) -> Rankings:
    """Sort by falling score, then by rising key (Q, depth)."""
    if rankings.scores is None:
        raise ValueError("These rankings have no scores, so nothing is known of ties.")
    scores = rankings.scores if scores is None else scores
    if np.isnan(scores[rankings.items != NO_ITEM]).any():
        raise ValueError("Some scores are not numbers (NaN).")
    items = np.empty_like(rankings.items)
    new = np.empty_like(rankings.scores)
    rows = max(1, BLOCK // max(1, rankings.items.shape[1]))
    for at in range(0, len(items), rows):
        part = slice(at, at + rows)
        after = rankings.items[part] == NO_ITEM
        order = np.lexsort((key[part], -scores[part], after), axis=-1)
        items[part] = np.take_along_axis(rankings.items[part], order, 1)
        new[part] = np.take_along_axis(rankings.scores[part], order, 1)
    return Rankings(rankings.queries, items, new)
