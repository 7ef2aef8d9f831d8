"""Robots and honest workers in drawn rounds whose truth is known: what controls and signals flag of their HITs."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pytest

from annotation.work.signals import (
    Evidence,
    Pace,
    agrees_by_chance,
    follows_annotator,
    in_a_pattern,
    one_level,
    too_fast,
)
from counterpart_statistics.following import Expected
from simulation.profiles import load_profile

SKILLS = np.array([1.2, 1.5, 1.7, 1.9, 2.2])
ITEMS, POOLED = 400, 5
ROUNDS = 12
QUERIES, USUAL, CANDIDATES, HITS = 60, 640, 16, 2
USUAL_SECONDS, PACES, PACE_OF_A_HIT = 25.0, 0.4, 0.2  # median of the crowd; spread of logs of workers, and of HITs
NAMES = tuple("abcde")
Levels = np.ndarray


def pooled_pairs(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return which pooled pairs (P,) match, and the annotators' ranks (5, P); some matches are easy for all."""
    wanted = 1 + rng.negative_binomial(2, 0.2, QUERIES).clip(max=ITEMS // 4)  # 9 on average
    relevant = rng.random((QUERIES, ITEMS)).argsort(axis=1).argsort(axis=1) < wanted[:, None]
    ease = rng.normal(size=relevant.shape)
    noise = np.stack([ease + rng.normal(size=ease.shape) for _ in SKILLS])
    scores = SKILLS[:, None, None] * relevant / 2 + np.sqrt(1 / 8) * noise
    ranks = 1 + (-scores).argsort(axis=2).argsort(axis=2)
    pooled = (ranks <= POOLED).any(axis=0)
    return relevant[pooled], ranks[:, pooled]


class Hit(NamedTuple):
    """The true ``levels`` (18,) of a HIT's pairs, as they are shown; ``support`` (5, 18): 1 / rank where an
    annotator pools the pair, else 0; ``control`` (18,): 1 positive, -1 negative, 0 a candidate."""

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
    """The answers, shares of levels and pace that are usual in a round."""

    expected: Expected
    shares: Sequence[float]
    pace: Pace


Worker = Callable[[Hit, np.random.Generator], tuple[Levels, float]]
"""Answers to a HIT, and the seconds a pair."""


def honest(preset: str = "paper", *, pace: float = 1.0, shift: int = 0) -> Worker:
    """A worker who looks; ``shift`` moves a quarter of the answers by a level: -1 towards yes, 1 towards no."""
    confusion = np.array(load_profile(preset).confusion)

    def answer(hit: Hit, rng: np.random.Generator) -> tuple[Levels, float]:
        answers = judged(hit.levels, confusion, rng)
        moved = rng.random(len(answers)) < 0.25
        return (answers + shift * moved).clip(1, 4), USUAL_SECONDS * pace * rng.lognormal(0, PACE_OF_A_HIT)

    return answer


def robot(answers: Callable[[Hit, np.random.Generator], Levels], *, seconds: float = USUAL_SECONDS) -> Worker:
    return lambda hit, rng: (answers(hit, rng), seconds * rng.lognormal(0, PACE_OF_A_HIT))


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


def play_round(seed: int) -> Iterator[tuple[str, list[bool], list[list[Evidence]]]]:
    """Yield each worker's name, whether a control of each HIT is wrong, and what the signals find in each HIT."""
    rng = np.random.default_rng(seed)
    match, ranks = pooled_pairs(rng)
    levels = np.where(match, 1 + (rng.random(len(match)) < 0.5), 4 - (rng.random(len(match)) < 0.4))
    support = np.where(ranks <= POOLED, 1 / ranks, 0)
    asked, free = np.split(rng.permutation(len(levels)), [USUAL])
    crowd = usual_of(levels[asked], support[:, asked], rng)
    matches, others = free[match[free]], free[~match[free]]
    for name, worker in (ROBOTS | HONEST).items():
        hits: list[Hit] = []
        answers: list[Levels] = []
        seconds: list[float] = []
        found = []
        for pairs in np.split(rng.permutation(free)[: HITS * CANDIDATES], HITS):
            hit = shown(pairs, rng.choice(matches), rng.choice(others), levels, support, rng)
            levels_given, pace = worker(hit, rng)
            hits.append(hit)
            answers.append(levels_given)
            seconds.append(pace)
            found.append(signals_of(hits, answers, seconds, crowd))
        yield name, [not hit.passes(given) for hit, given in zip(hits, answers, strict=True)], found


def usual_of(levels: Levels, support: np.ndarray, rng: np.random.Generator) -> Crowd:
    """Measure what is usual from honest answers to pairs (640,), as a round does."""
    confusion = np.array(load_profile("paper").confusion)
    levels_given = judged(levels, confusion, rng)
    shares = (np.bincount(levels_given, minlength=5)[1:] + 1) / (len(levels_given) + 4)
    paces = USUAL_SECONDS * rng.lognormal(0, np.hypot(PACES, PACE_OF_A_HIT), len(levels) // CANDIDATES)
    return Crowd(Expected.fitted(features_of(support), levels_given <= 2), shares.tolist(), Pace.of(paces))


def features_of(support: np.ndarray) -> np.ndarray:
    """Return the features of pairs from which ``annotation.work.evidence`` learns."""
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
    yes = np.concatenate([given[one] <= 2 for given, one in zip(answers, asked, strict=True)]).astype(float)
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


@pytest.fixture(scope="module")
def played() -> dict[str, np.ndarray]:
    """Name → whether each HIT is flagged, by its controls and by signals: (rounds, 2, HITs)."""
    flags: dict[str, list] = {}
    for seed in range(ROUNDS):
        for name, controls, found in play_round(seed):
            flags.setdefault(name, []).append([controls, [bool(one) for one in found]])
    return {name: np.array(rows) for name, rows in flags.items()}


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_robot_is_flagged_within_two_hits(played, robot):
    assert played[robot].any(axis=(1, 2)).sum() >= ROUNDS - 1


def test_signals_seldom_flag_who_looks(played):
    """5 of 120 HITs are more than twice the promised 2%: at that rate, seen in one draw of ten."""
    assert sum(played[name][:, 1].sum() for name in HONEST) <= 5
