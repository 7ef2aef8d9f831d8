"""How often signals flag robots and honest workers: python -m benchmarks.robots [--rounds N] [--write]

Draws rounds whose truth is known: the five annotators and pooled pairs of benchmarks.mimicry, and 640 honest answers by
which each round knows what is usual. Five robots and five honest workers do two HITs of 18 pairs each. Prints how many
of them are flagged by their two controls alone, and with the signals; then how often each signal flags an honest HIT;
then the same on two real crowds (../shared/data/crowd), whose answers have no times. With --write into
docs/benchmarks.md.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from annotation.work.signals import (
    Evidence,
    Pace,
    agrees_by_chance,
    contradicts_itself,
    follows_annotator,
    in_a_pattern,
    one_level,
    too_fast,
)
from benchmarks.doc_tables import write_tables
from benchmarks.mimicry import POOLED, SKILLS, World
from counterpart_statistics.following import Expected
from simulation.profiles import load_profile

CROWDS = Path(__file__).resolve().parents[2] / "shared" / "data" / "crowd"
QUERIES, USUAL, CANDIDATES, HITS = 60, 640, 16, 2
USUAL_SECONDS, PACES, PACE_OF_A_HIT = 25.0, 0.4, 0.2  # median of the crowd; spread of logs of workers, and of HITs
NAMES = tuple("abcde")
Levels = np.ndarray


class Hit(NamedTuple):
    """The true ``levels`` (18,) of a HIT's pairs, as they are shown; whether each annotator pools the pair, ``pooled``
    (5, 18); ``support`` (5, 18): 1 / rank there; ``control`` (18,): 1 positive, -1 negative, 0 a candidate."""

    levels: Levels
    support: np.ndarray
    control: np.ndarray

    @property
    def candidates(self) -> np.ndarray:
        return self.control == 0

    def passes(self, answers: Levels) -> bool:
        """Whether the controls are answered right."""
        yes = answers <= 2
        return bool(yes[self.control > 0].all() and not yes[self.control < 0].any())


class Crowd(NamedTuple):
    """What a round's honest workers say: the matrix of their ``confusion`` (4, 4), what ``expected`` answers, level
    ``shares`` and ``pace`` were measured."""

    confusion: np.ndarray
    expected: Expected
    shares: Sequence[float]
    pace: Pace


Worker = Callable[[Hit, Crowd, np.random.Generator], tuple[Levels, float]]
"""Answers to a HIT, and the seconds a pair."""


def honest(preset: str = "paper", *, pace: float = 1.0, shift: int = 0) -> Worker:
    """A worker who looks; ``shift`` moves a quarter of the answers by a level: -1 towards yes, 1 towards no."""
    confusion = np.array(load_profile(preset).confusion)

    def answer(hit: Hit, crowd: Crowd, rng: np.random.Generator) -> tuple[Levels, float]:
        answers = judged(hit.levels, confusion, rng)
        moved = rng.random(len(answers)) < 0.25
        return (answers + shift * moved).clip(1, 4), USUAL_SECONDS * pace * rng.lognormal(0, PACE_OF_A_HIT)

    return answer


def robot(answers: Callable[[Hit, np.random.Generator], Levels], *, seconds: float = USUAL_SECONDS) -> Worker:
    return lambda hit, crowd, rng: (answers(hit, rng), seconds * rng.lognormal(0, PACE_OF_A_HIT))


def copied(hit: Hit, rng: np.random.Generator) -> Levels:
    """Yes where the last annotator, the best one, pools the pair."""
    return np.where(hit.support[-1] > 0, 1, 4)


ROBOTS: dict[str, Worker] = {
    "constant: always level 4": robot(lambda hit, rng: np.full(len(hit.levels), 4)),
    "alternating: 1, 2, 3, 4": robot(lambda hit, rng: 1 + np.arange(len(hit.levels)) % 4),
    "random levels, at the usual speed": robot(lambda hit, rng: rng.integers(1, 5, len(hit.levels))),
    "fast: random levels, half a second a pair": robot(
        lambda hit, rng: rng.integers(1, 5, len(hit.levels)), seconds=0.5
    ),
    "copy: yes to what the best annotator pools": robot(copied),
}
HONEST: dict[str, Worker] = {
    "careful": honest("careful", pace=1.5),
    "quick: half the usual time": honest(pace=0.5),
    "slow: three times the usual time": honest(pace=3.0),
    "lenient: a quarter one level up": honest(shift=-1),
    "strict: a quarter one level down": honest(shift=1),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200, help="number of drawn rounds (default 200)")
    parser.add_argument("--write", action="store_true", help="write the tables of docs/benchmarks.md")
    options = parser.parse_args()
    table = "\n".join([*drawn_rounds(options.rounds), *real_crowds()]) + "\n"
    print(table)
    if options.write:
        write_tables("robots", table)


def drawn_rounds(rounds: int) -> Iterator[str]:
    """Yield the lines of the tables of drawn rounds."""
    by_controls, by_both, with_repeats = (defaultdict[str, list[list[bool]]](list) for _ in range(3))
    signals = Counter[str]()
    for seed in range(rounds):
        for name, controls, found, switched in play_round(seed):
            by_controls[name].append(controls)
            by_both[name].append([bool(wrong or one) for wrong, one in zip(controls, found, strict=True)])
            with_repeats[name].append([one or also for one, also in zip(by_both[name][-1], switched, strict=True)])
            if name in HONEST:
                signals.update(one.signal for hit in found for one in hit)
                signals["repeats"] += sum(switched)
    yield f"{rounds} rounds; each worker does {HITS} HITs.\n"
    yield "| robot | flagged within two HITs by controls | and signals | and a pair asked twice |\n|---|---|---|---|"
    for name in ROBOTS:
        cells = (f"{np.any(flags[name], axis=1).mean():.1%}" for flags in (by_controls, by_both, with_repeats))
        yield f"| {name} | {' | '.join(cells)} |"
    yield "\n| honest worker | HITs flagged by controls alone | with signals | by signals alone |\n|---|---|---|---|"
    for name in HONEST:
        alone, both = np.mean(by_controls[name]), np.mean(by_both[name])
        yield f"| {name} | {alone:.1%} | {both:.1%} | {both - alone:.2%} |"
    hits = rounds * HITS * len(HONEST)
    yield "\n| signal | honest HITs that it flags |\n|---|---|"
    for signal in ("fast", "pattern", "same", "chance", "copy", "repeats"):
        yield f"| {signal} | {signals[signal] / hits:.2%} |"


def play_round(seed: int) -> Iterator[tuple[str, list[bool], list[list[Evidence]], list[bool]]]:
    """Yield each worker's name, whether a control of each HIT is wrong, what the signals find in each HIT, and whether
    a candidate that is asked again in each HIT speaks against it."""
    rng = np.random.default_rng(seed)
    world = World(QUERIES, rng)
    levels = np.where(world.match, 1 + (rng.random(len(world.match)) < 0.5), 4 - (rng.random(len(world.match)) < 0.4))
    support = np.where(world.ranks <= POOLED, 1 / world.ranks, 0)
    asked, free = np.split(rng.permutation(len(levels)), [USUAL])
    crowd = usual_of(levels[asked], support[:, asked], rng)
    matches, others = free[world.match[free]], free[~world.match[free]]
    for name, worker in {**ROBOTS, **HONEST}.items():
        hits, answers, seconds, found, twice = [], [], [], [], []
        for pairs in np.split(rng.permutation(free)[: HITS * CANDIDATES], HITS):
            hit = shown(pairs, rng.choice(matches), rng.choice(others), levels, support, rng)
            said, pace = worker(hit, crowd, rng)
            hits, answers, seconds = [*hits, hit], [*answers, said], [*seconds, pace]
            found.append(signals_of(hits, answers, seconds, crowd))
            repeated = int(hit.candidates.argmax())
            twice.append((said[repeated], worker(hit, crowd, rng)[0][repeated]))
        switched = [bool(contradicts_itself(*zip(*twice[:n], strict=True))) for n in range(1, HITS + 1)]
        yield name, [not hit.passes(said) for hit, said in zip(hits, answers, strict=True)], found, switched


def usual_of(levels: Levels, support: np.ndarray, rng: np.random.Generator) -> Crowd:
    """Measure what is usual from honest answers to pairs (640,), as a round does."""
    confusion = np.array(load_profile("paper").confusion)
    said = judged(levels, confusion, rng)
    shares = (np.bincount(said, minlength=5)[1:] + 1) / (len(said) + 4)
    paces = USUAL_SECONDS * rng.lognormal(0, np.hypot(PACES, PACE_OF_A_HIT), len(levels) // CANDIDATES)
    return Crowd(confusion, Expected.fitted(features_of(support), said <= 2), shares.tolist(), Pace.of(paces))


def features_of(support: np.ndarray) -> np.ndarray:
    """Return what annotators say of pairs as ``annotation.work.evidence`` learns from it."""
    return np.hstack([support.T, support.T > 0])


def judged(levels: Levels, confusion: np.ndarray, rng: np.random.Generator) -> Levels:
    return 1 + (rng.random(len(levels))[:, None] > confusion.cumsum(axis=1)[levels - 1, :3]).sum(axis=1)


def shown(
    pairs: np.ndarray, positive: int, negative: int, levels: Levels, support: np.ndarray, rng: np.random.Generator
) -> Hit:
    """Show pairs with a positive control, and a negative one that no annotator ranks, in a random order."""
    order = rng.permutation(len(pairs) + 2)
    ranked = np.column_stack([support[:, [*pairs, positive]], np.zeros(len(SKILLS))])
    controls = np.array([0] * len(pairs) + [1, -1])
    return Hit(np.array([*levels[pairs], levels[positive], 4])[order], ranked[:, order], controls[order])


def signals_of(
    hits: Sequence[Hit], answers: Sequence[Levels], seconds: Sequence[float], crowd: Crowd
) -> list[Evidence]:
    """Return what the signals find in the last of a worker's HITs; agreement is of all of them, as on the site."""
    asked = [hit.candidates for hit in hits]
    yes = np.concatenate([said[one] <= 2 for said, one in zip(answers, asked, strict=True)]).astype(float)
    support = np.column_stack([hit.support[:, one] for hit, one in zip(hits, asked, strict=True)])
    chance = crowd.expected.chance(features_of(support))
    found = [
        too_fast(seconds[-1], floor=1, usual=crowd.pace, own=seconds[:-1]),
        in_a_pattern(answers[-1]),
        one_level(answers[-1], crowd.shares),
        agrees_by_chance(yes, chance),
        follows_annotator(yes, chance, support, NAMES),
    ]
    return [one for one in found if one]


def real_crowds() -> Iterator[str]:
    """Yield the table of the real crowds' sets of CANDIDATES answers, in the order of the files."""
    yield "\n| real crowd | sets of 16 | pattern | same | chance | right answers in flagged sets | in others |"
    yield "|---|---|---|---|---|---|---|"
    for name, level_of in {"rte": {1: 1, 0: 4}, "web": {4: 1, 3: 2, 2: 3, 1: 4, 0: 4}}.items():
        table = pd.read_csv(CROWDS / name / "label.csv").merge(pd.read_csv(CROWDS / name / "truth.csv"), on="item")
        table["level"], table["right"] = table["label"].map(level_of), table["label"] == table["truth"]
        yes = table["level"] <= 2
        sign = 2.0 * yes - 1
        others = (sign.groupby(table["item"]).transform("sum") - sign).clip(-2, 2).to_numpy()[:, None]
        chance = Expected.fitted(others, yes).chance(others)
        shares = [(table["level"] == level).mean() for level in range(1, 5)]
        sets = [
            rows[start : start + CANDIDATES]
            for rows in table.groupby("worker").indices.values()
            for start in range(0, len(rows) - CANDIDATES + 1, CANDIDATES)
        ]
        found: list[Any] = [of_real_set(table["level"].to_numpy()[rows], chance[rows], shares) for rows in sets]
        flagged = np.array([bool(one) for one in found])
        right = np.array([table["right"].to_numpy()[rows].mean() for rows in sets])
        cells = " | ".join(
            f"{np.mean([one in of_set for of_set in found]):.1%}" for one in ("pattern", "same", "chance")
        )
        yield f"| {name} | {len(sets):,} | {cells} | {right[flagged].mean():.0%} | {right[~flagged].mean():.0%} |"


def of_real_set(levels: Levels, chance: np.ndarray, shares: Sequence[float]) -> set[str]:
    found = (in_a_pattern(levels), one_level(levels, shares), agrees_by_chance((levels <= 2).astype(float), chance))
    return {one.signal for one in found if one}


if __name__ == "__main__":
    main()
