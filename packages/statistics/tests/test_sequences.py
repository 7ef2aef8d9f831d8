import math
import random

import numpy as np
import pytest
from scipy.stats import norm

from counterpart_statistics.sequences import confidence_sequence

ALPHA = 0.1


def slow_interval(values, population, alpha, steps=400):
    """The definition, mean by mean and value by value: the means at which neither gambler ever had 2 / alpha."""
    kept = [m / steps for m in range(steps + 1) if not refuted(values, m / steps, population, alpha)]
    return min(kept), max(kept)


def refuted(values, m, population, alpha):
    more = less = 1.0
    for t, x in enumerate(values):
        before = values[:t]
        left = m if population is None else (population * m - sum(before)) / (population - t)
        if not 0 <= left <= 1:
            return True
        stake = stake_after(before, alpha)
        more *= 1 + min(stake, 0.75 / left if left else math.inf) * (x - left)
        less *= 1 - min(stake, 0.75 / (1 - left) if left < 1 else math.inf) * (x - left)
        if max(more, less) >= 2 / alpha:
            return True
    rest = population - len(values) if population else 0
    return bool(population) and not sum(values) - 1e-9 <= population * m <= sum(values) + rest + 1e-9


def stake_after(before, alpha):
    means = [(0.5 + sum(before[: i + 1])) / (i + 2) for i in range(len(before))]
    variance = (0.25 + sum((x - m) ** 2 for x, m in zip(before, means, strict=True))) / (len(before) + 1)
    t = len(before) + 1
    return math.sqrt(2 * math.log(2 / alpha) / (variance * t * math.log(1 + t)))


@pytest.mark.parametrize("population", [None, 45])
@pytest.mark.parametrize("seed", range(2))
def test_bounds_are_those_of_the_definition(population, seed):
    rng = random.Random(seed)
    values = [rng.choice((0.0, 0.3, 1.0)) for _ in range(40)]
    for count in (1, 7, 40):
        low, high = confidence_sequence(values, population=population, alpha=ALPHA, looks=[count])
        slow = slow_interval(values[:count], population, ALPHA)
        assert (low[0], high[0]) == pytest.approx(slow, abs=1 / 400 + 1e-9)


def test_the_first_bet_can_be_worked_by_hand():
    # One value, 1: the stake is sqrt(2 ln 4 / (1/4 ln 2)) = 4, at most 0.75 / m. With alpha = 1/2 a gambler needs 4:
    # 1 + 0.75 / m (1 - m) = 4 at m = 0.2; at m = 0.1875 and above that cap is below the stake.
    low, high = confidence_sequence([1.0], alpha=0.5)
    assert low[0] == pytest.approx(0.75 / 3.75, abs=1e-6)
    assert high[0] == pytest.approx(1.0)


def test_all_values_of_a_population_leave_its_mean_alone():
    values = np.random.default_rng(0).random(30)
    low, high = confidence_sequence(values, population=30)
    assert (low[0], high[0]) == pytest.approx((values.mean(), values.mean()))


def test_values_in_other_bounds_are_the_same_up_to_scale():
    values = np.random.default_rng(1).random((25, 2))
    plain = confidence_sequence(values, looks=[5, 25])
    scaled = confidence_sequence(values * [4, 10] - 2, bounds=(-2, [2, 8]), looks=[5, 25])
    np.testing.assert_allclose(scaled.low, np.array(plain.low) * [4, 10] - 2, atol=1e-6)
    np.testing.assert_allclose(scaled.high, np.array(plain.high) * [4, 10] - 2, atol=1e-6)


def test_looking_often_changes_no_bound_and_bounds_only_narrow():
    values = np.random.default_rng(2).random(60)
    daily = confidence_sequence(values, population=80, looks=range(1, 61))
    once = confidence_sequence(values, population=80)
    assert (daily.low[-1], daily.high[-1]) == pytest.approx((once.low[0], once.high[0]), abs=1e-6)
    assert (np.diff(daily.low) >= -1e-12).all()
    assert (np.diff(daily.high) <= 1e-12).all()


def test_bounds_that_coincide_are_the_mean():
    low, high = confidence_sequence([[3.0, 0.2], [3.0, 0.4]], bounds=([3, 0], [3, 1]))
    assert (low[0, 0], high[0, 0]) == (3.0, 3.0)
    assert low[0, 1] < high[0, 1]


def ever_missed(values, mean, population, alpha=ALPHA):
    """Whether an interval missed the mean at any look: those that follow lie inside it."""
    last = len(values) - 1 if population else len(values)
    low, high = confidence_sequence(values, population=population, alpha=alpha, looks=[last])
    return not low[0] - 1e-9 <= mean <= high[0] + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rare", "even", "fine"])
@pytest.mark.parametrize("drawn", [True, False])
def test_intervals_looked_at_after_every_value_cover_at_the_stated_rate(kind, drawn):
    # 80 runs; more than 16 misses have a probability below 0.4% if each has one of at most 10%.
    misses = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        n = 300
        population = {"rare": rng.random(n) < 0.05, "even": rng.random(n) < 0.5, "fine": rng.beta(2, 3, n)}[kind]
        if drawn:
            values, mean = rng.permutation(population).astype(float), population.mean()
        else:
            values, mean = rng.choice(np.array([0.0, 0.25, 1.0]), n, p=[0.5, 0.3, 0.2]), 0.275
        misses += ever_missed(values, mean, n if drawn else None)
    assert misses <= 16


def test_at_the_end_the_interval_is_at_most_three_times_as_wide_as_one_for_a_single_look():
    # sqrt(2 ln(2 / alpha) * log-factor) against 1.96: the price of looking whenever one likes.
    rng = np.random.default_rng(3)
    values = rng.random(2_000)
    low, high = confidence_sequence(values, alpha=0.05)
    fixed = 2 * norm.ppf(0.975) * values.std() / math.sqrt(len(values))
    assert fixed < high[0] - low[0] < 3 * fixed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": [0.5, 1.5]}, "1 values are outside"),
        ({"values": [float("nan")]}, "1 values are outside"),
        ({"values": [0.5], "alpha": 0}, "Invalid alpha 0"),
        ({"values": [0.5, 0.5], "population": 1}, "2 values were drawn from a population of 1"),
        ({"values": [0.5], "looks": [0]}, "Invalid looks from 0"),
        ({"values": [0.5], "looks": [2]}, "there are 1 values"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        confidence_sequence(**arguments)
