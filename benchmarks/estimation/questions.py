"""How often the intervals of an audit hold what they are of, and how wide they are, for each of three questions.

A replay draws as many queries as the testbed has, with replacement, and audits the first ones. ``these`` asks for the
mean of all that were drawn, ``like`` for that of the testbed, which they were drawn from, and ``wide`` for the mean of
all that were drawn had the pool been one of more annotators. *Before* is the interval that both had in 0.3.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from benchmarks.estimation.beds import TOP, Bed
from counterpart_statistics.estimation import expected_mean, nested_interval, pool_metrics, score_interval
from counterpart_statistics.estimation.intervals import Interval

SHOWN = 3  # metrics: mAP@R, R-Precision and R@1
WRITTEN = (0, 2)  # of these, in tables: R-Precision is like mAP@R
AUDITED = (30, 60, 100, 150, 300)
TOPPED_UP = (60, 150, 300)
FITS = 5  # fits of the probabilities, each to as many queries as the audit has
NARROW = 3  # annotators behind the pool whose figures are read as those of a wider one
SKEWED = "0 for 95% of queries"
MEANS = {"R@1 0.5": 0.5, "R@1 0.9": 0.9, "R@1 0.95": 0.95, "R@1 0.98": 0.98, SKEWED: 0.025}  # of drawn metrics
DRAWN = 1_000  # queries
TWO = ("these", "like")
BINS = (0.0, 0.5, 2.0, 5.0, 10.0, np.inf)  # of informative queries

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ends = tuple[Floats, Floats]


@dataclass(frozen=True)
class Held:
    """Of R replays: (R, ...) whether each interval held the truth, its width, and whether it warned."""

    held: Flags
    width: Floats
    thin: Flags

    @classmethod
    def of(cls, rows: Iterable[tuple[Ends, Floats, Flags]], scale: Floats) -> "Held":
        """Each replay's ends, truths and warnings; widths are by ``scale``."""
        found = [((low <= truth) & (truth <= high), (high - low) / scale, thin) for (low, high), truth, thin in rows]
        return cls(*map(np.array, zip(*found, strict=True)))

    @property
    def coverage(self) -> Floats:
        """(...) how often each interval held the truth."""
        return np.asarray(self.held.mean(axis=0))


def interval_before(metric: Floats, proxy: Floats, found: Interval, audited: Flags) -> Ends:
    """Return the ends (...) by the spread of e over all queries (formula 6), both questions' in 0.3.

    ``found``: an interval of the same audit, which has the same value and the same β.
    """
    n = audited.sum()
    guess = found.beta[..., None] * proxy
    guess += (metric - guess)[..., audited].mean(axis=-1, keepdims=True)
    each = guess + np.where(audited, (metric - guess) * len(audited) / n, 0.0)
    reach = student.ppf(0.975, n - 1) * each.std(axis=-1, ddof=1) / np.sqrt(len(audited))
    return found.value - reach, found.value + reach


def proxy_of(bed: Bed, seed: int, audited: int) -> Floats:
    """Return the expected metrics (K, M, Q), learned from as many queries as were audited."""
    p, tau, _ = bed.probabilities(seed, audited / len(bed.groups))
    return expected_mean(bed.ranks, p, bed.known, tau, seed=seed)[:SHOWN]


def whole_width(metrics: Floats) -> Floats:
    """Return (K, M): the width of the usual interval of a whole round."""
    return np.asarray(2 * 1.96 * metrics.std(axis=2, ddof=1) / np.sqrt(metrics.shape[2]))


def replayed(metrics: Floats, proxies: Sequence[Floats], n: int, replays: int) -> dict[str, Held]:
    """Return what held of the audits of ``n`` queries, by question: metrics (K, M, Q), and proxies like them that are
    taken in turn. Widths are by those of a whole round."""
    rng = np.random.default_rng(n)
    count = metrics.shape[2]
    audited = np.arange(count) < n
    rows: dict[str, list] = {name: [] for name in ("these", "like", "before: these", "before: like")}
    for number in range(replays):
        drawn = rng.integers(0, count, count)
        metric = metrics[..., drawn]
        proxy = proxies[number % len(proxies)][..., drawn]
        for question, truth in (("these", metric.mean(axis=2)), ("like", metrics.mean(axis=2))):
            found = score_interval(metric, proxy, audited, queries=question)
            rows[question].append(((found.low, found.high), truth, found.is_thin))
            ends = interval_before(metric, proxy, found, audited)
            rows[f"before: {question}"].append((ends, truth, np.full(truth.shape, n < 60)))
    return {name: Held.of(found, whole_width(metrics)) for name, found in rows.items()}


def questions(beds: Sequence[Sequence[Bed]], replays: int) -> str:
    """Return the table of what held on the testbeds, each of two directions."""
    lines = [
        "Coverage (lowest model), then width by the whole round's, mAP@R/R@1: mean over models and directions, "
        f"{replays} replays each. *Warned*: on fewer than five informative queries.\n",
        "| testbed, audited | `these` | `like` | before, as `these` | before, as `like` | warned |",
        "|---|---|---|---|---|---|",
    ]
    for pair in beds:
        for n in AUDITED:
            both = [
                replayed(bed.metrics[:SHOWN], [proxy_of(bed, s, n) for s in range(FITS)], n, replays) for bed in pair
            ]
            cells = [[one[name] for one in both] for name in both[0]]
            warned = _by_metric([one.thin.mean(axis=0) for one in cells[0]], "{:.0%}")
            figures = " | ".join(map(_figures, cells, (True, True, False, True)))
            lines.append(f"| {pair[0].name.partition(' image')[0]}, {n} | {figures} | {warned} |")
    return "\n".join(lines)


def narrow_metrics(bed: Bed) -> Floats:
    """Return the metrics (K, M, Q) where only the first annotators' places were pooled."""
    pooled = (bed.ranks[:NARROW] <= TOP).any(axis=0) | ~bed.asked
    return pool_metrics(bed.ranks, np.where(pooled, bed.gains, 0.0))[:SHOWN]


def wide(beds: Sequence[Bed], replays: int) -> str:
    """Return the table of what held of the wide question, where a whole round over the pool of a few annotators was
    topped up in some queries; and of the round's own interval, read as an answer to that question."""
    lines = [
        f"The same for `wide`, by the queries that were topped up: the pool of {len(beds[0].scores)} annotators, after "
        f"a whole round over that of {NARROW}. *Own*: coverage of that round's own interval (`like`).\n",
        f"| testbed | {' | '.join(map(str, TOPPED_UP))} | own |\n|---|{'---|' * (len(TOPPED_UP) + 1)}",
    ]
    for bed in beds:
        metrics = bed.metrics[:SHOWN]
        narrow = narrow_metrics(bed)
        count = metrics.shape[2]
        cells = []
        for n in TOPPED_UP:
            rng = np.random.default_rng(n)
            rows: tuple[list, list] = ([], [])
            for _ in range(replays):
                drawn = rng.integers(0, count, count)
                wider = metrics[..., drawn]
                own = narrow[..., drawn]
                topped = nested_interval(wider, [own], [np.arange(count) < n])
                read = score_interval(own, own, np.ones(count, bool), queries="like")
                for row, found in zip(rows, (topped, read), strict=True):
                    row.append(((found.low, found.high), wider.mean(axis=2), found.is_thin))
            topped, read = (Held.of(row, whole_width(metrics)) for row in rows)
            cells.append(_figures([topped]))
        lines.append(f"| {bed.name} | {' | '.join(cells)} | {_by_metric([read.coverage], '{:.2f}')} |")
    return "\n".join(lines)


def _figures(cells: Sequence[Held], with_width: bool = True) -> str:
    lowest = min(one.coverage.min() for one in cells)
    width = _by_metric([one.width.mean(axis=0) for one in cells], "{:.2f}")
    found = f"{_by_metric([one.coverage for one in cells], '{:.2f}')} ({lowest:.2f})"
    return f"{found}, {width}" if with_width else found


def _by_metric(cells: Sequence[Floats], form: str) -> str:
    means = np.mean([one.mean(axis=1) for one in cells], axis=0)
    return "/".join(form.format(means[metric]) for metric in WRITTEN)


def ends(replays: int) -> str:
    """Return the tables of coverage near the ends of the scale, and by the informative queries."""
    lines = [
        f"Coverage by audited queries of {DRAWN:,}: before → `these`/`like`; then width of `like` by before's. "
        f"The proxy is a noisy score of the metric; {replays:,} replays.\n",
        f"| metric | {' | '.join(map(str, AUDITED))} |\n|---|{'---|' * len(AUDITED)}",
    ]
    informative: list[Floats] = []
    held: list[list[Flags]] = []
    for name, mean in MEANS.items():
        cells = []
        for n in AUDITED:
            rng = np.random.default_rng(n)
            metric = (rng.random((replays, DRAWN)) < (0.05 if name == SKEWED else mean)) * 1.0
            metric *= rng.random(metric.shape) if name == SKEWED else 1.0
            proxy = 1 / (1 + np.exp(1 - 2 * metric - rng.standard_normal(metric.shape)))
            audited = np.arange(DRAWN) < n
            these, like = (score_interval(metric, proxy, audited, queries=question) for question in TWO)
            before = interval_before(metric, proxy, like, audited)
            asked = [(before, mean), ((these.low, these.high), metric.mean(axis=1)), ((like.low, like.high), mean)]
            holds = [(low <= truth) & (truth <= high) for (low, high), truth in asked]
            informative.append(these.informative)
            held.append(holds)
            width = (like.high - like.low).mean() / (before[1] - before[0]).mean()
            cells.append("{:.2f} → {:.2f}/{:.2f}, {:.1f}".format(*(one.mean() for one in holds), width))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    spread = np.digitize(np.concatenate(informative), BINS) - 1
    everything = np.concatenate(held, axis=1)
    parts = [everything[:, spread == place].mean(axis=1) for place in range(len(BINS) - 1)]
    heads = [f"{low:g} to {high:g}" if np.isfinite(high) else f"above {low:g}" for low, high in pairwise(BINS)]
    lines += [f"\n| informative queries | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}"]
    for place, name in enumerate(("coverage before", "`these`", "`like`")):
        lines.append(f"| {name} | {' | '.join(f'{part[place]:.2f}' for part in parts)} |")
    return "\n".join(lines)
