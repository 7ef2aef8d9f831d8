"""How often votes on candidates are wrong, where only answer sets with right controls count."""

import numpy as np
import pytest

from counterpart_statistics.random_pairs import Estimate
from counterpart_statistics.vote_errors import FEWEST_PAIRS, GAP, WorkersControls, Wrong, vote_errors


class Crowd:
    """Workers of whom some click at random. Sets of two controls and 16 candidates count if both controls are right.
    Votes err on candidates, of which a quarter match, as often as on controls, or more by ``harder``."""

    def __init__(self, seed, *, careless=0.3, workers=40, sets=12, votes=1, harder=0.0, error=0.03):
        rng = np.random.default_rng(seed)
        wrong = np.where(rng.random(workers) < careless, 0.5, error)
        failed = rng.random((workers, sets, 2)) < wrong[:, None, None]
        counted = ~failed.any(axis=2)
        self.controls = WorkersControls(failed.sum(axis=1), np.full((workers, 2), sets), counted.sum(axis=1))
        who = rng.choice(np.repeat(np.arange(workers), counted.sum(axis=1) * 16), (1_000, votes))
        errs = rng.random(who.shape) < wrong[who] + harder * (0.5 - wrong[who])
        match = rng.random(len(who)) < 0.25
        self.yes = (errs != match[:, None]).sum(axis=1)
        self.votes = np.full(len(who), votes)
        self.true = errs[~match].mean(), errs[match].mean()

    def errors(self) -> Wrong:
        return vote_errors(self.controls, self.yes, self.votes)


def test_errors_on_controls_of_sets_that_do_not_count_are_read_by_hand():
    """Of two workers one fails 6 of 10 negative controls. The crowd: (6 + 1) / (20 + 5) = 0.28, so that the workers'
    rates are (5 * 0.28 + 0) / 15 and (5 * 0.28 + 6) / 15, weighted by their 3 counted sets and 1."""
    controls = WorkersControls([[0, 0], [6, 0]], [[10, 10], [10, 10]], [3, 1])
    found = vote_errors(controls, [1, 0], [1, 1])
    rates = np.array([1.4, 7.4]) / 15
    value = (3 * rates[0] + rates[1]) / 4
    assert found.yes.value == pytest.approx(value)
    spread = 0.75**2 * (rates[0] - value) ** 2 + 0.25**2 * (rates[1] - value) ** 2
    high = value + 1.96 * np.sqrt(spread + value * (1 - value) / 25)
    assert (found.yes.low, found.yes.high) == (0, pytest.approx(high + GAP * (0.5 - high)))
    assert found.no.value == pytest.approx((5 * 1 / 25) / 15)


def test_votes_on_a_pair_that_differ_show_the_errors_by_hand():
    """Of 100 pairs of two votes 18 differ: 2 e (1 - e) = 0.18."""
    yes = np.array([1] * 18 + [2] * 20 + [0] * 62)
    found = vote_errors(WorkersControls([[0, 0]], [[9, 9]], [9]), yes, np.full(100, 2))
    assert found.yes.value == found.no.value == pytest.approx((1 - np.sqrt(1 - 0.36)) / 2)
    assert found.yes.value < found.yes.high < found.no.high <= 0.5  # matches are fewer, so that they may err more


def test_few_pairs_of_several_votes_do_not_replace_the_controls():
    crowd = Crowd(0)
    votes = crowd.votes.copy()
    votes[: FEWEST_PAIRS - 1] = 2
    assert vote_errors(crowd.controls, crowd.yes, votes) == crowd.errors()


@pytest.mark.parametrize(
    "kind", [{}, {"harder": 0.08}, {"careless": 0}, {"votes": 3}, {"votes": 3, "harder": 0.2}, {"votes": 2}]
)
def test_the_errors_of_counted_votes_are_within_the_interval(kind):
    """The controls of counted sets are right by choice: they say 0 where up to one vote of eight is wrong."""
    for seed in range(20):
        crowd = Crowd(seed, **kind)
        for said, true in zip(crowd.errors(), crowd.true, strict=True):
            assert said.low <= true <= said.high


def test_the_errors_of_counted_votes_are_about_right_where_candidates_are_no_harder():
    crowds = [Crowd(seed) for seed in range(20)]
    true = np.mean([crowd.true[0] for crowd in crowds])
    assert 0.05 < true < np.mean([crowd.errors().yes.value for crowd in crowds]) < true + 0.03


def test_without_a_counted_set_nothing_is_known():
    assert vote_errors(WorkersControls([[1, 1]], [[1, 1]], [0]), [], []).yes == Estimate(0.5, 0.0, 1.0)


def test_the_majority_of_three_votes_is_wrong_where_two_are():
    votes = Wrong(Estimate(0.1, 0, 0.2), Estimate(0.1, 0, 0.2))
    assert votes.by_majority([3]).yes.value == pytest.approx(3 * 0.01 * 0.9 + 0.001)
