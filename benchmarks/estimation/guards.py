"""A greedy order with an audit as its guard: what the benchmark says, and what the audit says of it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.estimation.beds import DEPTH, Bed
from counterpart_statistics.estimation import METRICS, Guard, audit_order, estimate, guard_report, pool_metrics
from counterpart_statistics.pair_codes import pair_codes
from counterpart_statistics.selection.pooled_queries import PooledQueries, WholeQueries
from counterpart_statistics.selection.selection_replay import selection_steps

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Guarded:
    """One replay: the share of the matches that were found, the benchmark's figures (K, M) with unjudged pairs as no
    matches, those of the guarded estimates, and what the guard reports of mAP@R."""

    found: float
    benchmark: Floats
    estimated: Floats
    report: list[Guard]


def round_of(bed: Bed, seed: int) -> WholeQueries:
    """Return a testbed as the judged queries of a finished round of this seed, of which no audit has drawn any."""
    rows, places = np.indices(bed.items.shape)
    items = np.where(bed.items < 0, bed.items.max() + 1 + places, bed.items)  # unused places have codes of their own
    queries = PooledQueries(
        bed.models,
        bed.ranks,
        bed.scores,
        DEPTH,
        np.where(bed.gains > 0, 1.0, 4.0),
        bed.known,
        codes=pair_codes(rows, items),
        keys=tuple(map(str, range(len(bed.groups)))),
        images=bed.groups,
    )
    return WholeQueries(
        bed.name,
        "i2t",
        seed,
        queries,
        np.full(len(bed.groups), -1),
        frozenset(bed.models),
        np.zeros(bed.gains.shape, bool),
    )


def guarded_round(bed: Bed, *, share: float, audit: float, seed: int, batches: int = 5, part: int = 0) -> Guarded:
    """Judge ``share`` of the pairs: whole random queries for ``audit`` of them, then the likeliest matches, in batches
    after each of which the probabilities are learned again.

    ``part``: which part of the draw is audited. The parts of one seed have no query in common, so that what one of them
    hits by chance does not come back in the next: the mean over all parts shows the bias.
    """
    order = audit_order(np.arange(len(bed.groups)), seed).order
    budget = share * bed.pairs.sum()
    before = np.cumsum(bed.pairs[order]) - bed.pairs[order]
    drawn = order[before // (audit * budget) == part]
    left = max(int(budget - bed.pairs[drawn].sum()), 1)
    sizes = np.diff(left * np.arange(batches + 1) // batches).tolist()
    *_, last = selection_steps([round_of(bed, seed).drawing(map(str, drawn))], sizes)
    (whole,) = last.wholes
    estimates = {
        cell: estimate(whole.metrics[cell], whole.proxy[cell], whole.audited, whole.audited.mean())
        for cell in np.ndindex(whole.metrics.shape[:2])
    }
    benchmark = pool_metrics(bed.ranks, np.nan_to_num(whole.queries.gains)).mean(axis=2)
    of_map = [estimates[METRICS.index("mAP@R"), model] for model in range(len(bed.models))]
    return Guarded(
        last.likely.found / (bed.gains[bed.asked] > 0).sum(),
        benchmark,
        np.array([one.value for one in estimates.values()]).reshape(benchmark.shape),
        guard_report(benchmark[0], of_map),
    )
