"""Intervals hold the truth as often as they say, and those of the designs that must not be used do not."""

import numpy as np
import pytest

from benchmarks.estimation.beds import eccv_beds, flickr_beds, rare_beds, synthetic_bed
from benchmarks.estimation.questions import SHOWN, interval_before, narrow_metrics, proxy_of, replayed
from counterpart_statistics.estimation import (
    estimate,
    estimate_two_phase,
    expected_metric,
    nested_interval,
    pair_inclusion,
    pool_metrics,
    score_interval,
)

QUERIES = 400
AUDITED = 120


@pytest.fixture(scope="module")
def world():
    return synthetic_bed(queries=QUERIES, items=800)


@pytest.fixture(scope="module")
def rare():
    """Few matches in large pools."""
    return synthetic_bed(queries=QUERIES, items=800, matches=1.5, seed=8)


@pytest.fixture(scope="module")
def proxy(world):
    return proxy_of(world, 0, AUDITED)


def test_audits_hold_what_each_question_is_of(world, proxy):
    found = replayed(world.metrics[:SHOWN], [proxy], AUDITED, 60)
    for question in ("these", "like"):
        assert found[question].coverage.mean() > 0.93, question
        assert found[question].coverage.min() > 0.85, question
    assert found["these"].width.mean() < 0.85 * found["like"].width.mean()
    assert found["before: these"].coverage.mean() > 0.98  # the interval of another question, and too wide for this one


def test_unjudged_pairs_that_count_as_no_match_make_intervals_miss(world):
    rng = np.random.default_rng(0)
    held = []
    for _ in range(20):
        drawn = rng.integers(0, QUERIES, QUERIES)
        seen = rng.random((QUERIES, world.asked.shape[1])) < 0.3
        metric = pool_metrics(world.ranks[:, drawn], np.where(world.asked[drawn] & ~seen, 0.0, world.gains[drawn]))[0]
        reach = 1.96 * metric.std(axis=1, ddof=1) / np.sqrt(QUERIES)
        held.append(np.abs(metric.mean(axis=1) - world.metrics[0].mean(axis=1)) <= reach)
    assert np.mean(held) < 0.2


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("beds_of", [flickr_beds, eccv_beds], ids=["Flickr8k", "ECCV Caption"])
def test_both_questions_hold_on_real_judgments_and_the_old_interval_is_too_wide_for_these(shared, beds_of):
    (bed,) = beds_of(shared / "data", ["caption_to_image"])
    for real in (bed, *rare_beds([bed])):
        for n in (100, 300):
            fits = [proxy_of(real, seed, n) for seed in range(4)]
            found = replayed(real.metrics[:SHOWN], fits, n, 100)
            for question in ("these", "like"):
                assert found[question].coverage.mean() >= 0.93, (real.name, n, question)
                assert found[question].coverage.min() >= 0.87, (real.name, n, question)
        assert found["these"].width.mean() <= 0.8 * found["like"].width.mean()
        assert found["before: these"].coverage.mean() > 0.98


@pytest.mark.slow
@pytest.mark.shared
def test_a_top_up_holds_the_wide_pools_score_and_the_rounds_own_interval_does_not(shared):
    (bed,) = eccv_beds(shared / "data", ["caption_to_image"])
    narrow, metrics = narrow_metrics(bed), bed.metrics[:SHOWN]
    topped = np.arange(metrics.shape[2]) < 150
    rng = np.random.default_rng(0)
    held = []
    for _ in range(60):
        drawn = rng.permutation(len(topped))
        own, wider = narrow[..., drawn], metrics[..., drawn]
        found = nested_interval(wider, [own], [topped])
        read = score_interval(own, own, np.ones(len(topped), bool), queries="like")
        truth = wider.mean(axis=2)
        held.append([((one.low <= truth) & (truth <= one.high)).mean() for one in (found, read)])
    assert np.mean(held, axis=0)[0] >= 0.93
    assert np.mean(held, axis=0)[1] < 0.8


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["constant", "inverted", "shuffled"])
def test_wrong_probabilities_cost_width_and_not_coverage(world, proxy, wrong):
    rng = np.random.default_rng(0)
    made = {"constant": np.full(proxy.shape, 0.5), "inverted": 1 - proxy, "shuffled": rng.permuted(proxy, axis=2)}
    found = replayed(world.metrics[:SHOWN], [made[wrong]], AUDITED, 100)["these"]
    good = replayed(world.metrics[:SHOWN], [proxy], AUDITED, 100)["these"]
    assert found.coverage.mean() >= 0.93
    assert found.width.mean() >= 0.999 * good.width.mean()


def phases(bed, corrected, replays, spread):
    """Return how often intervals of mAP@R hold the truth where a third of the budget goes to an audit and the rest to
    single pairs: for 30% of the judgments on ``spread`` times the queries."""
    p, tau, _ = bed.probabilities(0)
    expected = expected_metric(bed.ranks, p, bed.known, tau)
    metrics, proxy, slopes = bed.metrics[0], expected.mean[0], expected.slopes[0, ..., 0]
    spent = 0.3 * bed.asked.sum()
    rng = np.random.default_rng(0)
    held = []
    for _ in range(replays):
        drawn = rng.integers(0, QUERIES, spread * QUERIES)
        asked, chance = bed.asked[drawn], 0.35 * 0.3 / spread
        audited = rng.random(len(drawn)) < chance
        free = asked & ~audited[:, None]
        steep, odds = slopes[:, drawn], np.where(asked, p[drawn], 0.0)
        variances = np.maximum(metrics.var(axis=1), 1e-6)
        pi = pair_inclusion(steep, odds, variances, spent - (asked & ~free).sum(), asked=free)
        seen = rng.random(pi.shape) < pi
        off = np.where(asked, (bed.gains[drawn] > 0) - odds, 0.0)
        for model, truth in enumerate(metrics.mean(axis=1)):
            given = (metrics[model, drawn], proxy[model, drawn], steep[model])
            if corrected:
                found = estimate_two_phase(*given, off, seen, pi, audited, chance)
                held.append(found.low <= truth <= found.high)
                continue
            linear = given[1] + (given[2] * np.where(seen, off / np.where(seen, pi, 1.0), 0.0)).sum(axis=1)
            each = np.where(audited, given[0], linear)
            held.append(abs(each.mean() - truth) <= 1.96 * each.std(ddof=1) / np.sqrt(len(each)))
    return np.mean(held)


@pytest.mark.slow
def test_two_phases_hold_the_truth_and_one_step_fails_where_matches_are_rare(world, rare):
    assert phases(world, True, 100, 1) >= 0.92
    assert phases(rare, True, 100, 1) >= 0.92
    assert phases(rare, False, 60, 4) < 0.9


def test_an_audit_that_labels_decided_fails(world):
    """Queries with many matches audited twice as often, while the estimate assumes that all were equally likely."""
    rng = np.random.default_rng(1)
    many = (world.gains > 0).sum(axis=1) > 5
    truth = world.metrics[0].mean(axis=1)
    proxy = expected_metric(world.ranks, np.full(world.gains.shape, 0.5), world.known, 0.0).mean[0]
    held = []
    for _ in range(60):
        drawn = rng.integers(0, len(many), len(many))
        audited = rng.random(len(drawn)) < np.where(many[drawn], 0.4, 0.15)
        for model in range(len(truth)):
            found = estimate(world.metrics[0, model, drawn], proxy[model, drawn], audited, audited.mean())
            held.append(found.low <= truth[model] <= found.high)
    assert np.mean(held) < 0.9


def test_the_interval_of_before_is_the_spread_over_all_queries():
    metric = np.array([1.0, 0.0, 0.5, 0.5, np.nan, np.nan, np.nan, np.nan])
    proxy = np.zeros(8)
    audited = np.arange(8) < 4
    found = score_interval(metric, proxy, audited, queries="like")
    low, high = interval_before(np.nan_to_num(metric), proxy, found, audited)
    each = np.array([1.5, -0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5])  # 0.5 + 2 (M - 0.5) where audited
    assert (low + high) / 2 == pytest.approx(0.5)
    assert (high - low) / 2 == pytest.approx(3.182446 * each.std(ddof=1) / np.sqrt(8))
