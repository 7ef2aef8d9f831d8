"""Graded metrics: a full match has gain 1, a partial one 0.5, others 0 (levels 1 to 4: 1, 0.5, 0, 0; eq. E.4).
The label ``graded`` of exported versions is twice the gain.

Where all gains are 1 or 0 each equals the binary metric of its name. NaN for a query without a match.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np

from counterpart_metrics.arrays import Floats, Integers
from counterpart_metrics.binary import Metric, shares
from counterpart_metrics.found import Found


def graded_hit_rate(found: Found, k: int) -> Floats:
    """Graded R@k: the largest gain among the first ``k`` items."""
    best = np.zeros(len(found.qrels.queries))
    within = found.qrels.matches & (found.ranks > 0) & (found.ranks <= k)
    np.maximum.at(best, found.qrels.rows[within], found.qrels.gains[within])
    return np.where(found.qrels.positives > 0, best, np.nan)


def graded_precision_at_r(found: Found) -> Floats:
    """Graded R-Precision: the gains among the first R items, by the gains of all R matches."""
    rows = found.qrels.rows
    gains = found.qrels.gains
    size = found.qrels.positives
    within = found.qrels.matches & (found.ranks > 0) & (found.ranks <= size[rows])
    return shares(
        np.bincount(rows[within], gains[within], minlength=len(size)),
        np.bincount(rows[found.qrels.matches], gains[found.qrels.matches], minlength=len(size)),
    )


def average_weighted_precision_at_r(found: Found) -> Floats:
    """Graded mAP@R: the mean over the first R ranks of cg(r) / cg*(r) where the item at r is a match, else 0.

    cg(r) is the sum of the gains up to rank r, cg* that of the best order: average weighted precision (Kando et al.
    2001; Sakai 2005), cut at R as mAP@R is.
    """
    size = found.qrels.positives
    order = found.ordered[found.qrels.matches[found.ordered]]
    rows = found.qrels.rows[order]
    ranks = found.ranks[order]
    reached = _running(found.qrels.gains[order], rows)
    best, starts = _ideal(found)
    best_rows = found.qrels.rows[found.qrels.matches]
    ideal = _running(best, best_rows)
    within = ranks <= size[rows]
    values = reached[within] / ideal[starts[rows[within]] + ranks[within] - 1]
    return shares(np.bincount(rows[within], values, minlength=len(size)), size.astype(np.float64))


def ndcg(found: Found, k: int | None = None) -> Floats:
    """nDCG: gains by log2(rank + 1), up to rank ``k`` if given, by those of the best order (as trec_eval)."""
    rows = found.qrels.rows
    ranks = found.ranks
    counted = found.qrels.matches & (ranks > 0) & (ranks <= (k or np.inf))
    n = len(found.qrels.queries)
    reached = np.bincount(rows[counted], found.qrels.gains[counted] / np.log2(ranks[counted] + 1), minlength=n)
    best, starts = _ideal(found)
    best_rows = rows[found.qrels.matches]
    nth = 1 + np.arange(len(best)) - starts[best_rows]
    used = nth <= (k or np.inf)
    return shares(reached, np.bincount(best_rows[used], best[used] / np.log2(nth[used] + 1), minlength=n))


METRICS: Mapping[str, Metric] = {
    **{f"graded R@{k}": partial(graded_hit_rate, k=k) for k in (1, 5, 10)},
    "graded R-Precision": graded_precision_at_r,
    "graded mAP@R": average_weighted_precision_at_r,
    "nDCG": ndcg,
    "nDCG@10": partial(ndcg, k=10),
}


def _ideal(found: Found) -> tuple[Floats, Integers]:
    """Return the gains of all matches by query, largest first, and where each query's begin (Q,)."""
    rows = found.qrels.rows[found.qrels.matches]
    gains = found.qrels.gains[found.qrels.matches]
    best = gains if (gains == 1).all() else gains[np.lexsort((-gains, rows))]
    return best, np.searchsorted(rows, np.arange(len(found.qrels.queries)))


def _running(gains: Floats, rows: Integers) -> Floats:
    """Running sums within each row; rows ascend."""
    sums = np.cumsum(gains)
    first = np.searchsorted(rows, rows)
    return sums - np.where(first > 0, sums[first - 1], 0.0)
