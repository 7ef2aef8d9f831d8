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


def guarded_round(bed: Bed, *, share: float, audit: float, seed: int, batches: int = 5) -> Guarded:
    """Judge ``share`` of the pairs: whole random queries for ``audit`` of them, then the likeliest matches, in batches
    after each of which the probabilities are learned again."""
    order = audit_order(np.arange(len(bed.groups)), seed).order
    budget = share * bed.pairs.sum()
    audited = np.zeros(len(order), bool)
    audited[order[: np.searchsorted(np.cumsum(bed.pairs[order]), audit * budget) + 1]] = True
    whole = bed.asked & audited[:, None]
    features = pair_features(bed.ranks[: len(bed.scores)], bed.scores, DEPTH)
    folds = folds_of(bed.groups, seed=seed)
    opened = np.zeros(bed.asked.shape, bool)
    left = max(int(budget - bed.pairs[audited].sum()), 1)
    for batch in range(batches):
        p = match_probability(features, np.where(whole | opened, bed.gains > 0, np.nan), folds)
        size = left * (batch + 1) // batches - left * batch // batches
        opened |= _next(np.where(bed.asked & ~opened, p, -1.0), whole, size)
    p = match_probability(features, np.where(whole | opened, bed.gains > 0, np.nan), folds)
    seen = opened | whole
    known = np.where(opened, bed.gains, bed.known)
    tau = query_effect(p, np.where(whole, bed.gains > 0, np.nan), audited)
    proxy = expected_metric(bed.ranks, p, known, tau, seed=seed).mean
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


def _next(probability: Floats, judged: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
    """Return the likeliest pairs (those at -1 aside) until ``size`` of them are not judged. The order comes to pairs of
    audited queries too: the proxy knows the same labels of all queries (formula 12)."""
    ordered = np.argsort(-probability, axis=None, kind="stable")[: int((probability >= 0).sum())]
    until = np.searchsorted(np.cumsum(~judged.ravel()[ordered]), size) + 1
    found = np.zeros(probability.size, bool)
    found[ordered[:until]] = True
    return found.reshape(probability.shape)
