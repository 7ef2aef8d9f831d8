"""A greedy order with an audit as its guard: what the benchmark says, and what the audit says of it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.estimation.beds import DEPTH, Bed
from evaluation.estimation import (
    METRICS,
    Guard,
    audit_order,
    estimate,
    expected_metric,
    folds_of,
    guard_report,
    match_probability,
    pair_features,
    pool_metrics,
    query_effect,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Guarded:
    """One replay: the share of the matches that were found, the benchmark's figures (K, M) with unjudged pairs as no
    matches, those of the guarded estimates, and what the guard reports of mAP@R."""

    found: float
    benchmark: Floats
    estimated: Floats
    report: list[Guard]


def guarded_round(bed: Bed, *, share: float, audit: float, seed: int) -> Guarded:
    """Judge ``share`` of the pairs: whole random queries for ``audit`` of them, then the likeliest matches."""
    order = audit_order(np.arange(len(bed.groups)), seed).order
    budget = share * bed.pairs.sum()
    audited = np.zeros(len(order), bool)
    audited[order[: np.searchsorted(np.cumsum(bed.pairs[order]), audit * budget) + 1]] = True
    labels = np.where(bed.asked & audited[:, None], bed.gains > 0, np.nan)
    features = pair_features(bed.ranks[: len(bed.scores)], bed.scores, DEPTH)
    p = match_probability(features, labels, folds_of(bed.groups, seed=seed))
    free = bed.asked & ~audited[:, None]
    left = max(int(budget - bed.pairs[audited].sum()), 1)
    least = np.sort(p[free])[::-1][left - 1]
    greedy = free & (p >= least)
    seen = greedy | (bed.asked & audited[:, None])
    # In audited queries too, the proxy knows only what the greedy order would have opened (formula 12).
    opened = bed.asked & (p >= least)
    known = np.where(opened, bed.gains, bed.known)
    proxy = expected_metric(bed.ranks, p, known, query_effect(p, labels, audited), seed=seed).mean
    metrics = bed.metrics
    estimates = {
        cell: estimate(metrics[cell], proxy[cell], audited, audited.mean()) for cell in np.ndindex(metrics.shape[:2])
    }
    benchmark = pool_metrics(bed.ranks, np.where(bed.asked & ~seen, 0.0, bed.gains)).mean(axis=2)
    of_map = [estimates[METRICS.index("mAP@R"), model] for model in range(len(bed.models))]
    return Guarded(
        (bed.gains[seen] > 0).sum() / (bed.gains[bed.asked] > 0).sum(),
        benchmark,
        np.array([one.value for one in estimates.values()]).reshape(benchmark.shape),
        guard_report(benchmark[0], of_map),
    )
