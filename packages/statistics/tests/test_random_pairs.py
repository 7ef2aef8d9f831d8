from math import comb, log

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom, binomtest

from counterpart_statistics.random_pairs import (
    ControlVotes,
    Estimate,
    exact_interval,
    learn_from_controls,
    majority_wrong,
)


def test_matches_and_mistakes_are_distinguished_by_hand():
    # Two votes on each of 100 pairs: 4 both yes, 16 one yes. Yes 12%, both 4%: a share p matches and e of the other
    # votes err if p + (1 - p) e = 0.12 and p + (1 - p) e^2 = 0.04, so p = (0.04 - 0.0144) / (1 - 0.24 + 0.04).
    yes = [2] * 4 + [1] * 16 + [0] * 80
    found = learn_from_controls(ControlVotes(yes, [2] * 100, missed=0, known=10**6))
    assert found.rate.value == pytest.approx(0.032, abs=1e-5)
    assert found.yes.value == pytest.approx((0.12 - 0.032) / 0.968, abs=1e-5)
    assert found.no.value == pytest.approx(0, abs=1e-6)


def slow_likelihood(votes, rate):
    """The highest log-likelihood at a rate, over both errors, by a general optimiser."""

    def unlikely(errors):
        yes_wrong, no_wrong = 1 / (1 + np.exp(-errors))
        yes, no = np.array(votes.yes), np.array(votes.votes) - votes.yes
        match = (1 - no_wrong) ** yes * no_wrong**no
        other = yes_wrong**yes * (1 - yes_wrong) ** no
        known = votes.missed * log(no_wrong) + (votes.known - votes.missed) * log(1 - no_wrong)
        return -known - np.log(rate * match + (1 - rate) * other).sum()

    return -min(minimize(unlikely, start, method="Nelder-Mead").fun for start in ([-3, -3], [-1, -2], [-5, -2]))


def test_rate_and_interval_are_those_of_a_slow_likelihood():
    yes = [3, 3, 2, *[1] * 6, *[0] * 31]
    votes = ControlVotes(yes, [3] * 30 + [2] * 10, missed=4, known=60)
    found = learn_from_controls(votes).rate
    rates = np.linspace(0.004, 0.4, 100)
    slow = np.array([slow_likelihood(votes, rate) for rate in rates])
    kept = rates[slow >= slow.max() + log(0.025)]
    assert found.value == pytest.approx(rates[slow.argmax()], abs=4e-3)
    assert found.low == pytest.approx(kept.min(), abs=5e-3)
    assert found.high == pytest.approx(kept.max(), abs=5e-3)


def test_without_any_yes_the_interval_is_that_of_clopper_and_pearson():
    found = learn_from_controls(ControlVotes([0] * 50, [3] * 50, missed=0, known=10**6))
    exact = binomtest(0, 50).proportion_ci(method="exact")
    assert (found.rate.value, found.rate.low) == (0, 0)
    assert found.rate.high == pytest.approx(exact.high, rel=1e-4)
    assert found.yes.high == pytest.approx(binomtest(0, 150).proportion_ci(method="exact").high)


def test_lone_votes_for_a_match_among_many_against_are_mistakes():
    found = learn_from_controls(ControlVotes([1] * 20 + [0] * 980, [3] * 1_000, missed=1, known=1_000))
    assert found.rate.low == 0
    assert found.rate.value < 1e-4
    assert found.rate.high < 0.005
    assert found.yes.value == pytest.approx(20 / 3_000, rel=0.01)


def test_a_single_vote_on_each_pair_leaves_open_whether_it_is_wrong():
    found = learn_from_controls(ControlVotes([1] * 5 + [0] * 95, [1] * 100, missed=0, known=1_000))
    assert found.rate.low == 0
    assert found.rate.high > 0.1


def test_the_interval_of_the_rate_covers_it_at_its_rate():
    inside = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        is_match = rng.random(500) < 0.01
        yes = rng.binomial(3, np.where(is_match, 0.9, 0.05))
        rate = learn_from_controls(ControlVotes(yes, [3] * 500, int(rng.binomial(500, 0.1)), 500)).rate
        inside.append(rate.low <= 0.01 <= rate.high)
    assert np.mean(inside) >= 0.95


def test_votes_that_do_not_count_move_only_the_upper_end_of_the_rate():
    counted = ControlVotes([0] * 97, [2] * 97, missed=0, known=200)
    every = ControlVotes([2] * 3 + [0] * 97, [2] * 100, missed=0, known=200)
    alone, both = learn_from_controls(counted), learn_from_controls(counted, every=every)
    assert both.rate == (0, 0, learn_from_controls(every).rate.high)
    assert both.rate.high > alone.rate.high
    assert both[1:] == alone[1:]


def test_without_random_pairs_the_rate_is_open():
    found = learn_from_controls(ControlVotes([], [], 1, 10))
    assert np.isnan(found.rate.value)
    assert found.rate[1:] == (0, 1)


@pytest.mark.parametrize(
    "votes",
    [ControlVotes([2], [1], 0, 1), ControlVotes([0], [0], 0, 1), ControlVotes([-1], [1], 0, 1),
     ControlVotes([0], [1], 2, 1)],
)  # fmt: skip
def test_more_votes_for_one_thing_than_there_are_is_refused(votes):
    with pytest.raises(ValueError, match="More votes"):
        learn_from_controls(votes)


def test_a_majority_is_wrong_as_often_as_most_of_its_votes_are():
    error = Estimate(0.1, 0.0, 0.5)
    # Of three votes: 3 * 0.01 * 0.9 + 0.001; of one: 0.1.
    assert majority_wrong(error, [3], if_tied=False).value == pytest.approx(0.028)
    assert majority_wrong(error, [1, 3], if_tied=False) == pytest.approx((0.064, 0, 0.5))
    # Of two votes: both, or with ties at least one.
    assert majority_wrong(error, [2], if_tied=False).value == pytest.approx(0.01)
    assert majority_wrong(error, [2], if_tied=True).value == pytest.approx(0.19)
    for n in range(1, 7):
        slow = sum(comb(n, k) * 0.1**k * 0.9 ** (n - k) for k in range(n + 1) if 2 * k > n)
        assert majority_wrong(error, [n], if_tied=False).value == pytest.approx(slow)
        tied = binom.pmf(n // 2, n, 0.1) * (n % 2 == 0)
        assert majority_wrong(error, [n], if_tied=True).value == pytest.approx(slow + tied)


@pytest.mark.parametrize(("found", "n"), [(0, 100), (1, 50), (3, 160), (10, 40), (40, 40)])
def test_the_exact_interval_is_that_of_scipy(found, n):
    """At its high end, so few have the chance of an error."""
    low, high = exact_interval(found, n)
    exact = binomtest(found, n).proportion_ci(method="exact")
    assert (low, high) == pytest.approx((exact.low, exact.high))
    assert found == n or binom.cdf(found, n, exact_interval(found, n, 0.05)[1]) == pytest.approx(0.05)


def test_of_none_nothing_is_known():
    assert exact_interval(0, 0) == (0, 1)


def test_the_high_end_holds_for_random_samples_without_replacement():
    """Whatever the share, the end is below it in 5% of the samples at most."""
    rng = np.random.default_rng(0)
    for share in (0.002, 0.01, 0.03):
        matches = round(share * 2_000)
        drawn = rng.hypergeometric(matches, 2_000 - matches, 160, size=2_000)
        held = np.array([exact_interval(found, 160, 0.05)[1] for found in range(161)])[drawn] >= share
        assert held.mean() >= 0.95 - 3 * (0.05 * 0.95 / 2_000) ** 0.5
