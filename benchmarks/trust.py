"""How far to trust what says how far to trust a version: python -m benchmarks.trust [--pools N]

Draws worlds whose truth is known: five annotators of different skill that find the same matches easy, and their top 5
of 25 listed items judged without error. Prints, over all of them, how often all annotators' pairs give scores nearer to
the true ones than any single annotator's, and how often intervals hold the truth: bootstrap intervals over queries, and
the confidence sequences of rounds that are packed by our own packing and looked at ten times. (Estimates of
completeness: benchmarks.completeness.)
"""

import argparse
from collections import defaultdict
from typing import NamedTuple

import numpy as np

QUERIES, ITEMS, POOLED, LISTED, CAPACITY = 120, 400, 5, 25, 16
SKILLS = np.array([1.2, 1.5, 1.7, 1.9, 2.2])
NAMES = ("a", "b", "c", "d", "e")
METRICS_SHOWN = ("R@1", "R-Precision", "mAP@R")
LOOKS, MANY = 10, 20_000


class World(NamedTuple):
    """``relevant`` (Q, N): whether an item matches a query; ``lists`` (A, Q, 25): items of each annotator's lists, best
    first."""

    relevant: np.ndarray
    lists: np.ndarray


def draw_world(
    seed: int, queries: int = QUERIES, *, shared: float = 0.5, hidden: float = 0.0, split: bool = False
) -> World:
    """Draw queries with 1 to many matches. The share ``shared`` of what an annotator sees of a match is how easy it is
    for all. The share ``hidden`` of the matches looks to all of them like other pairs; with ``split``, of each half of
    the matches so to every other one."""
    rng = np.random.default_rng(seed)
    wanted = 1 + rng.negative_binomial(2, 0.2, queries).clip(max=ITEMS // 4)  # 9 on average
    order = rng.random((queries, ITEMS)).argsort(axis=1).argsort(axis=1)
    relevant = order < wanted[:, None]
    ease = rng.normal(size=(queries, ITEMS))
    hiding = rng.random(relevant.shape) if hidden or split else np.ones(relevant.shape)
    noise = np.sqrt(1 - shared)
    lists = np.stack(
        [
            np.argsort(-(seen * skill + np.sqrt(shared) * ease + noise * rng.normal(size=ease.shape)), axis=1)
            for number, skill in enumerate(SKILLS)
            for seen in [relevant & ((hiding < 0.5) == number % 2 if split else hiding >= hidden)]
        ]
    )
    return World(relevant, lists[:, :, :LISTED])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pools", type=int, default=200, help="number of drawn worlds (default 200)")
    pools = parser.parse_args().pools
    truth = true_means()
    found: list[dict[str, list]] = [defaultdict(list) for _ in range(2)]
    for seed in range(pools):
        world = draw_world(seed)
        intervals = bootstrap_of(world, truth, seed) | sequences_of(world, seed)
        for table, figures in zip(found, (bias_of(world), intervals), strict=True):
            for name, figure in figures.items():
                table[name].append(figure)
    print_tables(pools, *found)


def print_tables(pools: int, bias: dict[str, list], intervals: dict[str, list]) -> None:
    print(f"{pools} pools")
    print("\n| metric | points from the true scores: one annotator | All | All nearest | tau-b: one | All |")
    print("|---|---|---|---|---|---|")
    for metric, rows in bias.items():
        one, everything, nearest, tau_one, tau_all = np.mean(rows, axis=0)
        print(
            f"| {metric} | {100 * one:.1f} | {100 * everything:.1f} | {nearest:.1%} | {tau_one:.2f} | {tau_all:.2f} |"
        )
    print("\n| 95% intervals | hold the truth |\n|---|---|")
    for name, inside in intervals.items():
        print(f"| {name} | {np.mean(inside):.1%} |")


def ranks_of(world: World) -> np.ndarray:
    """Return (A, Q, N) the rank of every item, 0 where it is not listed."""
    annotators, queries, _ = world.lists.shape
    ranks = np.zeros((annotators, queries, ITEMS), np.int64)
    np.put_along_axis(ranks, world.lists, np.broadcast_to(np.arange(1, LISTED + 1), world.lists.shape), axis=2)
    return ranks


def bias_of(world: World) -> dict[str, tuple[float, float, bool, float, float]]:
    """Return, for each metric: the mean distance from the true scores on one annotator's pairs, and on all; whether all
    are nearer than each; and tau-b with the true scores, likewise."""
    from counterpart_metrics import METRICS
    from counterpart_statistics.bias import subset_scores
    from counterpart_statistics.correlation import tau_b

    ranks = ranks_of(world)
    pooled = (ranks > 0) & (ranks <= POOLED)
    asked, items = np.nonzero(pooled.any(axis=0))
    found = found_in(world, asked, items)
    figures = {}
    for metric in METRICS_SHOWN:
        scores = subset_scores(found, pooled[:, asked, items].T, METRICS[metric])
        everywhere = found_in(world, *np.nonzero(world.relevant))
        true = np.array([np.nan_to_num(METRICS[metric](one)).mean() for one in everywhere.values()])
        away = scores.distances(true).mean(axis=1)
        taus = [tau_b(row, true) for row in scores.scores]
        alone = slice(0, len(NAMES))
        figures[metric] = (
            float(away[alone].mean()), float(away[-1]), bool(away[-1] < away[alone].min()),
            float(np.nanmean(taus[alone])), float(taus[-1]),
        )  # fmt: skip
    return figures


def found_in(world: World, asked: np.ndarray, items: np.ndarray) -> dict:
    """Return where each annotator ranks these pairs, judged rightly."""
    from counterpart_metrics import Qrels, Rankings, find

    queries = np.arange(len(world.relevant))
    qrels = Qrels.of_pairs(asked, items, world.relevant[asked, items].astype(float), every=queries)
    return {name: find(Rankings(queries, lists), qrels) for name, lists in zip(NAMES, world.lists, strict=True)}


def true_means() -> dict[str, float]:
    """Return the last annotator's mean of each metric over very many queries."""
    from counterpart_metrics import METRICS

    totals: dict[str, list[float]] = defaultdict(list)
    for part in range(MANY // 1_000):
        world = draw_world(10**6 + part, 1_000)
        found = found_in(world, *np.nonzero(world.relevant))[NAMES[-1]]
        for metric in METRICS_SHOWN:
            totals[metric].append(METRICS[metric](found).mean())
    return {metric: float(np.mean(means)) for metric, means in totals.items()}


def bootstrap_of(world: World, truth: dict[str, float], seed: int) -> dict[str, bool]:
    from counterpart_metrics import METRICS
    from counterpart_metrics.figures import bootstrap_interval

    found = found_in(world, *np.nonzero(world.relevant))[NAMES[-1]]
    intervals = {metric: bootstrap_interval(METRICS[metric](found), seed=seed) for metric in METRICS_SHOWN}
    return {
        f"bootstrap over queries, {metric}": low <= truth[metric] <= high for metric, (low, high) in intervals.items()
    }


def sequences_of(world: World, seed: int) -> dict[str, bool]:
    """Pack the pool and look at it ten times: did every interval of the last annotator hold its score, and was every
    statement on who is ahead right?"""
    from counterpart_statistics.settling import Packed, look_at
    from hits.packing.colouring import pack_pairs

    ranks = ranks_of(world)
    asked, items = np.nonzero(((ranks > 0) & (ranks <= POOLED)).any(axis=0))
    hits = pack_pairs(asked, items, capacity=CAPACITY, sharing="avoid", rng=np.random.default_rng(seed))
    weights = (ranks[:, asked, items] == 1) / len(world.relevant)
    full = int((np.bincount(hits) == CAPACITY).sum())
    packed = Packed(weights, hits, int(hits.max()) + 1, full)
    values = world.relevant[asked, items].astype(float)
    truth = weights @ values
    order = np.sign((truth[:, None] - truth).round(9))
    looks = [look_at(packed, values, hits) for hits in np.linspace(1, packed.n_hits, LOOKS).astype(int).tolist()]
    inside = [look.low[-1] - 1e-9 <= truth[-1] <= look.high[-1] + 1e-9 for look in looks]
    right = [((look.ahead == 0) | (look.ahead == order)).all() for look in looks]
    return {
        f"confidence sequence of a score, at all of {LOOKS} looks": all(inside),
        "all statements on who is ahead, at all looks": all(right),
    }


if __name__ == "__main__":
    main()
