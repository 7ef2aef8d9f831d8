"""Metrics of rankings against judgments, and scores of models on exported versions of a dataset, in NumPy.

One query, or the mean over many:

>>> import counterpart_metrics as metrics
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

A model's file of rankings on an exported version, as the site's command ``evaluate`` scores it:

    scores = metrics.evaluate("rankings.json", metrics.ExportedVersion.read("export/"))
    scores["rankings"].figures["i2t"]["mAP@R"].value

A value for each query, for statistics and many metrics at once:

>>> found = metrics.find(metrics.Rankings.of({7: [3, 1], 8: [2, 1]}), metrics.Qrels.of({7: {3}, 8: {1}}))
>>> metrics.METRICS["R@1"](found)
array([1., 0.])
"""

from collections.abc import Mapping

from counterpart_metrics import binary, graded, unjudged
from counterpart_metrics.arrays import Qrels, Rankings, within
from counterpart_metrics.binary import (
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
from counterpart_metrics.coverage import Coverage, coverage
from counterpart_metrics.errors import CounterpartError
from counterpart_metrics.exported import ExportedVersion
from counterpart_metrics.figures import Figure
from counterpart_metrics.found import Found, RepeatedItemError, find
from counterpart_metrics.named_benchmarks import BENCHMARKS, positives, score
from counterpart_metrics.plausible import Plausible, plausible_matches, plausible_precision
from counterpart_metrics.policies import Policies
from counterpart_metrics.scorer import SCORED, Scores, evaluate
from counterpart_metrics.ties import Names, by_score, tie_extremes, tie_interval
from counterpart_metrics.truncation import check_depth, open_extremes, open_interval
from counterpart_metrics.unjudged import condensed

ALL_METRICS: Mapping[str, Metric] = {**METRICS, **binary.MORE, **graded.METRICS, **unjudged.METRICS}

__all__ = [
    "ALL_METRICS",
    "BENCHMARKS",
    "METRICS",
    "SCORED",
    "CounterpartError",
    "Coverage",
    "ExportedVersion",
    "Figure",
    "Found",
    "Mean",
    "Metric",
    "Names",
    "Plausible",
    "Policies",
    "Qrels",
    "Rankings",
    "RepeatedItemError",
    "Scores",
    "WithoutPositives",
    "by_score",
    "check_depth",
    "condensed",
    "coverage",
    "evaluate",
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
