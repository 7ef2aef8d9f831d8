"""Scores of a pool's models, each with its question, neighbours compared; effects of a policy on them."""

import re
from dataclasses import replace
from time import process_time

import pytest

from benchmarks.estimation.beds import synthetic_bed
from counterpart_statistics.auditing.model_scores import (
    ModelDifference,
    interval_widths,
    limits_of,
    model_differences,
    model_estimates,
)
from counterpart_statistics.auditing.replay_effects import Spread, figures
from counterpart_statistics.estimation import METRICS, Estimate, score_interval
from round_worlds import drawing, synthetic_round


@pytest.fixture(scope="module")
def world():
    return synthetic_round(images=300, matches=3)


@pytest.fixture(scope="module")
def audit(world):
    return drawing(world, 90)[0]


@pytest.fixture(scope="module")
def finished(world):
    return drawing(world, 300)[0]


def test_all_scores_at_once_are_those_of_each_model_and_metric_alone(audit):
    for queries in ("these", "like"):
        for one in model_estimates(audit, METRICS, queries=queries):
            cell = METRICS.index(one.metric), audit.queries.models.index(one.model)
            alone = score_interval(audit.metrics[cell], audit.proxy[cell], audit.audited, queries=queries)
            assert (one.estimate.low, one.estimate.high) == pytest.approx((float(alone.low), float(alone.high)))
            assert (one.estimate.question, one.estimate.n_queries) == (queries, 300)


def test_neighbours_are_compared_by_the_differences_of_their_queries(audit):
    values = {(one.model, one.metric): one.estimate.value for one in model_estimates(audit)}
    found = model_differences(audit)
    assert len(found) == 3 * 5
    for one in found:
        assert values[one.model, one.metric] >= values[one.following, one.metric]
        cells = [(METRICS.index(one.metric), audit.queries.models.index(name)) for name in (one.model, one.following)]
        steps, guesses = (kind[cells[0]] - kind[cells[1]] for kind in (audit.metrics, audit.proxy))
        alone = score_interval(steps, guesses, audit.audited, bounds=(-1.0, 1.0))
        assert (one.estimate.low, one.estimate.high) == pytest.approx((float(alone.low), float(alone.high)))


def test_figures_say_what_they_and_their_intervals_are_of(audit, finished):
    interval = r"^0\.\d{3} \(95%: 0\.\d{3} to 0\.\d{3}\): "
    said = {
        "these": "what judging all 300 queries of the pool would say; 90 were judged.",
        "like": "of queries drawn like these 300.",
    }
    for queries, words in said.items():
        text = str(model_estimates(audit, queries=queries)[0])
        assert text.endswith(words)
        assert re.match(interval, text)
    wide = replace(audit, asked_of=audit.asked_of | {"outside-1", "outside-2"})
    one = model_estimates(wide)[0]
    assert (
        one.words == "as if the first items of outside-1, outside-2 were judged in all 300 queries; 90 are topped up."
    )
    assert (one.estimate.question, one.row()["estimand"]) == ("wide", "wide pool of both")
    counted = model_estimates(finished)[0]
    assert str(counted) == f"{counted.estimate.value:.3f}, counted: all 300 queries are judged."
    assert (counted.row()["low"], counted.row()["high"]) == (None, None)
    assert model_estimates(finished, queries="like")[0].row()["low"] < counted.estimate.value


def test_models_whose_first_items_were_not_asked_and_thin_intervals_are_named(audit, world):
    marked = {one.model: one.not_asked for one in model_estimates(audit)}
    assert marked["outside-3"].startswith("outside-3: its own first items were not asked. Where no annotator found")
    assert marked["annotator-1"] == ""
    few = limits_of(model_estimates(drawing(world, 20)[0]))
    assert few == ["Rests on 20 queries: judge more queries before you compare."]
    thin = [replace(one, estimate=replace(one.estimate, informative=3.2)) for one in model_estimates(audit)[:2]]
    assert limits_of(thin)[0] == (
        "mAP@R of annotator-1: rests on 3 queries that differ from what was expected: judge more queries before you "
        "compare."
    )


def test_a_difference_is_an_answer_with_the_better_model_first():
    estimate = Estimate(0.021, 0.010, 0.032, 0.005, 1.0, 90, question="these")
    known = ModelDifference("a", "b", "R@1", "i2t", estimate)
    assert str(known) == "a is above b by 0.021 (95%: 0.010 to 0.032) for these queries"
    turned = replace(known, estimate=replace(estimate, value=-0.021, low=-0.032, high=-0.010))
    assert str(turned) == "b is above a by 0.021 (95%: 0.010 to 0.032) for these queries"
    left = replace(known, estimate=replace(estimate, low=-0.004, question="like"))
    assert str(left) == "open: a or b, a difference of 0.021 (95%: -0.004 to 0.032) for queries drawn like these"


def test_the_width_of_the_finished_audit_is_foretold(audit, finished):
    assert {one.finished for one in interval_widths(audit, model_estimates(audit), 300, 0.95)} == {0.0}
    like = model_estimates(audit, ["mAP@R"], queries="like")
    real = {one.model: one.estimate for one in model_estimates(finished, ["mAP@R"], queries="like")}
    found = list(interval_widths(audit, like, 300, 0.95))
    assert all(one.now > one.finished for one in found)
    widths = [real[one.model].high - real[one.model].low for one in found]
    assert sum(one.finished for one in found) == pytest.approx(sum(widths), rel=0.2)


def test_an_estimate_of_800_queries_and_10_models_takes_less_than_a_second_of_processor_time():
    bed = synthetic_bed(queries=800, items=1200)
    assert len(bed.models) == 10
    model_estimates(bed.whole(1).drawing(map(str, range(240))))  # compiles
    begun = process_time()
    whole = bed.whole(1).drawing(map(str, range(240)))
    for queries in ("these", "like"):
        model_estimates(whole, METRICS, queries=queries)
        model_differences(whole, METRICS, queries=queries)
    assert process_time() - begun < 1.0


def test_tau_bias_and_centred_bias_of_a_case_worked_by_hand():
    """Deviations -0.1, -0.3, +0.1 have a mean of -0.1: centred 0, -0.2, 0.2. One of three pairs of models swaps."""
    tau, bias, centred = figures([0.4, 0.2, 0.3], [0.5, 0.5, 0.2])
    assert (bias, centred) == pytest.approx((0.5 / 3, 0.4 / 3))
    assert tau == pytest.approx(0.0)  # one of the two pairs that the full round orders is kept, the other is not
    assert figures([0.5, 0.4], [0.9, 0.8]) == pytest.approx((1.0, 0.4, 0.0))


def test_a_spread_leaves_out_what_is_undefined():
    assert Spread.of([1.0, None, float("nan"), 3.0]) == Spread(2.0, 1.0, 3.0)
    assert Spread.of([None]) == Spread(None, None, None)
