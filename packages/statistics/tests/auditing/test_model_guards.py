"""Guarded scores of a greedy round; benchmarks.estimation and test_guards.py replay them on judged testbeds."""

from dataclasses import replace
from itertools import islice, repeat

import numpy as np
import pytest

from counterpart_statistics.auditing.model_guards import example_guards, model_guards
from counterpart_statistics.auditing.model_scores import model_estimates
from counterpart_statistics.estimation import METRICS, pool_metrics, shrunk
from counterpart_statistics.selection.selection_replay import selection_steps
from round_worlds import drawing, synthetic_round


@pytest.fixture(scope="module")
def greedy():
    *_, step = islice(selection_steps(drawing(synthetic_round(), 40), repeat(500)), 4)
    return step.wholes[0]


def test_guards_are_between_the_counted_score_and_the_estimate_by_one_weight_of_a_metric(greedy):
    estimates = model_estimates(greedy, METRICS[:1])
    counted = pool_metrics(greedy.queries.ranks, np.nan_to_num(greedy.queries.gains))[0].mean(axis=1)
    values, errors = np.array([(one.estimate.value, one.estimate.error) for one in estimates]).T
    expected, weight = shrunk(values, errors, counted)
    guards = model_guards(greedy, estimates)
    assert [one.guarded for one in guards] == pytest.approx(expected.tolist())
    assert {one.weight for one in guards} == {float(weight)}
    for one in guards:
        assert one.low <= min(one.guarded, one.estimate.estimate.low)
        assert one.high >= max(one.guarded, one.estimate.estimate.high)
    (example,) = example_guards(guards)
    assert example.counted == max(one.counted for one in guards)


def test_estimates_for_queries_like_these_are_guarded_for_these_queries(greedy):
    like, these = (model_estimates(greedy, METRICS[:1], queries=question) for question in ("like", "these"))
    assert model_guards(greedy, like) == model_guards(greedy, these)


def test_a_round_without_likely_matches_has_no_guard(greedy):
    plain = replace(greedy, opened=np.zeros_like(greedy.opened))
    assert model_guards(plain, model_estimates(plain)) == []


def test_a_guard_says_what_its_score_is_worth(greedy):
    (one, *_) = model_guards(greedy, model_estimates(greedy, METRICS[:1]))
    estimate = replace(one.estimate, estimate=replace(one.estimate.estimate, value=0.41, low=0.401, high=0.419))
    kept = replace(one, estimate=estimate, counted=0.412, guarded=0.412, weight=0.0)
    assert str(kept) == (
        "The audit cannot distinguish the counted score from the whole round's: counted 0.412; the whole round would "
        "say 0.401 to 0.419 (95%)."
    )
    moved = replace(kept, counted=0.372, guarded=0.391, weight=0.5)
    assert str(moved) == "Counted 0.372, which misses matches; guarded 0.391 (95%: 0.391 to 0.419)."


def test_the_estimate_does_not_enter_below_seventeen_tenths_of_its_error():
    _, weight = shrunk([0.517, 0.517], [0.01, 0.01], [0.5, 0.5])
    assert weight == 0
    _, weight = shrunk([0.518, 0.518], [0.01, 0.01], [0.5, 0.5])
    assert weight > 0
