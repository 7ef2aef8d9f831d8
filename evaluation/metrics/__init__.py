"""Metrics of rankings against judgments, in NumPy; nothing here needs Django.

One query, or the mean over many:

>>> from evaluation import metrics
>>> metrics.map_at_r(["a", "x", "b"], {"a", "b", "c"})
0.5555555555555555
>>> metrics.recall_at_k({7: [3, 1], 8: [2, 1]}, {7: {3}, 8: {1}}, k=1)
0.5

A value for each query, for statistics and many metrics at once:

>>> found = metrics.find(metrics.Rankings.of({7: [3, 1], 8: [2, 1]}), metrics.Qrels.of({7: {3}, 8: {1}}))
>>> metrics.METRICS["R@1"](found)
array([1., 0.])
"""

from evaluation.metrics.binary import (
    METRICS,
    Mean,
    Metric,
    WithoutPositives,
    map_at_r,
    mean_over_queries,
    r_precision,
    recall_at_k,
)
from evaluation.metrics.coverage import Coverage, coverage
from evaluation.metrics.found import Found, Qrels, Rankings, find

__all__ = [
    "METRICS",
    "Coverage",
    "Found",
    "Mean",
    "Metric",
    "Qrels",
    "Rankings",
    "WithoutPositives",
    "coverage",
    "find",
    "map_at_r",
    "mean_over_queries",
    "r_precision",
    "recall_at_k",
]
