"""A machine judge is a proxy and never a label: a good one narrows intervals, a bad one cannot make them wrong."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.estimation.beds import judged, synthetic_bed
from benchmarks.estimation.replays import Prepared
from counterpart_statistics.estimation import METRICS, estimate

MAP = METRICS.index("mAP@R")
SHARE, REPLAYS, EVERY = 0.3, 200, 3  # of the queries; of rounds; the model of which is scored


@pytest.fixture(scope="module")
def good():
    return judged(synthetic_bed(queries=240, items=400), 0.93)


@pytest.fixture(scope="module")
def without_judge(good):
    return audited(Prepared.of(replace(good, judge=None), 0))


@pytest.fixture(scope="module")
def with_good_judge(good):
    return audited(Prepared.of(good, 0))


def audited(world):
    """Return coverage and mean width of mAP@R over rounds of queries drawn with replacement, and their audits."""
    rng = np.random.default_rng(1)
    metrics, proxy = world.metrics[MAP, ::EVERY], world.expected.mean[MAP, ::EVERY]
    truth = metrics.mean(axis=1)
    held, widths = [], []
    for _ in range(REPLAYS):
        drawn = rng.integers(0, metrics.shape[1], metrics.shape[1])
        chosen = rng.random(len(drawn)) < SHARE
        for model, value in enumerate(truth):
            found = estimate(metrics[model, drawn], proxy[model, drawn], chosen, SHARE)
            held.append(found.low <= value <= found.high)
            widths.append(found.high - found.low)
    return np.mean(held), np.mean(widths)


def test_a_good_judge_narrows_the_intervals_which_hold_the_truth_as_before(without_judge, with_good_judge):
    assert with_good_judge[0] >= 0.93
    assert with_good_judge[1] < 0.92 * without_judge[1]


def test_a_constant_judge_changes_next_to_nothing(good, without_judge):
    constant = replace(good, judge=np.where(np.isnan(good.judge), np.nan, 3.0))
    coverage, width = audited(Prepared.of(constant, 0))
    assert coverage >= 0.93
    assert width == pytest.approx(without_judge[1], rel=0.03)


def test_an_inverted_judge_informs_as_much_as_the_judge_itself(good, with_good_judge):
    """The labels of other queries say what its answers mean."""
    coverage, width = audited(Prepared.of(replace(good, judge=-good.judge), 0))
    assert coverage >= 0.93
    assert width == pytest.approx(with_good_judge[1], rel=0.03)


def test_a_judge_that_lies_where_nothing_was_learned_widens_the_intervals_which_hold_the_truth(good, without_judge):
    """It answers rightly on the queries that the probabilities are learned from, and the opposite elsewhere."""
    *_, pilot = good.probabilities(0)
    lying = replace(good, judge=np.where(pilot[:, None], good.judge, -good.judge))
    coverage, width = audited(Prepared.of(lying, 0))
    assert coverage >= 0.93
    assert width > without_judge[1]
