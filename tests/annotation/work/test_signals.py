"""The signals on arrays; test_evidence has them on rows."""

from itertools import permutations
from math import exp, log

import numpy as np
import pytest
from numpy.typing import ArrayLike
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from annotation.work.signals import (
    LEVEL,
    Pace,
    agrees_by_chance,
    contradicts_itself,
    follows_annotator,
    in_a_pattern,
    one_level,
    too_fast,
    unread,
)
from counterpart_statistics.following import Expected

CHANCE = np.tile([0.95, 0.8, 0.2, 0.05], 8)  # of yes, for 32 pairs


def honest(rng: np.random.Generator) -> np.ndarray:
    return (rng.random(len(CHANCE)) < CHANCE).astype(float)


def test_a_set_below_the_floor_is_too_fast():
    assert too_fast(0.5, floor=1).sentence.startswith("0.5 s a pair;")
    assert too_fast(1.5, floor=1) is None


def test_a_set_is_too_fast_below_a_quarter_of_the_rounds_usual_time():
    usual = Pace(log(20), 0.1)
    assert too_fast(4.9, floor=1, usual=usual).sentence == "4.9 s a pair; the round's usual time is 20 s."
    assert too_fast(5.1, floor=1, usual=usual) is None


def test_where_workers_differ_much_in_speed_only_the_very_fast_are_too_fast():
    assert Pace(log(20), 1.0).fastest == pytest.approx(20 * exp(-3.5))


def test_a_pace_is_the_median_and_the_robust_spread_of_log_seconds():
    found = Pace.of([exp(1), exp(2), exp(3), exp(4), exp(100)])
    assert (found.median, found.spread) == pytest.approx((3, 1.4826))


def test_a_set_is_compared_with_the_workers_own_earlier_ones():
    assert too_fast(4, floor=1, own=[20, 22, 24]).sentence == "4.0 s a pair; the worker's own usual time is 22 s."
    assert too_fast(4, floor=1, own=[20, 22]) is None


def test_pairs_that_were_shown_too_short_are_counted_where_seconds_are_known():
    assert unread([0] * 7 + [5] * 8 + [None] * 3, floor=1).sentence.startswith("7 of 15 pairs were shown for less than")
    assert unread([0] * 5 + [5] * 10, floor=1) is None
    assert unread([None] * 18, floor=1) is None


@pytest.mark.parametrize(
    ("levels", "says"),
    [
        ([1, 4] * 9, "100% of the answers repeat the one 2 pairs before."),
        ([1, 2, 3, 4] * 5, "100% of the answers repeat the one 4 pairs before."),
        ([1] * 9 + [4] * 9, "The answers come in runs: 94% of them repeat the one before."),
        ([4, 1, 4, 4, 2, 4, 1, 4, 3, 3, 4, 4, 1, 4, 4, 2, 4, 4], None),
        ([4] * 18, None),  # it has no order
        ([1, 4] * 3, None),  # too few
    ],
)
def test_regular_answers_are_a_pattern(levels, says):
    found = in_a_pattern(levels)
    assert (found and found.sentence) == says


@pytest.mark.parametrize("levels", [[1, 4] * 4, [1, 1, 2, 2, 4, 4, 4, 4], [1, 2, 4] * 3, [1] + [4] * 8])
def test_a_pattern_is_as_rare_as_among_all_orders_of_the_same_answers(levels):
    """The drawn null distribution against all permutations."""

    def periodic(row: tuple[int, ...]) -> float:
        n = len(row)
        return max(sum(row[i] == row[i + lag] for i in range(n - lag)) / (n - lag) for lag in range(1, 7))

    found = periodic(tuple(levels))
    orders = set(permutations(levels)) if len(levels) < 9 else {p for p in permutations(levels)}
    exact = np.mean([periodic(order) >= found - 1e-9 for order in orders])
    assert (in_a_pattern(levels) is not None) == (found >= 0.75 and exact <= LEVEL)


def test_nearly_equal_answers_are_a_signal_where_others_give_other_levels():
    assert one_level([4] * 17 + [3], [0.2, 0.2, 0.1, 0.5]).sentence == (
        "17 of 18 answers have level 4; others give it 50%."
    )
    assert one_level([4] * 18, [0.02, 0.02, 0.06, 0.9]) is None  # 0.9 ** 18 = 0.15
    assert one_level([4] * 16 + [3, 3], [0.25] * 4) is None


def test_expected_answers_are_those_of_a_logistic_regression():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(300, 3))
    yes = rng.random(300) < 1 / (1 + np.exp(-1 - features @ [2, -1, 0]))
    ours = Expected.fitted(features, yes)
    theirs = LogisticRegression(C=1, tol=1e-9).fit(features, yes)
    assert ours.weights == pytest.approx([*theirs.intercept_, *theirs.coef_[0]], abs=1e-4)
    assert ours.chance(features[:5]) == pytest.approx(theirs.predict_proba(features[:5])[:, 1], abs=1e-4)


def test_answers_that_the_pairs_do_not_explain_agree_by_chance():
    yes = np.tile([1, 0, 1, 0, 0, 1, 0, 1], 4)
    found = agrees_by_chance(yes, CHANCE)
    auc = roc_auc_score(yes, CHANCE)
    assert f"in {auc:.0%} of the cases" in found.sentence
    assert found.sentence.startswith("32 answers agree")
    assert agrees_by_chance(honest(np.random.default_rng(1)), CHANCE) is None


def test_who_answers_exactly_as_an_annotator_ranks_follows_it():
    rng = np.random.default_rng(2)
    ranks = np.stack([rng.random(32), CHANCE + rng.normal(0, 0.3, 32)])
    yes = (ranks[1] > np.median(ranks[1])).astype(float)
    found = follows_annotator(yes, CHANCE, ranks, ["overlap", "clip"])
    assert found.sentence.startswith("32 answers follow the ranks of clip.")
    assert ("higher in 100% of the cases" in found.sentence, found.annotator) == (True, "clip")
    assert follows_annotator(honest(rng), CHANCE, ranks, ["overlap", "clip"]) is None


class Strong:
    """A drawn round whose last annotator sees the truth through little noise, as the votes of others do, and whose
    first one is weak. ``chance`` is learned from 100 sets of workers of whom one in ten clicks at random."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        relevant = self.rng.random((300, 40)) < 0.1
        scores = np.stack([skill * relevant + self.rng.normal(size=relevant.shape) for skill in (0.3, 4.0)])
        ranks = 1 + (-scores).argsort(axis=2).argsort(axis=2)
        pooled = (ranks <= 5).any(axis=0)
        self.match = relevant[pooled]
        self.ranks = np.where(ranks <= 5, 1 / ranks, 0.0)[:, pooled]
        asked = np.concatenate([self.asked(1) for _ in range(100)])
        error = np.repeat(np.where(np.arange(100) % 10, 0.04, 0.5), 16)
        self.expected = Expected.fitted(self.features(asked), self.answers(asked, error))

    def asked(self, sets: int) -> np.ndarray:
        return self.rng.choice(len(self.match), 16 * sets, replace=False)

    def answers(self, pairs: np.ndarray, error: ArrayLike) -> np.ndarray:
        return (self.match[pairs] != (self.rng.random(len(pairs)) < error)).astype(float)

    def features(self, pairs: np.ndarray) -> np.ndarray:
        ranks = self.ranks[:, pairs].T
        return np.hstack([ranks, ranks > 0])

    def follows(self, pairs: np.ndarray, yes: np.ndarray) -> str:
        found = follows_annotator(
            yes, self.expected.chance(self.features(pairs)), self.ranks[:, pairs], ["weak", "strong"]
        )
        return found.sentence if found else ""


def test_an_honest_crowd_with_a_strong_annotator_is_not_taken_for_copies_and_copies_are_found():
    """Of 240 honest sets, by sharp workers and others, 6 flags are the 98% bound at the stated level."""
    flags, caught = [], []
    for seed in range(8):
        drawn = Strong(seed)
        for number in range(30):
            pairs = drawn.asked((1, 3, 6)[number % 3])
            flags.append(drawn.follows(pairs, drawn.answers(pairs, (0.01, 0.04, 0.08)[number % 3])))
        pairs = drawn.asked(3)
        caught.append(drawn.follows(pairs, (drawn.ranks[0, pairs] > 0).astype(float)))
    assert sum(map(bool, flags)) <= 6
    assert sum("ranks of weak" in one and "higher in 100%" in one for one in caught) == 8


@pytest.mark.parametrize("yes", [np.zeros(32), np.ones(32), np.tile([1.0, 0.0], 3)])
def test_equal_or_few_answers_say_nothing_of_agreement(yes):
    chance = CHANCE[: len(yes)]
    assert agrees_by_chance(yes, chance) is None
    assert follows_annotator(yes, chance, chance[None], ["clip"]) is None


def test_honest_answers_are_rarely_taken_for_chance_or_a_copy():
    """Lenient and strict ones too: 3 flags are the 99% bound of 200 sets at the stated level."""
    rng = np.random.default_rng(3)
    flags = 0
    for shift in np.tile([-1.5, 0, 1.5], 67)[:200]:
        yes = (rng.random(32) < 1 / (1 + np.exp(-np.log(CHANCE / (1 - CHANCE)) - shift))).astype(float)
        flags += agrees_by_chance(yes, CHANCE) is not None
        flags += follows_annotator(yes, CHANCE, CHANCE[None], ["clip"]) is not None
    assert flags <= 2 * 3


def test_answers_to_the_same_pair_may_switch_now_and_then():
    assert contradicts_itself([1, 4], [4, 2]).sentence == (
        "2 of 2 pairs that were asked twice were answered yes once and no once."
    )  # 0.07 ** 2 = 0.0049
    assert contradicts_itself([1, 1, 1], [4, 3, 2]) is None  # 3 * 0.07 ** 2 * 0.93 + 0.07 ** 3 = 0.014
    assert contradicts_itself([], []) is None
    assert contradicts_itself([1, 3, 2], [2, 4, 1]) is None
