"""Plans of audits from a pilot: costs, the law of their widths, matches, and how near they come (T7)."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from benchmarks.estimation.beds import DEPTH, synthetic_bed
from counterpart_statistics.estimation import (
    Pilot,
    Prices,
    expected_matches,
    expected_mean,
    folds_of,
    match_curve,
    match_probability,
    outlook_of,
    pair_features,
    plan,
    proxy_quality,
    query_effect,
    score_interval,
    width_ratio,
)


@pytest.fixture
def pilot():
    rng = np.random.default_rng(4)
    metrics = rng.random((2, 3, 40))
    return Pilot(
        metrics,
        metrics + 0.2 * rng.standard_normal(metrics.shape),
        matches=np.full(40, 6.0) + np.tile([1, -1], 20),
        expected=np.full(40, 5.0),
        pairs=np.full(40, 16.0),
        rest=rng.uniform(0, 0.6, 40 * 16 * 9),
    )


def test_a_width_is_no_wider_from_the_share_that_the_law_gives():
    for spread, quality in ((4, 0.5), (4, 0.86), (10, 0.3)):
        share = spread * (1 - quality) / (spread - quality)
        assert width_ratio(share, spread, quality) == pytest.approx(1)
        assert width_ratio(share + 0.01, spread, quality) < 1
    assert width_ratio(0.25, 1, 0.0) == pytest.approx(2)  # a quarter of the queries, no proxy


def test_matches_are_those_expected_corrected_by_the_pilot(pilot):
    # Each pilot query holds one match more than expected, on average.
    found = expected_matches(pilot, 400)
    assert found.matches == pytest.approx(pilot.rest.sum() + 40 * 5 + 400)
    assert found.matches_low < found.matches < found.matches_high
    whole = expected_matches(replace(pilot, rest=np.zeros(0)), 40)
    assert (whole.matches_low, whole.matches_high, whole.counted) == (240, 240, True)


def test_the_curve_of_matches_rises_from_those_found_to_those_expected(pilot):
    curve = match_curve(pilot, 400)
    assert (curve[0], curve[-1]) == pytest.approx((240, expected_matches(pilot, 400).matches))
    steps = np.diff(curve)
    assert (steps >= 0).all()
    assert (np.diff(steps) <= 1e-9).all()  # the likeliest first


def test_a_pilot_of_few_matches_promises_no_curve(pilot):
    few = replace(pilot, matches=pilot.matches / 2)
    with pytest.raises(ValueError, match="120 matches.* 200"):
        match_curve(few, 400)


def test_the_quality_of_a_proxy_is_its_squared_correlation(pilot):
    assert proxy_quality(pilot)[1, 2] == pytest.approx(np.corrcoef(pilot.metrics[1, 2], pilot.proxy[1, 2])[0, 1] ** 2)
    flat = replace(pilot, proxy=np.zeros_like(pilot.proxy))
    assert (proxy_quality(flat) == 0).all()


def test_plans_have_hits_cost_hours_and_widths(pilot):
    whole, third, spread = plan(pilot, [0.3], [1, 4], prices=Prices(Decimal("2.50"), 10.0), question="like")
    assert (whole.design, whole.hits, whole.cost, whole.hours) == ("all", 400, Decimal("1000.00"), 400 / 6)
    assert (third.design, third.hits, third.cost, third.hours) == ("audit", 120, Decimal("300.00"), 20.0)
    assert (third.recall, spread.recall) == (0.3, 0.075)
    assert third.matches == pytest.approx(0.3 * whole.matches)
    assert (third.width_by_metric > whole.width_by_metric).all()
    assert (spread.width_by_metric < third.width_by_metric).all()
    assert whole.width_by_metric[0, 0] == pytest.approx(
        2 * 1.966 * pilot.metrics[0, 0].std(ddof=1) / 20, rel=0.01
    )  # t of 399 degrees of freedom, pseudo-queries aside


def test_a_round_of_all_pairs_counts_its_queries_and_an_audit_of_more_has_a_width(pilot):
    whole, third, spread = plan(pilot, [0.3], [1, 4])
    assert (whole.width_by_metric == 0).all()
    assert (third.width_by_metric > 0).all()
    like = plan(pilot, [0.3], [1, 4], question="like")
    assert (third.width_by_metric < like[1].width_by_metric).all()
    assert (spread.width_by_metric < like[2].width_by_metric).all()


@pytest.mark.parametrize("question", ["these", "like"])
def test_predicted_widths_are_those_of_intervals_of_such_audits(question):
    """A world of 600 queries, a pilot of 150; the audits of 60 to 300 are drawn 40 times each."""
    rng = np.random.default_rng(8)
    share = rng.beta(0.7, 0.4, (2, 3, 600))
    world = np.stack([share[0], (share[1] > 0.2).astype(float)])
    proxy = 0.7 * world + 0.1 * rng.standard_normal(world.shape)
    chosen = np.arange(600) < 150
    nothing = np.zeros(150)
    found = outlook_of(
        Pilot(world[..., chosen], proxy[..., chosen], nothing, nothing, nothing + 4, np.zeros(1800)), 600
    )
    for audited in (60, 150, 300):
        draws = [rng.permutation(600) < audited for _ in range(40)]
        real = [score_interval(world, proxy, one, queries=question) for one in draws]
        mean = np.mean([one.high - one.low for one in real], axis=0)
        predicted = found.audit_widths(audited / 600, 1, question)
        assert np.abs(predicted / mean - 1).mean() < 0.12, audited


@pytest.mark.parametrize(("fractions", "kappas"), [([0.0], [1]), ([1.5], [1]), ([0.3], [0.5])])
def test_impossible_designs_are_refused(pilot, fractions, kappas):
    with pytest.raises(ValueError, match="Shares of the judgments"):
        plan(pilot, fractions, kappas)


@pytest.mark.slow
def test_a_twentieth_of_the_queries_predicts_widths_and_matches():
    """T7: widths within 15%, on average over the models, in nine of ten pilots; the matches inside their interval."""
    bed = synthetic_bed(queries=1500, items=1500)
    metrics = bed.metrics
    full = 2 * 1.96 * metrics.std(axis=2, ddof=1) / np.sqrt(1500)
    truth = (bed.gains[bed.asked] > 0).sum()
    features = pair_features(bed.ranks[: len(bed.scores)], bed.scores, DEPTH)
    near, held, off = [], [], []
    for seed in range(20):
        chosen = np.zeros(1500, bool)
        chosen[np.random.default_rng(seed).permutation(1500)[:75]] = True
        labels = np.where(bed.asked & chosen[:, None], bed.gains > 0, np.nan)
        p = np.where(bed.asked, match_probability(features, labels, folds_of(bed.groups, seed=seed)), 0.0)
        tau = query_effect(p, labels, chosen)
        proxy = expected_mean(bed.ranks[:, chosen], p[chosen], bed.known[chosen], tau)
        one = Pilot(
            metrics[:, :, chosen],
            proxy,
            matches=np.nansum(labels[chosen], axis=1),
            expected=p[chosen].sum(axis=1),
            pairs=bed.pairs[chosen].astype(float),
            rest=p[~chosen][bed.asked[~chosen]],
        )
        whole = plan(one, [], [], queries=1500, question="like")[0]
        near += (np.abs(whole.width_by_metric / full - 1).mean(axis=1) <= 0.15).tolist()
        held.append(whole.interval.matches_low <= truth <= whole.interval.matches_high)
        off.append(abs(whole.interval.matches / truth - 1))
    assert np.mean(near) >= 0.9
    assert np.mean(held) >= 0.9
    assert np.mean(off) <= 0.10
