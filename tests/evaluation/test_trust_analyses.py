"""``analyse bias`` and ``analyse completeness`` on a small version whose truth is known."""

import json

import numpy as np
import pytest
from django.core.management import CommandError

from annotation.models import Assignment, Judgment
from corpus.models import Match
from counterpart_metrics import recall_at_k
from counterpart_statistics.completeness import NEVER, RIGHT, Beyond, Parts
from counterpart_statistics.judged.control_votes import VotesOnControls, votes_on_controls
from counterpart_statistics.random_pairs import ControlVotes, Estimate, learn_from_controls
from dataset.judged.released_tables import numbered_answers
from dataset.models import Version
from evaluation.analyses.completeness_analysis import _doubt, measure_completeness
from evaluation.judged_versions import judged_lists
from hits.models import Control, Round
from mitl.models import Direction, Retrieval
from mitl.search.gallery import load_lists
from tests.dataset.releasing import release
from tests.evaluation.analysing import analyse, written
from tests.evaluation.worlds import NAMES, judge_all, known_round, level_of

pytestmark = pytest.mark.django_db

I2T, T2I = Direction.IMAGE_TO_CAPTION, Direction.CAPTION_TO_IMAGE


@pytest.fixture(autouse=True)
def few_samples(monkeypatch):
    monkeypatch.setattr("evaluation.analyses.completeness_analysis.SAMPLES", 20)


@pytest.fixture(scope="module")
def judged(lasting) -> Round:
    return judge_all(known_round())


@pytest.fixture(scope="module")
def released_once(judged) -> int:
    return release(judged, partial=True).pk


@pytest.fixture
def version(released_once) -> Version:
    return Version.objects.get(pk=released_once)


def lists_of(name: str, direction: Direction) -> dict[int, list[int]]:
    ranked = load_lists(Retrieval.objects.get(annotator__name=name))[direction]
    return dict(zip(ranked.queries.tolist(), ranked.items.tolist(), strict=True))


def slow_recall(version: Version, direction: Direction, annotator: str, proposers: set[str]) -> float:
    """R@1 by the rows themselves: a pair counts if one of ``proposers`` has it in its top 2 in either direction."""
    collection = version.collection
    pairs = {
        (query, item) if way == I2T else (item, query)
        for name in proposers
        for way in Direction
        for query, items in lists_of(name, way).items()
        for item in items[:2]
    }
    images, captions = collection.images.in_bulk(), collection.captions.in_bulk()
    matches = {pair for pair in pairs if level_of(images[pair[0]], captions[pair[1]]) < 3}
    scores = []
    for query, items in lists_of(annotator, direction).items():
        positives = {
            pair[1 if direction == I2T else 0] for pair in matches if pair[0 if direction == I2T else 1] == query
        }
        scores.append(recall_at_k(items, positives) if positives else 0.0)
    return sum(scores) / len(scores)


def test_bias_agrees_with_scores_counted_from_the_rows(version):
    found = json.loads(analyse("bias", "v1", "--metrics", "R@1", "--json"))["bias"]
    assert [(one["direction"], one["metric"]) for one in found] == [("i2t", "R@1"), ("t2i", "R@1")]
    for one, direction in zip(found, Direction, strict=True):
        assert one["annotators"] == list(NAMES)
        for subset in one["subsets"]:
            slow = [slow_recall(version, direction, name, set(subset["annotators"])) for name in NAMES]
            assert subset["scores"] == pytest.approx(slow)
        everything = one["subsets"][-1]["scores"]
        moved = [abs(a - b) for a, b in zip(one["subsets"][0]["scores"], everything, strict=True)]
        assert one["subsets"][0]["bias"] == pytest.approx(np.mean(moved))


def test_a_partial_match_counts_half_by_graded_metrics_and_the_truth_gives_the_true_scores(version):
    found = json.loads(analyse("bias", "v1", "--metrics", "R@1,graded R@1", "--truth", "truth", "--json"))["bias"]
    binary, graded = (next(one for one in found if one["metric"] == name) for name in ("R@1", "graded R@1"))
    images, captions = version.collection.images.in_bulk(), version.collection.captions.in_bulk()
    for name, true, score in zip(NAMES, binary["truth"], graded["subsets"][-1]["scores"], strict=True):
        first = [level_of(images[query], captions[items[0]]) for query, items in lists_of(name, I2T).items()]
        assert true == pytest.approx(np.mean([level < 3 for level in first]))
        assert score == pytest.approx(np.mean([{1: 1.0, 2: 0.5}.get(level, 0.0) for level in first]))
    # Every first place was judged, so All and the truth give the same R@1.
    assert binary["distance_from_truth_by_size"][-1]["bias"] == pytest.approx(0)
    assert binary["distance_from_truth_by_size"][0]["bias"] > 0


@pytest.mark.parametrize(
    "arguments",
    [("bias", "v1", "--truth", "truth"), ("annotators", "round-1"), ("workers", "round-1"), ("positives", "v1")],
)
def test_an_analysis_writes_its_rows_and_draws_its_chart(version, tmp_path, arguments):
    assert written(tmp_path, *arguments)


def test_completeness_gives_what_was_found_what_there_is_and_its_estimates(version, monkeypatch):
    monkeypatch.setattr("counterpart_statistics.judged.control_votes.vote_errors", lambda *_: RIGHT)
    found = json.loads(analyse("completeness", "v1", "--truth", "truth", "--json"))["directions"]
    judged = judged_lists(version)
    for one, direction in zip(found, Direction, strict=True):
        assert one["found"] == judged[direction].qrels.matches.sum()
        assert one["truth"] == Match.objects.filter(source="truth").count()
        assert set(one["capture_recapture"]) == {
            "Chapman", "Chao", "sample coverage", "log-linear", "log-linear, heterogeneous",
        }  # fmt: skip
        for estimate in one["capture_recapture"].values():
            assert estimate["value"] is None or estimate["value"] >= one["found"]
            assert len(estimate["resampling_interval"]) == 2
        controls = one["controls"]
        assert controls["votes"] >= controls["random_pairs"] > 0
        assert controls["votes_for_a_match"] == 0
    parts = found[0]["by_parts"]
    assert (parts["estimable"], parts["reason"]) == (True, None)
    total = sum(parts[name]["value"] for name in ("judged", "listed", "outside"))
    assert parts["total"]["value"] == pytest.approx(total)
    assert f"By parts: {total:,.0f} (" in analyse("completeness", "v1", "--truth", "truth")


def test_the_estimate_by_parts_counts_every_pair_of_a_query_once(version):
    for one, other in zip(measure_completeness(version, truth="truth"), reversed(Direction), strict=True):
        pairs = {
            (query, item) for name in NAMES for query, items in lists_of(name, one.direction).items() for item in items
        }
        theirs = {(item, query) for name in NAMES for query, items in lists_of(name, other).items() for item in items}
        assert one.beyond.pairs == 14 * 14 - len(pairs)
        assert one.beyond.reverse == len(theirs - pairs)
        assert one.beyond.probed == 14 * 14 - len(pairs | theirs)
        # Nothing in this world separates matches from others, so a third of all pairs matches, in lists or not.
        assert one.parts.listed.value == pytest.approx((len(pairs) - one.judged) / 3, rel=0.35)


def test_an_interval_wider_than_the_estimate_is_none_and_capture_recapture_no_bound(version, monkeypatch, tmp_path):
    monkeypatch.setattr(Parts, "is_estimable", False)
    parts = json.loads(analyse("completeness", "v1", "--json"))["directions"][0]["by_parts"]
    assert (parts["estimable"], parts["total"]) == (False, None)
    printed = analyse("completeness", "v1")
    assert printed.count("By parts: not estimable. ") == 2
    assert parts["reason"] in printed
    rows = written(tmp_path, "completeness", "v1")
    assert {(row["method"], row["interval"]) for row in rows} >= {("Chao", "resampling"), ("by parts", "cautious")}
    assert {row["value"] for row in rows if row["method"] == "by parts"} == {""}


def test_where_pairs_have_one_vote_matches_among_pairs_without_judgments_are_not_estimable(version, tmp_path):
    """Ten workers whose controls are right may err on one candidate of ten, as far as one set each shows."""
    parts = json.loads(analyse("completeness", "v1", "--json"))["directions"][0]["by_parts"]
    assert (parts["estimable"], parts["total"], parts["listed"], parts["outside"]) == (False, None, None, None)
    assert parts["reason"].endswith("Ask for three votes a pair in the next round.")
    assert parts["judged"]["low"] < parts["judged"]["value"] <= parts["judged"]["high"]


def test_votes_that_do_not_count_are_not_in_the_estimate_but_may_be_matches(judged):
    negatives = Judgment.objects.filter(item__control__polarity=Control.Polarity.NEGATIVE)
    found, yes_sayer, *_ = judged.controls.filter(polarity=Control.Polarity.NEGATIVE, items__isnull=False).distinct()
    # Two fail their random pair and do not count; one of them fails the known match as well, and so says nothing.
    for control in (found, yes_sayer):
        said = negatives.filter(item__control=control)
        said.update(level=1)
        Assignment.objects.filter(judgments__in=said.all()).update(state="excluded")
    positives = Judgment.objects.filter(item__control__polarity=Control.Polarity.POSITIVE)
    careless = Assignment.objects.filter(judgments__in=negatives.filter(item__control=yes_sayer))
    positives.filter(assignment__in=careless).update(level=4)
    counting = negatives.filter(assignment__state="accepted")
    votes = votes_on_controls(numbered_answers(release(judged, "v2", partial=True)))
    assert sum(votes.counted.yes) == 0
    assert sum(votes.counted.votes) == counting.count()
    assert sum(votes.every.yes) == negatives.filter(item__control=found).exclude(assignment__in=careless).count()
    assert votes.counted.missed == 0
    assert votes.counted.known == positives.filter(assignment__state="accepted").count()
    # The match that the one found may be one; the estimate does not say so.
    learned = votes.learned()
    assert learned.rate.value == pytest.approx(0, abs=1e-6)
    assert learned.rate.high > learn_from_controls(votes.counted).rate.high


def test_a_random_pair_that_was_retired_as_a_control_is_one_that_matches(judged):
    control = judged.controls.filter(polarity=Control.Polarity.NEGATIVE, items__isnull=False).first()
    Judgment.objects.filter(item__control=control).update(level=2)
    judged.controls.filter(pk=control.pk).update(state=Control.State.RETIRED)
    positive = judged.controls.filter(polarity=Control.Polarity.POSITIVE, items__isnull=False).first()
    Judgment.objects.filter(item__control=positive).update(level=4)
    judged.controls.filter(pk=positive.pk).update(state=Control.State.RETIRED)
    votes = votes_on_controls(numbered_answers(release(judged, "v2", partial=True))).counted
    assert sum(votes.yes) == Judgment.objects.filter(item__control=control).count()
    assert votes.missed == 0  # a known match that was retired is none


def test_bad_input_is_refused(version):
    for arguments, message in (
        (("bias", "v1", "--truth", "moon"), "'moon' .* queries of v1"),
        (("completeness", "v1", "--truth", "moon"), "Sources: .*truth"),
    ):
        with pytest.raises(CommandError, match=message):
            analyse(*arguments)


def test_what_would_make_an_estimate_one_depends_on_what_is_wide():
    def doubt(votes, *, listed=0.0, probed=1_000):
        outer = Estimate(0.0, 0.0, 200.0)
        beyond = Beyond(1_000, Estimate(0.0, 0.0, 0.2), probed=probed)
        parts = Parts(50, *[Estimate(50.0, 50.0, 50.0), Estimate(listed, 0, 2 * listed)], *[NEVER] * 2)
        ends = zip(parts.judged, parts.listed, outer, strict=True)
        return _doubt(
            parts._replace(outside=outer, total=Estimate(*map(sum, ends))),
            beyond,
            VotesOnControls(votes, votes, [], RIGHT),
        )

    # Up to 5% of 1,000 pairs may be 50 matches: ln(40) / 0.0504 = 73 pairs without a yes, 20 doubled twice.
    assert "About 80 random pairs" in doubt(ControlVotes([0] * 20, [1] * 20, 0, 50))
    unsure = ControlVotes([1] * 5 + [0] * 15, [1] * 20, 0, 50)
    assert "Ask for three votes a pair in the next round" in doubt(unsure, probed=40)
    assert "Pool longer lists" in doubt(unsure, probed=40, listed=100.0)
    assert "Pack with negative controls" in doubt(ControlVotes([], [], 0, 50))
