"""Metrics of rankings against judgments, in NumPy; nothing here needs Django.

One query, or the mean over many:

>>> from evaluation import metrics
>>> metrics.map_at_r(["a", "x", "b"], {"a", "b", "c"})
0.5555555555555555
>>> metrics.recall_at_k({7: [3, 1], 8: [2, 1]}, {7: {3}, 8: {1}}, k=1)
0.5

A model on a named benchmark, from its similarities (rows are queries, here captions, with COCO's ids):

>>> import numpy as np
>>> captions, images = (metrics.positives(name)[side].queries for name, side in [("eccv", "t2i"), ("coco-5k", "i2t")])
>>> similarity = np.random.default_rng(0).random((len(captions), len(images)), np.float32)  # a model's, in its place
>>> ranked = metrics.Rankings.of_similarity(similarity, queries=captions, items=images)
>>> round(metrics.score({"t2i": ranked}, "eccv")["eccv"]["R@1"]["t2i"], 3)
0.002

A value for each query, for statistics and many metrics at once:

>>> found = metrics.find(metrics.Rankings.of({7: [3, 1], 8: [2, 1]}), metrics.Qrels.of({7: {3}, 8: {1}}))
>>> metrics.METRICS["R@1"](found)
array([1., 0.])
"""

from collections.abc import Mapping

from evaluation.metrics import binary, graded, unjudged
from evaluation.metrics.arrays import Qrels, Rankings, within
from evaluation.metrics.binary import (
    METRICS,
    Mean,
    Metric,
    WithoutPositives,
    map_at_r,
    mean_over_queries,
    mean_rank,
    median_rank,
    pmrp,
    r_precision,
    recall_at_k,
    success_at_k,
)
from evaluation.metrics.coverage import Coverage, coverage
from evaluation.metrics.found import Found, RepeatedItemError, find
from evaluation.metrics.named_benchmarks import BENCHMARKS, positives, score
from evaluation.metrics.plausible import Plausible, plausible_matches, plausible_precision
from evaluation.metrics.ties import Names, by_score, tie_extremes, tie_interval
from evaluation.metrics.truncation import check_depth, open_extremes, open_interval
from evaluation.metrics.unjudged import condensed

ALL_METRICS: Mapping[str, Metric] = {**METRICS, **binary.MORE, **graded.METRICS, **unjudged.METRICS}

__all__ = [
    "ALL_METRICS",
    "BENCHMARKS",
    "METRICS",
    "Coverage",
    "Found",
    "Mean",
    "Metric",
    "Names",
    "Plausible",
    "Qrels",
    "Rankings",
    "RepeatedItemError",
    "WithoutPositives",
    "by_score",
    "check_depth",
    "condensed",
    "coverage",
    "find",
    "map_at_r",
    "mean_over_queries",
    "mean_rank",
    "median_rank",
    "open_extremes",
    "open_interval",
    "plausible_matches",
    "plausible_precision",
    "pmrp",
    "positives",
    "r_precision",
    "recall_at_k",
    "score",
    "success_at_k",
    "tie_extremes",
    "tie_interval",
    "within",
]
