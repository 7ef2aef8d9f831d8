"""Estimates of rounds: counted where all is judged, from the drawn queries of an audit, refused without a draw."""

import json
from functools import partial

import numpy as np
import pytest
from django.core.management import CommandError

from annotation.models import Judgment
from console.charts.plots import measure_chart
from core.errors import CounterpartError
from core.progress import silent
from evaluation.analyses.estimates_analysis import EstimatesParameters, analyse
from evaluation.auditing.round_estimates import EstimateParameters, estimate_round
from evaluation.scores.leaderboard import caution_of
from evaluation.scores.scoring import evaluate_version
from hits.judge_designs import JudgeDesign, audited_queries
from hits.models import Round
from mitl.models import Direction
from tests.commands import output_of
from tests.dataset.releasing import release
from tests.evaluation.worlds import AUDIT, SMALL, judge, judge_all, published
from tests.hits.pools import pack

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool(audit):
    return audit.pool


@pytest.fixture(scope="module")
def judged_whole(judged_audit):
    pool = Round.objects.get(pk=judged_audit).pool
    return judge_all(published(pack("all", pool, design=SMALL, seed=4, reward="2.00"))).pk


@pytest.fixture
def finished(judged_whole):
    """A round of all pairs of the same pool, with all of them judged."""
    return Round.objects.get(pk=judged_whole)


def table(found):
    return {(one.model, one.metric, one.direction): one for one in found.models}


def test_a_finished_round_is_counted_as_its_version_is_scored(finished):
    version = release(finished)
    scores = {
        (one.model, metric, direction): figure.value
        for one in evaluate_version(version)
        for direction, figures in one.figures.items()
        for metric, figure in figures.items()
    }
    found = table(estimate_round(finished))
    assert set(found) == {key for key in scores if key[1] in ("mAP@R", "R-Precision", "R@1")}
    for key, one in found.items():
        assert one.estimate.value == pytest.approx(scores[key], abs=1e-12), key
        assert (one.counted, one.judged, one.missing) == (True, 1.0, 0)
        assert one.estimate.n_audited == 14
        assert one.estimate.estimand == "pool of all"


def test_an_audit_gives_what_the_same_audit_of_the_finished_round_would_have(audit, finished):
    as_if = table(estimate_round(finished, EstimateParameters(audit_share=0.5, seed=4)))
    found = table(estimate_round(audit))
    assert found.keys() == as_if.keys()
    for key, one in found.items():
        assert one.estimate.n_audited == 7
        assert not one.counted
        assert 0 < one.judged < 1
        assert one.estimate.value == pytest.approx(as_if[key].estimate.value, abs=1e-12), key
        assert one.estimate.low == pytest.approx(as_if[key].estimate.low, abs=1e-12), key


def test_models_are_compared_by_their_difference_and_its_own_interval(audit):
    found = estimate_round(audit, EstimateParameters(metric=("mAP@R",)))
    assert len(found.differences) == 4  # three models in two directions
    values = {(one.model, one.direction): one.estimate for one in found.models}
    for one in found.differences:
        better, worse = values[one.model, one.direction], values[one.following, one.direction]
        assert better.value >= worse.value
        assert one.estimate.low <= one.estimate.value <= one.estimate.high
        # Both models are scored on the same queries: the difference varies less than two independent scores would.
        assert one.estimate.error < better.error + worse.error
        assert one.is_open == (one.estimate.low <= 0 <= one.estimate.high)


def test_an_interval_that_holds_at_all_of_some_looks_is_that_of_a_greater_confidence(audit):
    of_five = estimate_round(audit, EstimateParameters(looks=5))
    assert of_five == estimate_round(audit, EstimateParameters(confidence=0.99))
    assert of_five != estimate_round(audit)


def test_with_a_proxy_that_is_unrelated_an_audit_is_the_mean_of_its_queries(audit, pool):
    """An independent witness: R@1 of the drawn queries, read from the verdicts and the lists."""
    found = table(estimate_round(audit))
    one = found["a", "R@1", Direction.IMAGE_TO_CAPTION]
    drawn = audited_queries(pool, JudgeDesign("audit", 0.5), 4)[Direction.IMAGE_TO_CAPTION]
    yes = set(Judgment.objects.filter(level__lte=2, item__control=None).values_list("image", "caption"))
    yes |= set(pool.collection.matches.filter(source="original").values_list("image", "caption"))
    first = pool.proposals.filter(annotator__name="a", rank=1, direction="i2t")
    hits = [pair in yes for pair in first.filter(image__in=drawn.values()).values_list("image", "caption")]
    assert len(hits) == 7
    plain = np.mean(hits)
    assert abs(one.estimate.value - plain) < one.estimate.error * 3
    assert 0 <= one.estimate.low <= one.estimate.value <= one.estimate.high <= 1


def test_drawn_queries_without_verdicts_widen_the_interval_to_the_worst_they_may_get(pool):
    audit = published(pack("open", pool, **AUDIT))
    hits = list(audit.hits.order_by("number"))
    for hit in hits[:-1]:
        judge(hit)
    unfinished = estimate_round(audit)
    partly = table(unfinished)
    judge(hits[-1])
    whole = table(estimate_round(audit))
    missing = [key for key, one in partly.items() if one.missing]
    assert missing
    for key in missing:
        assert whole[key].missing == 0
        assert partly[key].estimate.low <= whole[key].estimate.value <= partly[key].estimate.high, key
    # Differences too: every interval of an unfinished audit holds the finished one's value.
    for one in unfinished.differences:
        better, worse = (whole[name, one.metric, one.direction].estimate.value for name in (one.model, one.following))
        assert one.estimate.low <= better - worse <= one.estimate.high


def test_an_unfinished_round_of_all_pairs_is_refused(pool):
    made = published(pack("open", pool, design=SMALL))
    with pytest.raises(CounterpartError, match="has no judgments that count"):
        estimate_round(made)
    judge(made.hits.first())
    with pytest.raises(CounterpartError, match="verdicts in round open"):
        estimate_round(made)


def test_a_round_of_first_hits_and_a_second_share_of_an_audit_are_refused(audit, pool):
    first = judge_all(published(pack("first", pool, design=SMALL, judge="first-hits")))
    with pytest.raises(CounterpartError, match="first hits alone"):
        estimate_round(first)
    with pytest.raises(CounterpartError, match="Leave --audit-share out"):
        estimate_round(audit, EstimateParameters(audit_share=0.5))


def test_the_design_of_an_estimate_is_named_and_checked(audit, finished):
    assert estimate_round(finished, EstimateParameters(design="all")) == estimate_round(finished)
    replay = EstimateParameters(design="audit", audit_share=0.5)
    assert estimate_round(finished, replay) == estimate_round(finished, EstimateParameters(audit_share=0.5))
    with pytest.raises(CounterpartError, match="Say with --audit-share"):
        estimate_round(finished, EstimateParameters(design="audit"))
    with pytest.raises(CounterpartError, match="--design all counts"):
        EstimateParameters(design="all", audit_share=0.5)
    assert estimate_round(audit, EstimateParameters(design="audit")) == estimate_round(audit)
    with pytest.raises(CounterpartError, match="--design all"):
        estimate_round(audit, EstimateParameters(design="all"))


def test_an_audit_without_three_whole_queries_is_refused(pool):
    audit = published(pack("open", pool, **AUDIT))
    judge(audit.hits.first())
    with pytest.raises(CounterpartError, match="judged whole of 7"):
        estimate_round(audit)


def test_scores_on_first_hits_are_those_of_all_pairs_at_rank_one_and_else_said_to_be_biased(finished, pool):
    """R@1 of the annotators needs no other pair."""
    scores = {}
    for made in (finished, judge_all(published(pack("first-hits", pool, design=SMALL, judge="first-hits")))):
        version = release(made, made.name)
        scores[made.name] = {
            (one.model, direction): figures["R@1"].value
            for one in evaluate_version(version)
            for direction, figures in one.figures.items()
        }
    assert scores["first-hits"] == scores["all"]
    assert caution_of(version).endswith("whose first hits were judged.")


run = partial(output_of, "estimate")


def test_the_command_says_what_was_estimated_and_from_what(audit):
    text = run("audit", "--metric", "mAP@R,R-P")
    assert "Value (95% interval): what judging all 14 queries of the pool would say; 7 were judged." in text
    assert "Rests on 7 queries: judge more queries before you compare." in text
    assert text.count("R-Precision") == 10  # three annotators and two differences in two directions
    assert text.count(" is above ") + text.count("open: ") == 8
    assert "of queries drawn like these 14." in run("audit", "--queries", "like")
    (row, *others) = json.loads(run("audit", "--metric", "R@1", "--json"))["estimates"]
    assert len(others) == 5
    assert (row["model"], row["direction"], row["kind"], row["n_audited"]) == ("a", "i2t", "estimated", 7)
    assert row["low"] <= row["value"] <= row["high"]
    assert (row["question"], row["level"], row["n_queries"]) == ("these", 0.95, 14)


def test_the_page_of_the_round_draws_the_estimates(audit, researcher):
    findings = analyse(EstimatesParameters(round="audit"), progress=silent)
    assert [panel.title for panel in findings.chart.panels] == [
        f"{metric}, {direction.label}" for direction in Direction for metric in ("mAP@R", "R-Precision", "R@1")
    ]
    assert len(findings.rows) == 18
    measure_chart(audit, "estimates", "", progress=silent)
    assert "mAP@R" in researcher.get("/rounds/audit/results/?show=estimates").text


plans = partial(output_of, "plan")


def test_audits_are_planned_from_a_judged_round_with_costs_and_widths(finished, pool):
    whole, *audits = json.loads(plans("all", "--queries", "like", "--json"))["designs"]
    assert (whole["design"], whole["share"], len(audits)) == ("all", 1.0, 8)
    assert whole["hits"] == finished.summary["hits"]
    assert float(whole["cost"]) == 2 * whole["hits"]
    found = Judgment.objects.filter(level__lte=2, item__control=None)
    free = set(pool.collection.matches.filter(source="original").values_list("image", "caption"))
    # Every query of the collection is asked in both directions, and a match of two queries counts once.
    assert whole["matches"] == len(set(found.values_list("image", "caption")) - free)
    assert all(float(one["cost"]) <= float(whole["cost"]) for one in audits)
    for one in audits:
        if one["spread"] == 1:
            assert all(width >= whole["widths"][metric] > 0 for metric, width in one["widths"].items())


def test_an_audit_plans_the_next_one_and_the_cheapest_of_a_wished_width_is_named(audit):
    designs = json.loads(plans("audit", "--grid", "--json"))["designs"]
    assert len(designs) == 1 + 19 * 4
    assert "The cheapest that is narrow" not in plans("audit", "--grid")
    text = plans("audit", "--grid", "--width", "0.9")
    assert "The cheapest that is narrow" in text
    assert plans("audit", "--width", "0.001").splitlines()[-1].startswith("all ")  # which counts these queries
    with pytest.raises(CommandError, match="a width of 0.001"):
        plans("audit", "--width", "0.001", "--queries", "like")
