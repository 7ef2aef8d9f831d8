"""What machine judges bring to an audit's estimates: agreement with the verdicts, and quality of the proxy."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from counterpart_statistics.estimation import METRICS
from evaluation.auditing.round_estimates import machine_judges
from evaluation.auditing.whole_queries import whole_queries
from mitl.models import Annotator, Direction
from tests.commands import output_of
from tests.evaluation.worlds import SMALL, judge_all, known_pool, published
from tests.hits.pools import pack

METRIC = METRICS[0]


@pytest.fixture(scope="module")
def judged(lasting):
    """Annotator b is a machine judge."""
    pool = known_pool()
    Annotator.objects.filter(name="b").update(kind="vlm")
    return judge_all(published(pack("audit", pool, design=SMALL, judge="audit", audit_share=0.5, seed=4)))


@pytest.fixture
def audit(db, judged):
    return judged


@pytest.fixture
def whole(audit):
    return next(whole_queries(audit))


def seeing(whole, scores):
    """Let the machine judge give these scores (Q, J); its ranks, by which it is a model too, stay."""
    queries = whole.queries
    given = queries.scores.copy()
    given[queries.models.index("b")] = np.where(queries.asked, scores, np.nan)
    return replace(whole, queries=replace(queries, scores=given))


def test_figures_are_of_the_asked_pairs_of_audited_queries(whole):
    """An independent witness: the pairs one by one."""
    found = machine_judges(whole, METRIC)
    assert [(one.annotator, one.kind) for one in found] == [("b", "vlm")]
    queries = whole.queries
    asked = queries.asked & whole.audited[:, None]
    for one in found:
        scores = queries.scores[queries.models.index(one.annotator)]
        pairs = [
            (-np.inf if np.isnan(scores[place]) else scores[place], queries.gains[place] > 0)
            for place in zip(*np.nonzero(asked), strict=True)
        ]
        wins = [(yes > no) + (yes == no) / 2 for yes, match in pairs if match for no, other in pairs if not other]
        assert one.auc == pytest.approx(np.mean(wins))
        assert one.pairs == len(pairs)
        assert one.scored == sum(score > -np.inf for score, _ in pairs)
        assert (one.direction, one.metric) == (Direction.IMAGE_TO_CAPTION, METRIC)
        assert 0 <= one.quality <= 1
        assert 1 <= one.width <= np.sqrt(2)
        assert one.share_of_gain == pytest.approx((one.quality - one.quality_without) / one.quality)


def test_annotators_that_only_rank_are_no_machine_judges(whole):
    Annotator.objects.filter(kind="vlm").update(kind="overlap")
    assert machine_judges(whole, METRIC) == []


def test_answers_of_a_judge_are_never_labels(whole):
    """Whatever it answers, the same queries are judged, with the same metrics; only what is expected changes."""
    lying = seeing(whole, 1 - np.nan_to_num(whole.queries.gains))
    np.testing.assert_array_equal(lying.audited, whole.audited)
    np.testing.assert_array_equal(lying.metrics, whole.metrics)
    assert (lying.proxy != whole.proxy).any()


def test_a_round_that_is_counted_has_no_figures(audit):
    finished = judge_all(published(pack("all", audit.pool, design=SMALL, seed=4)))
    assert machine_judges(next(whole_queries(finished)), METRIC) == []
    assert json.loads(estimates("all", "--json"))["judges"] == []
    assert "AUC" not in estimates("all")


def test_the_only_annotator_has_no_figures_without_it(audit):
    audit.pool.retrievals.set(audit.pool.retrievals.filter(annotator__name="b"))
    (one,) = machine_judges(next(whole_queries(audit)), METRIC)
    assert np.isnan([one.quality_without, one.width_without, one.share_of_gain]).all()
    rows = json.loads(estimates("audit", "--json"))["judges"]
    assert [row["rho2_without"] for row in rows] == [None, None]
    assert "-" in estimates("audit")


estimates = partial(output_of, "estimate")


def test_the_command_shows_what_a_machine_judge_brings(audit):
    rows = json.loads(estimates("audit", "--metric", "R@1,mAP@R", "--json"))["judges"]
    assert [(row["annotator"], row["direction"], row["metric"]) for row in rows] == [
        ("b", "i2t", "R@1"),
        ("b", "t2i", "R@1"),
    ]
    text = estimates("audit", "--metric", "R@1,mAP@R")
    assert text.count("estimates of R@1, never as labels") == 2
