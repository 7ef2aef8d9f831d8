"""A machine judge is a proxy and never a label: a good one narrows intervals, a bad one cannot make them wrong."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks.estimation.beds import synthetic_bed
from benchmarks.estimation.questions import proxy_of
from counterpart_statistics.estimation import METRICS, UNLISTED, estimate

MAP = METRICS.index("mAP@R")
SHARE, REPLAYS, EVERY = 0.3, 200, 3  # of the queries; of rounds; the model of which is scored
PILOT = 12  # queries that the probabilities are learned from


@pytest.fixture(scope="module")
def bed():
    return synthetic_bed(queries=240, items=400)


@pytest.fixture(scope="module")
def answers(bed):
    """(Q, J): on matches and other pairs normal, with an area under the curve of 0.93."""
    return np.sqrt(2) * norm.ppf(0.93) * (bed.gains > 0) + np.random.default_rng(11).standard_normal(bed.gains.shape)


@pytest.fixture(scope="module")
def without_judge(bed):
    return audited(bed)


@pytest.fixture(scope="module")
def with_good_judge(bed, answers):
    return audited(judged(bed, answers))


def judged(bed, answers):
    """Return the testbed with the judge's answers on all pairs as the list of one more annotator."""
    used = (bed.ranks < UNLISTED).any(axis=0)
    order = np.argsort(np.where(used, -answers, np.inf), axis=1, kind="stable")
    places = np.where(used, np.argsort(order, axis=1) + 1, UNLISTED)
    count = len(bed.scores)
    return replace(
        bed,
        models=(*bed.models[:count], "judge", *bed.models[count:]),
        ranks=np.insert(bed.ranks, count, places, axis=0),
        scores=np.append(bed.scores, np.where(used, answers, np.nan)[None], axis=0),
    )


def audited(bed):
    """Return coverage and mean width of mAP@R over rounds of queries drawn with replacement, and their audits."""
    rng = np.random.default_rng(1)
    scored = [place for place, model in enumerate(bed.models) if model != "judge"][::EVERY]
    metrics, proxy = bed.metrics[MAP, scored], proxy_of(bed, 0, PILOT)[MAP, scored]
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


def test_a_constant_judge_changes_next_to_nothing(bed, answers, without_judge):
    coverage, width = audited(judged(bed, np.full(answers.shape, 3.0)))
    assert coverage >= 0.93
    assert width == pytest.approx(without_judge[1], rel=0.03)


def test_an_inverted_judge_informs_as_much_as_the_judge_itself(bed, answers, with_good_judge):
    """The labels of other queries say what its answers mean."""
    coverage, width = audited(judged(bed, -answers))
    assert coverage >= 0.93
    assert width == pytest.approx(with_good_judge[1], rel=0.03)


def test_a_judge_that_lies_where_nothing_was_learned_widens_the_intervals_which_hold_the_truth(
    bed, answers, without_judge
):
    """It answers rightly on the queries that the probabilities are learned from, and the opposite elsewhere."""
    *_, pilot = bed.probabilities(0, PILOT / len(bed.groups))
    coverage, width = audited(judged(bed, np.where(pilot[:, None], answers, -answers)))
    assert coverage >= 0.93
    assert width > without_judge[1]
