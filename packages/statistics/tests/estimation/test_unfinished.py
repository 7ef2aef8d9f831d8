"""Intervals of unfinished audits hold those of the finished one, whatever verdicts come."""

from itertools import product

import numpy as np
import pytest

from counterpart_statistics.estimation import score_interval, worst_interval


def case(seed, *, queries=30, drawn=12, missing=5, hits=False):
    rng = np.random.default_rng(seed)
    metric = rng.random(queries)
    proxy = np.clip(metric + rng.normal(0, 0.3, queries), 0, 1)
    inside = np.arange(queries) < drawn
    known = inside & (np.arange(queries) >= missing)
    return (metric.round() if hits else metric), proxy, inside, known


@pytest.mark.parametrize("question", ["these", "like"])
@pytest.mark.parametrize(("drawn", "hits"), [(12, False), (12, True), (30, False)])
@pytest.mark.parametrize("seed", range(4))
def test_the_interval_holds_those_of_every_corner_and_of_values_between(seed, drawn, hits, question):
    """An independent witness: every mix of the worst and the best metrics, and random ones."""
    metric, proxy, inside, known = case(seed, drawn=drawn, hits=hits)
    low, high = worst_interval(metric, proxy, inside, known, queries=question)
    missing = np.flatnonzero(inside & ~known)
    mixes = np.array([*product((0.0, 1.0), repeat=len(missing)), *np.random.default_rng(seed).random((50, 5))])
    values = np.tile(metric, (len(mixes), 1))
    values[:, missing] = mixes
    found = score_interval(values, np.tile(proxy, (len(mixes), 1)), inside, queries=question)
    assert low <= found.low.min() + 1e-9
    assert high >= found.high.max() - 1e-9
    assert high - low < 1.8 * (found.high.max() - found.low.min())  # a bound that is of use


@pytest.mark.parametrize("question", ["these", "like"])
@pytest.mark.parametrize("hits", [False, True])
def test_without_missing_metrics_it_is_the_interval_of_the_finished_audit(hits, question):
    metric, proxy, inside, _ = case(1, hits=hits)
    one = score_interval(metric, proxy, inside, queries=question, level=0.9)
    found = worst_interval(metric, proxy, inside, inside, queries=question, level=0.9)
    assert found == pytest.approx((float(one.low), float(one.high)), abs=1e-9)


def test_of_all_queries_only_the_missing_ones_leave_room():
    """Three of three queries drawn, two known: the mean of 0.5, 0.2 and a third between 0 and 1."""
    drawn = [True] * 3
    assert worst_interval([0.5, 0.2, np.nan], [0.2, 0.4, 0.1], drawn, [True, True, False]) == pytest.approx(
        (0.7 / 3, 1.7 / 3)
    )


def test_differences_are_bounded_by_minus_one_and_one():
    metric, proxy, inside, known = case(2)
    narrow = worst_interval(metric, proxy, inside, known)
    wide = worst_interval(metric, proxy, inside, known, bounds=(-1.0, 1.0))
    assert wide[0] < narrow[0]
    assert wide[1] >= narrow[1]


def test_an_audit_of_two_queries_is_refused():
    with pytest.raises(ValueError, match="2 queries were drawn"):
        worst_interval([1, 0, 0], [1, 0, 0], [True, True, False], [True, False, False])
