"""How often honest workers are flagged as followers of an annotator, and followers found: python -m benchmarks.mimicry
[--rounds N] [--write]

Draws rounds whose truth is known: five annotators of different skill that find the same matches easy, the top 5 of 25
listed items, and 50 workers who share the pairs out. Honest crowds are of six kinds: each with their own rates of
error; a third of them clicking at random; erring where the annotators err; with answers that a query shifts for
everybody; three votes a pair; with annotators that are good for half the queries alone. Followers answer a share of
their pairs by whether one annotator's score is above a threshold, and the rest honestly; five of the 50 do. Prints how
many are flagged, by HITs a worker; with --write into docs/benchmarks.md.
"""

import argparse
from itertools import product
from typing import Any

import numpy as np
from scipy.special import expit

from benchmarks.doc_tables import write_tables

SKILLS = np.array([1.2, 1.5, 1.7, 1.9, 2.2])
ITEMS, POOLED, LISTED, CANDIDATES, WORKERS, FOLLOWERS = 400, 5, 25, 16, 50, 5
KINDS: dict[str, dict[str, Any]] = {
    "own rates of error": {},
    "a third clicks at random": {"careless": 0.3},
    "errs where annotators err": {"alike": 1.0},
    "queries shift answers": {"shift": 1.0},
    "three votes a pair": {"votes": 3},
    "annotators good for some queries alone": {"uneven": True},
}
HITS, PURITIES = (1, 3, 10), (1.0, 0.7, 0.5)
LEVEL = 0.05


class World:
    """Pooled pairs: their ``query`` (P,), ``match`` (P,), how easy annotators find them, ``ease`` (P,), and the
    annotators' ``ranks`` and ``scores`` (A, P), NaN where a list does not hold the item."""

    def __init__(self, queries: int, rng: np.random.Generator, *, uneven: bool = False) -> None:
        wanted = 1 + rng.negative_binomial(2, 0.2, queries).clip(max=ITEMS // 4)  # 9 on average
        relevant = rng.random((queries, ITEMS)).argsort(axis=1).argsort(axis=1) < wanted[:, None]
        ease = rng.normal(size=relevant.shape)
        skills = np.outer(SKILLS, np.ones(queries))
        skills *= rng.choice([0.3, 1.7], skills.shape) if uneven else 1
        noise = [ease + rng.normal(size=ease.shape) for _ in SKILLS]
        scores = np.exp(skills[..., None] * relevant / 2 + np.sqrt(1 / 8) * np.stack(noise))
        ranks = 1 + (-scores).argsort(axis=2).argsort(axis=2)
        self.query, item = np.nonzero((ranks <= POOLED).any(axis=0))
        self.match, self.ease = relevant[self.query, item], ease[self.query, item]
        self.ranks, self.scores = ranks[:, self.query, item], scores[:, self.query, item]
        self.scores[self.ranks > LISTED] = np.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10, help="number of drawn rounds of each kind (default 10)")
    parser.add_argument("--write", action="store_true", help="write the tables of docs/benchmarks.md")
    options = parser.parse_args()
    lines = [
        f"{options.rounds} rounds of {WORKERS} workers in each row.\n",
        f"| honest workers | HITs each | p ≤ {LEVEL} | rounds with a flag |\n|---|---|---|---|",
    ]
    flags = []
    for (kind, settings), hits in product(KINDS.items(), HITS):
        found = [honest_round(seed, hits, **settings) for seed in range(options.rounds)]
        figures = [[(p <= LEVEL).mean(), (adjusted <= LEVEL).any(), (adjusted <= LEVEL).sum()] for p, adjusted in found]
        small, flagged, _ = np.mean(figures, axis=0)
        lines.append(f"| {kind} | {hits} | {small:.1%} | {flagged:.1%} |")
        flags += figures
    small, flagged, workers = np.mean(flags, axis=0)
    lines.append(f"| all {len(flags)} rounds | | {small:.1%} | {flagged:.1%} |")
    lines.append(
        f"\nOf the {len(flags) * WORKERS:,} honest workers of these rounds, {workers / WORKERS:.3%} are flagged."
    )
    heads = " | ".join(f"{purity:.0%} of the answers follow" for purity in PURITIES)
    lines.append(
        f"\n| followers flagged: HITs each | {heads} | honest ones beside them |\n|---|{'---|' * len(PURITIES)}---|"
    )
    for hits in HITS:
        caught = [followed_rounds(options.rounds, hits, purity) for purity in PURITIES]
        cells = " | ".join(f"{power:.0%}" for power, _ in caught)
        lines.append(f"| {hits} | {cells} | {np.mean([wrong for _, wrong in caught]):.2%} |")
    table = "\n".join(lines) + "\n"
    print(table)
    if options.write:
        write_tables("mimicry", table)


def honest_round(seed: int, hits: int, **settings: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the p-values of the workers of an honest round, and the corrected ones."""
    world, pair, worker, yes, _ = draw_round(seed, hits, **settings)
    return tested(world, pair, worker, yes, seed)


def followed_rounds(rounds: int, hits: int, purity: float) -> tuple[float, float]:
    """Return which share of followers, and of the honest workers beside them, is flagged."""
    flags = []
    for seed in range(rounds):
        world, pair, worker, yes, rng = draw_round(seed, hits)
        for follower in range(FOLLOWERS):
            score = world.scores[follower % len(SKILLS)]
            own = worker == follower
            cut = np.nanquantile(score, rng.uniform(0.6, 0.8))
            follows = own & (rng.random(len(yes)) < purity)
            yes[follows] = score[pair[follows]] >= cut
        flags.append(tested(world, pair, worker, yes, seed)[1] <= LEVEL)
    each = np.mean(flags, axis=0)
    return float(each[:FOLLOWERS].mean()), float(each[FOLLOWERS:].mean())


def draw_round(
    seed: int,
    hits: int,
    *,
    workers: int = WORKERS,
    careless: float = 0,
    alike: float = 0,
    shift: float = 0,
    votes: int = 1,
    uneven: bool = False,
) -> tuple[World, np.ndarray, np.ndarray, np.ndarray, np.random.Generator]:
    """Return the world, and the pair, worker and answer of each vote of honest workers: a worker says yes at a
    logit of their own for matches and others, to which ``alike`` times the pair's ease and a shift of its query with
    this spread are added."""
    rng = np.random.default_rng([seed, hits])
    wanted = workers * hits * CANDIDATES
    world = World(1 + wanted // (8 * votes), rng, uneven=uneven)
    asked = rng.permutation(len(world.query))[: wanted // votes]
    place = np.arange(len(asked)) * workers // len(asked)
    pair = np.tile(asked, votes)
    worker = np.concatenate([(place + vote) % workers for vote in range(votes)])
    of_match, of_other = rng.normal(2.7, 0.6, workers), rng.normal(-2.9, 0.6, workers)
    logits = np.where(world.match[pair], of_match[worker], of_other[worker]) + alike * world.ease[pair]
    logits += shift * rng.normal(size=world.query.max() + 1)[world.query[pair]]
    clicks = worker >= workers * (1 - careless)
    return world, pair, worker, (rng.random(len(pair)) < np.where(clicks, 0.5, expit(logits))).astype(float), rng


def tested(
    world: World, pair: np.ndarray, worker: np.ndarray, yes: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the p-values, NaN where there are too few answers of one kind, and the corrected ones."""
    from counterpart_statistics.estimation import pair_features
    from counterpart_statistics.mimicry import expected_answers, find_followers, others_votes

    sizes = np.bincount(world.query)
    places = np.arange(len(world.query)) - (np.cumsum(sizes) - sizes)[world.query]
    ranks = np.full((len(SKILLS), len(sizes), sizes.max()), LISTED + 1)
    scores = np.full(ranks.shape, np.nan)
    ranks[:, world.query, places], scores[:, world.query, places] = world.ranks, world.scores
    features = pair_features(ranks, scores, LISTED)[world.query, places][pair]
    expected = expected_answers(np.hstack([features, others_votes(pair, yes)]), yes, worker, seed=seed)
    lowest = np.nanmin(world.scores)
    signals = np.concatenate([-world.ranks.clip(max=LISTED + 1), np.nan_to_num(world.scores, nan=lowest)])[:, pair]
    found = find_followers(yes, worker, world.query[pair], expected, signals, fewest=CANDIDATES, seed=seed)
    return np.array([one.p for one in found]), np.array([one.adjusted for one in found])


if __name__ == "__main__":
    main()
