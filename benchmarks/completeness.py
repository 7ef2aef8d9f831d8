"""How near estimates of completeness are to the truth: python -m benchmarks.completeness [--pools N] [--write]

Draws pools whose truth is known, of five annotators and four kinds: half of what annotators see of a match is the same
for all; 85% is; two fifths of the matches are seen by none; each half of the matches is seen by two or three only.
Three workers judge the top 5 of 25 listed items and random pairs outside the lists; each of their votes is wrong by
chance. Prints, over all pools, every estimate beside the truth, how often its interval holds the truth, and how often
it is above; with --write into docs/benchmarks.md.
"""

import argparse
from collections import defaultdict

import numpy as np

from benchmarks.doc_tables import write_tables
from benchmarks.trust import POOLED, World, draw_world, ranks_of

KINDS = {
    "half shared": {},
    "85% shared": {"shared": 0.85},
    "two fifths hidden": {"hidden": 0.4},
    "halves seen by others": {"split": True},
}
QUERIES, SAMPLES = 60, 25
VOTES, WRONG_YES, WRONG_NO, KNOWN = 3, 0.03, 0.05, 1_500
FEW, MANY = 50, 5_000  # random pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pools", type=int, default=40, help="number of drawn pools of each kind (default 40)")
    parser.add_argument("--write", action="store_true", help="write the table of docs/benchmarks.md")
    options = parser.parse_args()
    lines = [
        f"{options.pools} pools of each kind; {VOTES} votes a pair, wrong on {WRONG_YES:.0%} of pairs that do not "
        f"match and on {WRONG_NO:.0%} of matches.\n",
        "| pools | estimate of all matches | estimable | estimate / truth: median (5% to 95%) "
        "| interval holds the truth | estimate above it |\n|---|---|---|---|---|---|",
    ]
    for kind, settings in KINDS.items():
        found: dict[str, list] = defaultdict(list)
        for seed in range(options.pools):
            for name, figures in estimates_of(draw_world(seed, QUERIES, **settings), seed).items():
                found[name].append(figures)
        lines += [f"| {kind} | {name} | {line(rows)} |" for name, rows in found.items()]
    table = "\n".join(lines) + "\n"
    print(table)
    if options.write:
        write_tables("completeness", table)


def line(rows: list) -> str:
    """Return the cells of an estimate: of the pools in which it is one."""
    known = [row for row in rows if row is not None]
    share = f"{len(known) / len(rows):.0%}"
    if not known:
        return f"{share} | – | – | –"
    estimate, low, high, truth = np.array(known, float).T
    least, middle, most = np.quantile(estimate / truth, [0.05, 0.5, 0.95])
    held = ((low <= truth) & (truth <= high)).mean()
    above = (estimate > truth).mean()
    return f"{share} | {middle:.2f} ({least:.2f} to {most:.2f}) | {held:.0%} | {above:.0%}"


def estimates_of(world: World, seed: int) -> dict[str, tuple[float, float, float, int] | None]:
    """Return each estimate with its interval and the true number; None where the estimate by parts is none."""
    from counterpart_statistics.completeness import Beyond, Wrong, capture_estimates, estimate_by_parts
    from counterpart_statistics.random_pairs import ControlVotes, learn_from_controls, majority_wrong

    rng = np.random.default_rng(10**6 + seed)
    ranks = ranks_of(world)
    truth = int(world.relevant.sum())
    pooled = (ranks > 0) & (ranks <= POOLED)
    is_listed = (ranks > 0).any(axis=0)
    verdicts = votes_on(world.relevant, rng) > VOTES / 2
    query, item = np.nonzero(pooled.any(axis=0) & verdicts)
    found = capture_estimates(pooled[:, query, item].T, query, samples=SAMPLES, seed=seed)
    figures: dict = {name: (*one, truth) for name, one in found.items()}
    asked, items = np.nonzero(is_listed)
    gains = np.where(pooled[:, asked, items].any(axis=0), verdicts[asked, items], np.nan)
    rest = world.relevant[~is_listed]
    missed = int(rng.binomial(KNOWN, WRONG_NO))
    for many in (FEW, MANY):
        yes = votes_on(rng.choice(rest, many, replace=False), rng)
        learned = learn_from_controls(ControlVotes(yes, np.full(many, VOTES), missed, KNOWN))
        wrong = Wrong(
            majority_wrong(learned.yes, [VOTES], if_tied=False), majority_wrong(learned.no, [VOTES], if_tied=True)
        )
        beyond = Beyond(len(rest), learned.rate, probed=len(rest))
        parts = estimate_by_parts(ranks[:, asked, items].T, gains, beyond, wrong=wrong)
        name = f"by parts, {many:,} random pairs"
        figures[name] = (*parts.total, truth) if parts.is_estimable else None
    unjudged = int(world.relevant[asked, items][np.isnan(gains)].sum())
    figures["only listed pairs that nobody judged"] = (*parts.listed, unjudged)
    return figures


def votes_on(relevant: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return how many votes call each pair a match."""
    return rng.binomial(VOTES, np.where(relevant, 1 - WRONG_NO, WRONG_YES))


if __name__ == "__main__":
    main()
