"""Intervals of unfinished audits hold those of the finished one, whatever verdicts come."""

from itertools import product

import numpy as np
import pytest

from counterpart_statistics.estimation import estimate, worst_interval


def case(seed, *, queries=30, drawn=12, missing=5):
    rng = np.random.default_rng(seed)
    metric = rng.random(queries)
    proxy = np.clip(metric + rng.normal(0, 0.3, queries), 0, 1)
    inside = np.arange(queries) < drawn
    known = inside & (np.arange(queries) >= missing)
    return metric, proxy, inside, known


@pytest.mark.parametrize("drawn", [12, 30])
@pytest.mark.parametrize("seed", range(6))
def test_the_interval_holds_those_of_every_corner_and_of_values_between(seed, drawn):
    """An independent witness: every mix of the worst and the best metrics, and random ones."""
    metric, proxy, inside, known = case(seed, drawn=drawn)
    low, high = worst_interval(metric, proxy, inside, known)
    missing = np.flatnonzero(inside & ~known)
    rng = np.random.default_rng(seed)
    mixes = [*product((0.0, 1.0), repeat=len(missing)), *rng.random((50, len(missing)))]
    ends = []
    for mix in mixes:
        values = metric.copy()
        values[missing] = mix
        one = estimate(values, proxy, inside, inside.mean())
        ends.append((one.low, one.high))
    least, most = np.array(ends).min(axis=0)[0], np.array(ends).max(axis=0)[1]
    assert low <= least
    assert high >= most
    assert high - low < 1.8 * (most - least)  # a bound that is of use


def test_without_missing_metrics_it_is_the_interval_of_the_estimate():
    metric, proxy, inside, _ = case(1)
    one = estimate(metric, proxy, inside, inside.mean(), level=0.9)
    assert worst_interval(metric, proxy, inside, inside, level=0.9) == pytest.approx((one.low, one.high))


def test_a_case_worked_by_hand():
    """Two of two queries drawn, one known to be 0.5: the mean is 0.25 to 0.75. With 0.5 in the middle the spread is 0,
    and the residual of the missing one moves it by 0.5 · √(1 / 1); t of one degree of freedom at 0.5 is 1."""
    low, high = worst_interval([0.5, np.nan], [0.2, 0.4], [True, True], [True, False], level=0.5)
    assert (low, high) == pytest.approx((0.25 - 0.5 / np.sqrt(2), 0.75 + 0.5 / np.sqrt(2)))


def test_differences_are_bounded_by_minus_one_and_one():
    metric, proxy, inside, known = case(2)
    narrow = worst_interval(metric, proxy, inside, known)
    wide = worst_interval(metric, proxy, inside, known, lowest=-1, highest=1)
    assert wide[0] < narrow[0]
    assert wide[1] >= narrow[1]


def test_an_audit_of_one_query_is_refused():
    with pytest.raises(ValueError, match="1 queries were drawn"):
        worst_interval([1, 0], [1, 0], [True, False], [True, False])
