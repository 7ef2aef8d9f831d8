"""``analyse bias`` and ``analyse completeness`` on a small version whose truth is known."""

import csv
import json
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotation.models import Assignment, Judgment
from corpus.models import Match
from dataset.models import Version
from dataset.release import release_version
from evaluation.analyses.completeness_analysis import count_probes, measure_completeness
from evaluation.judged_pairs import load_judged_pairs
from evaluation.metrics import recall_at_k
from hits.models import Control
from mitl.models import Direction, Retrieval
from mitl.search.gallery import load_lists
from tests.evaluation.worlds import NAMES, judge_all, known_round, level_of
from tests.factories import make_collection, make_sample

pytestmark = pytest.mark.django_db

I2T, T2I = Direction.IMAGE_TO_CAPTION, Direction.CAPTION_TO_IMAGE


@pytest.fixture(autouse=True)
def few_samples(monkeypatch):
    monkeypatch.setattr("evaluation.analyses.completeness_analysis.SAMPLES", 20)


@pytest.fixture
def version() -> Version:
    made = judge_all(known_round())
    return release_version("v1", collection=made.pool.collection, sample=made.pool.sample, rounds=[made])


def analyse(*arguments: object) -> str:
    out = StringIO()
    call_command("analyse", *map(str, arguments), stdout=out)
    return out.getvalue()


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


def test_a_partial_match_counts_half_by_graded_metrics(version):
    found = json.loads(analyse("bias", "v1", "--metrics", "graded R@1", "--json"))["bias"][0]
    images, captions = version.collection.images.in_bulk(), version.collection.captions.in_bulk()
    for name, score in zip(NAMES, found["subsets"][-1]["scores"], strict=True):
        first = [level_of(images[query], captions[items[0]]) for query, items in lists_of(name, I2T).items()]
        assert score == pytest.approx(np.mean([{1: 1.0, 2: 0.5}.get(level, 0.0) for level in first]))


def test_bias_beside_the_truth_tells_the_true_scores(version):
    one = json.loads(analyse("bias", "v1", "--metrics", "R@1", "--truth", "truth", "--json"))["bias"][0]
    images, captions = version.collection.images.in_bulk(), version.collection.captions.in_bulk()
    for name, score in zip(NAMES, one["truth"], strict=True):
        right = [level_of(images[query], captions[items[0]]) < 3 for query, items in lists_of(name, I2T).items()]
        assert score == pytest.approx(np.mean(right))
    # Every first place was judged, so All and the truth give the same R@1.
    assert one["distance_from_truth_by_size"][-1]["bias"] == pytest.approx(0)
    assert one["distance_from_truth_by_size"][0]["bias"] > 0


def test_bias_is_printed_as_tables_and_written_as_csv(version, tmp_path):
    printed = analyse("bias", "v1", "--metrics", "R@1", "--truth", "truth", "--csv", tmp_path / "bias.csv")
    assert "image → captions, R@1, percent" in printed
    assert "annotators  subsets    bias    self  others  truth" in printed
    assert "left out   matches  only its own" in printed
    rows = list(csv.DictReader((tmp_path / "bias.csv").open()))
    assert len(rows) == 2 * 7 * 3
    assert {row["subset"] for row in rows} == {"a", "b", "c", "a;b", "a;c", "b;c", "a;b;c"}


def test_a_reviewed_level_holds_for_bias(version):
    judged = load_judged_pairs(version)[I2T]
    assert set(judged.levels.tolist()) == {1, 2, 4}
    assert judged.qrels.gains[judged.levels == 2].tolist() == [0.5] * int((judged.levels == 2).sum())


def test_completeness_counts_what_was_found_and_what_there_is(version):
    found = json.loads(analyse("completeness", "v1", "--truth", "truth", "--json"))["directions"]
    judged = load_judged_pairs(version)
    for one, direction in zip(found, Direction, strict=True):
        assert one["found"] == judged[direction].qrels.matches.sum()
        assert one["truth"] == Match.objects.filter(source="truth").count()
        assert set(one["lower_bounds"]) == {
            "Chapman", "Chao", "sample coverage", "log-linear", "log-linear, heterogeneous",
        }  # fmt: skip
        for bound in one["lower_bounds"].values():
            assert bound["value"] is None or bound["value"] >= one["found"]
        total = one["by_parts"]["total"]
        assert one["found"] < total["low"] <= total["value"] <= total["high"]


def test_the_estimate_by_parts_counts_every_pair_of_a_query_once(version):
    for one, other in zip(measure_completeness(version, truth="truth"), reversed(Direction), strict=True):
        pairs = {
            (query, item) for name in NAMES for query, items in lists_of(name, one.direction).items() for item in items
        }
        theirs = {(item, query) for name in NAMES for query, items in lists_of(name, other).items() for item in items}
        assert one.beyond.pairs == 14 * 14 - len(pairs)
        assert one.beyond.beside == len(theirs - pairs)
        assert one.beyond.probed == 14 * 14 - len(pairs | theirs)
        # Nothing in this world tells matches from others, so a third of all pairs matches, in lists or not.
        assert one.parts.total.value == pytest.approx(one.truth, rel=0.25)


def test_completeness_is_printed_with_lower_bounds_named_as_such(version, tmp_path):
    printed = analyse("completeness", "v1", "--csv", tmp_path / "found.csv", "--plot", tmp_path / "found.svg")
    assert printed.count("at least, Chao") == 2
    assert printed.count("\nby parts") == 2
    rows = list(csv.DictReader((tmp_path / "found.csv").open()))
    assert {(row["method"], row["lower_bound"]) for row in rows} >= {("Chao", "1"), ("by parts", "0")}
    assert (tmp_path / "found.svg").stat().st_size > 1_000


def test_probes_are_negative_controls_in_answer_sets_whose_positive_controls_are_right():
    made = judge_all(known_round())
    negatives = Judgment.objects.filter(item__control__polarity=Control.Polarity.NEGATIVE)
    found, *others = made.controls.filter(polarity=Control.Polarity.NEGATIVE, items__isnull=False).distinct()
    said = negatives.filter(item__control=found)
    said.update(level=2)
    # Whoever failed a negative control may have been excluded for it; the answer says something all the same.
    Assignment.objects.filter(judgments__in=said).update(state="excluded")
    careless = negatives.filter(item__control=others[0])
    positives = Judgment.objects.filter(item__control__polarity=Control.Polarity.POSITIVE)
    positives.filter(assignment__judgments__in=careless.all()).update(level=4)
    careless.update(level=1)
    version = release_version(
        "v1", collection=made.pool.collection, sample=made.pool.sample, rounds=[made], partial=True
    )
    kept = set(negatives.exclude(item__control=others[0]).values_list("item__control", flat=True))
    assert count_probes(version) == (1, len(kept))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bias", "v9"), "There is no version 'v9'"),
        (("bias", "v1", "--metrics", "R@1,R@7"), "Unknown metrics R@7: use R@1"),
        (("bias", "v1", "--truth", "nobody"), "Source 'nobody' has no matches on the queries of v1"),
        (("completeness", "v1", "--truth", "nobody"), "Sources: .*truth"),
        (("bias", "v1", "--without-positives", "error"), "invalid choice"),
    ],
)
def test_bad_input_is_told_in_one_line(version, arguments, message):
    with pytest.raises(CommandError, match=message) as refused:
        analyse(*arguments)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("subject", ["bias", "completeness"])
def test_a_version_without_rounds_is_refused(subject):
    zoo = make_collection()
    release_version("v1", collection=zoo, sample=make_sample(zoo), merge="original")
    with pytest.raises(CommandError, match="Version v1 has no pairs that annotators proposed and people judged"):
        analyse(subject, "v1")
