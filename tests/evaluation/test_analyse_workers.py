import json

import pytest
from django.core.management import CommandError

from annotation.models import Assignment, Judgment, Rejection, Worker, WorkerIdentity
from corpus.models import Match
from counterpart_metrics import coverage
from hits.models import Control, Round
from mitl.models import Annotator
from tests.annotation.cast import answer, associate, candidates, propose
from tests.dataset.releasing import release
from tests.dataset.reviewing import another_person, give_level
from tests.evaluation.analysing import analyse, figures_of, table_of
from tests.factories import make_annotator, make_round, make_worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def people() -> list[Worker]:
    return [make_worker() for _ in range(3)]


@pytest.fixture
def judged(people) -> Round:
    """Seven HITs of two pairs, of which all three workers do the first; the first worker does all others."""
    made = make_round(hits=7, candidates=2, replication=3)
    first, *others = made.hits.all()
    for seat, (worker, levels) in enumerate(zip(people, [(1, 4), (1, 4), (2, 4)], strict=True), 1):
        answer(first, *levels, seat=seat, worker=worker)
    for hit in others:
        answer(hit, 1, 4, worker=people[0])
    return made


def by_name(*arguments: str) -> dict[str, dict]:
    return {row["worker"]: row for row in figures_of("workers", *arguments)["workers"]}


def by_hits(*arguments: str) -> dict[str, dict]:
    return {row["hits_per_worker"]: row for row in figures_of("workers", *arguments)["by_hits"]}


def test_workers_are_counted_by_the_hits_they_did(judged):
    found = by_hits("round-1")
    assert list(found) == ["1", "2-5", "6-10", "11-15", "16-25", ">25", "all"]
    assert {name: (row["workers"], row["submitted"]) for name, row in found.items() if row["workers"]} == {
        "1": (2, 2),
        "6-10": (1, 7),
        "all": (3, 9),
    }
    assert found["11-15"]["accepted_share"] is None


def test_accepted_excluded_and_rejected_work_is_distinguished(judged, people):
    work = list(Assignment.objects.filter(worker=people[0]).order_by("pk"))
    Assignment.objects.filter(pk__in=[work[1].pk, work[2].pk]).update(state="excluded")
    Assignment.objects.filter(pk=work[3].pk).update(state="flagged")
    reject(work[1])
    reject(work[2], dropped_at="2026-01-01T00:00Z")
    reject(work[3], needs_second=True)
    found = by_name("round-1")[people[0].pseudonym]
    assert (found["hits"], found["accepted"], found["excluded"], found["rejected"]) == (7, 4, 2, 1)
    assert (found["accepted_share"], found["rejected_share"]) == (pytest.approx(4 / 7), pytest.approx(1 / 7))
    assert found["judgments"] == 8
    assert by_hits("round-1")["6-10"]["rejected_share"] == pytest.approx(1 / 7)


def reject(work: Assignment, **more) -> None:
    by = another_person(f"who rejects {work.pk}")
    Rejection.objects.create(assignment=work, grounds="empty", reason="-", evidence="-", by=by, **more)


def test_control_accuracy_counts_all_submitted_work_but_no_retired_control(judged, people):
    controls = Judgment.objects.filter(worker=people[0], item__control__isnull=False).order_by("pk")
    negatives = controls.filter(item__control__polarity=Control.Polarity.NEGATIVE)
    Judgment.objects.filter(pk__in=[negatives[0].pk, negatives[1].pk]).update(level=1)
    Assignment.objects.filter(pk=negatives[1].assignment_id).update(state="excluded")
    found = by_name("round-1")[people[0].pseudonym]
    assert (found["controls"], found["controls_right"]) == (14, pytest.approx(12 / 14))
    Control.objects.filter(pk=negatives[0].item.control_id).update(state=Control.State.RETIRED)
    found = by_name("round-1")[people[0].pseudonym]
    assert (found["controls"], found["controls_right"]) == (13, pytest.approx(12 / 13))


def test_agreement_is_with_the_majority_of_pairs_that_others_judged_too(judged, people):
    found = by_name("round-1")
    assert next(iter(found)) == people[0].pseudonym
    assert [found[worker.pseudonym]["agreement"] for worker in people] == [1, 1, 0.5]
    least = [row["agreement"] for row in figures_of("workers", "round-1", "--sort", "agreement")["workers"]]
    assert least == sorted(least)
    lone = make_round(judged.pool.collection, "round-2", hits=1, candidates=2)
    answer(lone.hits.get(), 1, 2)
    (row,) = figures_of("workers", "round-2")["workers"]
    assert row["agreement"] is None


def test_reliability_is_that_of_the_aggregation(judged, people):
    majority = by_name("round-1", "--method", "majority")
    # Of the third worker: shares 1/3 and 1 of the pairs' votes, and two controls right.
    assert majority[people[2].pseudonym]["reliability"] == pytest.approx((1 / 3 + 1 + 2) / 4)
    skilled = by_name("round-1")
    assert skilled[people[0].pseudonym]["reliability"] > skilled[people[2].pseudonym]["reliability"]


def test_seconds_a_pair_are_of_the_accepted_sets_with_a_known_time(judged, people):
    work = Assignment.objects.filter(worker=people[0]).order_by("pk")
    Assignment.objects.filter(pk=work[0].pk).update(active_seconds=40)
    Assignment.objects.filter(pk=work[1].pk).update(active_seconds=80)
    Assignment.objects.filter(pk=work[2].pk).update(active_seconds=259_200, state="excluded")
    found = by_name("round-1")
    assert found[people[0].pseudonym]["seconds_per_pair"] == 15  # 120 seconds, two sets of four pairs
    assert found[people[1].pseudonym]["seconds_per_pair"] is None
    assert by_hits("round-1")["all"]["seconds_per_pair"] == 15


def test_a_version_names_its_own_pseudonyms_and_knows_no_rejection(judged, people):
    release(judged, partial=True)
    released, live = figures_of("workers", "--version", "v1"), figures_of("workers", "round-1")
    assert not {row["worker"] for row in released["workers"]} & {worker.pseudonym for worker in people}
    assert {row["rejected"] for row in released["workers"]} == {None}
    for name in ("submitted", "accepted", "controls_right", "workers"):
        assert [row[name] for row in released["by_hits"]] == [row[name] for row in live["by_hits"]]


def test_workers_are_named_by_pseudonym_and_never_by_platform_id(judged, people, tmp_path):
    WorkerIdentity.objects.create(worker=people[0], channel="mturk", external_id="A1PLATFORMID")
    shown = analyse("workers", "round-1", "--csv", str(tmp_path / "w.csv"), "--plot", str(tmp_path / "w.svg"))
    assert people[0].pseudonym in shown
    written = shown + (tmp_path / "w.csv").read_text() + (tmp_path / "w.svg").read_text()
    assert "A1PLATFORMID" not in written
    assert {row["worker"] for row in table_of(tmp_path / "w.csv")} == {worker.pseudonym for worker in people}


def test_what_signals_found_is_listed_in_a_line_each(judged, people):
    assert "Signals" not in analyse("workers", "round-1")
    work = Assignment.objects.filter(worker=people[0]).latest("pk")
    sentence = "0.5 s a pair; a pair cannot be read in less than 1 s."
    Assignment.objects.filter(pk=work.pk).update(state="flagged", signals=[{"signal": "fast", "sentence": sentence}])
    assert figures_of("workers", "round-1")["signals"] == [
        {
            "worker": people[0].pseudonym,
            "assignment": work.pk,
            "state": "flagged",
            "signal": "fast",
            "sentence": sentence,
        }
    ]
    assert f"flagged  {sentence}" in analyse("workers", "round-1")


@pytest.fixture
def annotators() -> list[Annotator]:
    return [make_annotator("words"), make_annotator("shapes")]


@pytest.fixture
def proposed(annotators) -> Round:
    """Four pairs with levels 1, 2, 3, 4. ``words`` proposed the first three image → captions, ``shapes`` the last
    three caption → images, the best first."""
    made = make_round(hits=1, candidates=4)
    answer(made.hits.get(), 1, 2, 3, 4)
    pairs = candidates(made.hits.get())
    propose(made, pairs[:3], annotators[0])
    propose(made, pairs[1:], annotators[1], direction="t2i")
    return made


def ranked(figures: dict, name: str, rank: object, direction: str = "all") -> dict:
    rows = figures["by_rank"]
    (found,) = [row for row in rows if (row["name"], row["rank"], row["direction"]) == (name, rank, direction)]
    return found


def alone(figures: dict) -> dict[str, dict]:
    return {row["name"]: row for row in figures["unique"]}


def covered(*arguments: str) -> dict[tuple[str, str], dict]:
    rows = figures_of("annotators", *(arguments or ["round-1"]))["coverage"]
    return {(row["name"], row["direction"]): row for row in rows}


def test_proposals_are_counted_by_rank_and_matches_that_one_annotator_alone_found(proposed):
    figures = figures_of("annotators", "round-1")
    assert [ranked(figures, "words", 1)[f"share_{level}"] for level in (1, 2, 3, 4)] == [1, 0, 0, 0]
    matches = [ranked(figures, "words", rank)["matches"] for rank in (1, 2, 3, "all")]
    assert matches == [1, 1, 0, pytest.approx(2 / 3)]
    every = ranked(figures, "shapes", "all", "t2i")
    assert every["proposals"] == 3
    assert [every[f"share_{level}"] for level in (1, 2, 3, 4)] == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3])
    words, shapes = alone(figures)["words"], alone(figures)["shapes"]
    assert (words["pairs"], words["found"], words["found_share"], words["unique"]) == (3, 2, 1, 1)
    assert (shapes["found"], shapes["unique"], shapes["unique_share"]) == (1, 0, 0)


def test_a_pair_proposed_in_both_directions_counts_once_among_the_matches(proposed, annotators):
    propose(proposed, candidates(proposed.hits.get())[:1], annotators[0], direction="t2i")
    figures = figures_of("annotators", "round-1")
    assert (alone(figures)["words"]["pairs"], alone(figures)["words"]["unique"]) == (3, 1)
    assert ranked(figures, "words", 1)["proposals"] == 2


def test_precision_and_recall_of_annotators_follow_the_definition(proposed):
    pairs = candidates(proposed.hits.get())
    verified = {image: {caption} for image, caption in pairs[:2]}
    expected = coverage({image: {caption} for image, caption in pairs[:3]}, verified)
    every = covered()
    found = every["words", "i2t"]
    assert (found["precision"], found["recall"]) == (pytest.approx(expected.precision), pytest.approx(expected.recall))
    assert (found["positives"], found["verified"], found["kind"]) == (3, 2, "annotator")
    # Its queries were images only.
    assert (every["words", "t2i"]["positives"], every["words", "t2i"]["recall"]) == (0, 0)


def test_unjudged_pairs_of_a_source_are_wrong_or_left_out(proposed):
    pairs = candidates(proposed.hits.get())
    associate(proposed.pool.collection, "expert", [pairs[0], pairs[3]])
    unjudged = Match.objects.filter(source="original").values_list("image_id", "caption_id")
    other = next(pair for pair in unjudged if pair[0] == pairs[0][0])
    associate(proposed.pool.collection, "expert", [other])
    every = covered()
    found = every["expert", "i2t"]
    # Of image 0 one pair verified and one unjudged, of image 3 one wrong.
    assert found["precision"] == pytest.approx((1 / 2 + 0) / 2)
    assert found["precision_judged"] == pytest.approx((1 + 0) / 2)
    assert found["recall"] == pytest.approx((1 + 0) / 2)
    assert every["original", "i2t"]["precision_judged"] is None


def test_a_threshold_chooses_the_positives_of_a_source(proposed):
    pairs = candidates(proposed.hits.get())
    for pair, score in zip(pairs, (5, 2, 4, 1), strict=True):
        associate(proposed.pool.collection, "cxc", [pair], score=score)
    associate(proposed.pool.collection, "graded", pairs[:1], grade=1)
    associate(proposed.pool.collection, "graded", pairs[3:], grade=4)
    every = covered()
    assert ("cxc", "i2t") not in every
    assert every["graded", "i2t"]["positives"] == 1
    found = covered("round-1", "--sources", "cxc>=3")
    assert found["cxc>=3", "i2t"]["positives"] == 2
    assert found["cxc>=3", "i2t"]["precision"] == 0.5
    assert ("graded", "i2t") not in found


def test_plausible_matches_are_measured_against_the_verdicts(proposed, tmp_path):
    path = tmp_path / "categories.json"
    path.write_text(json.dumps({str(image): [image] for image in range(proposed.pool.collection.images.count())}))
    every = covered("round-1", "--categories", str(path))
    for figure in ("positives", "precision", "recall"):  # no two images have a category in common
        assert every["PM ζ=0", "i2t"][figure] == every["original", "i2t"][figure]


def test_a_version_gives_its_released_levels_with_reviews(proposed):
    give_level(proposed, candidates(proposed.hits.get())[2], 1, by=another_person())
    release(proposed)
    assert alone(figures_of("annotators", "--version", "v1"))["words"]["found"] == 3
    live = figures_of("annotators", "round-1")
    assert alone(live)["words"]["found"] == 2
    assert "v1" not in {row["name"] for row in live["coverage"]}


def test_unknown_sources_and_rounds_without_proposals_are_refused(proposed):
    with pytest.raises(CommandError, match="moon; it has original"):
        analyse("annotators", "round-1", "--sources", "moon")
    bare = make_round(proposed.pool.collection, "round-2", hits=1, candidates=2)
    answer(bare.hits.get(), 1, 4)
    with pytest.raises(CommandError, match="round-2 has no proposals"):
        analyse("annotators", "round-2")
