"""Metrics where many items were never judged: these are left out (condensed lists, bpref) or estimated (infAP)."""

from collections.abc import Mapping

import numpy as np

from counterpart_metrics.arrays import Floats
from counterpart_metrics.binary import Metric, shares
from counterpart_metrics.found import Found

SMOOTHING = 0.00001  # of infAP, as in trec_eval


def condensed(found: Found) -> Found:
    """Return the ranks in lists without the unjudged items (Sakai 2007); any metric applies to them.

    >>> from counterpart_metrics import METRICS, Qrels, Rankings, find
    >>> found = find(Rankings.of({1: [9, 8, 7, 6]}), Qrels.of({1: {7: 1.0, 6: 0.0}}))
    >>> METRICS["R@1"](found), METRICS["R@1"](condensed(found))
    (array([0.]), array([1.]))
    """
    judged = ~np.isnan(found.qrels.gains)
    order = found.ordered[judged[found.ordered]]
    ranks = np.zeros_like(found.ranks)
    ranks[order] = 1 + found.above(judged)[judged[found.ordered]]
    return Found(found.qrels, ranks, np.bincount(found.qrels.rows[order], minlength=len(found.lengths)))


def bpref(found: Found) -> Floats:
    """bpref: how seldom items judged no match rank above matches (Buckley and Voorhees 2004; as trec_eval).

    The sum over listed matches of 1 - min(n, R) / min(N, R), by R: n items judged no match rank above, N exist.
    """
    qrels = found.qrels
    negative = found.qrels.gains == 0
    rows = qrels.rows[found.ordered]
    negatives = np.bincount(qrels.rows[negative], minlength=len(qrels.queries))
    above = found.above(negative)
    bound = np.minimum(negatives, qrels.positives)[rows]
    values = 1 - np.minimum(above, qrels.positives[rows]) / np.maximum(bound, 1)
    return _mean_over_matches(found, np.where(above > 0, values, 1.0))


def inferred_average_precision(found: Found) -> Floats:
    """infAP: average precision estimated from a judged sample of the pool (Yilmaz and Aslam 2006; as trec_eval).

    Items with gain NaN are in the pool and were not judged; items without an entry are outside and count as wrong.
    """
    matches = found.qrels.matches
    negative = found.qrels.gains == 0
    unjudged = np.isnan(found.qrels.gains)
    rank = found.ranks[found.ordered].astype(np.float64)
    right, wrong, open_ = (found.above(mask) for mask in (matches, negative, unjudged))
    share = (right + SMOOTHING) / (right + wrong + 2 * SMOOTHING)
    return _mean_over_matches(found, 1 / rank + (right + wrong + open_) / rank * share)


METRICS: Mapping[str, Metric] = {"bpref": bpref, "infAP": inferred_average_precision}


def _mean_over_matches(found: Found, values: Floats) -> Floats:
    """Return the sum of ``values`` (len(ordered),) over listed matches, by the number of all matches."""
    matches = found.qrels.matches[found.ordered]
    sums = np.bincount(found.qrels.rows[found.ordered][matches], values[matches], minlength=len(found.qrels.queries))
    return shares(sums, found.qrels.positives)
