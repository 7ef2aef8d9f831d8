"""Which pairs and queries enter a version, and what is refused."""

from functools import partial

import pytest

from annotation.models import Assignment
from core.errors import CounterpartError
from core.models import Event
from corpus.matches import import_matches
from corpus.models import Match, Sample
from dataset.exports.statements import limits
from dataset.models import Aggregation, Review
from dataset.releases.verification import verify_version
from dataset.verdicts import aggregate_round
from dataset.versions.version_files import load_pairs, load_positives
from tests.annotation.cast import answer, associate, candidates
from tests.dataset.releasing import I2T, T2I, originals, pairs_in, read, refuses, release, release_version
from tests.factories import make_collection, make_round, make_sample

pytestmark = pytest.mark.django_db


def test_positives_are_positive_verdicts_and_merged_matches(round):
    yes, no = candidates(round.hits.get())
    Aggregation.objects.all().delete()  # a release aggregates the judgments itself
    version = release(round)
    assert pairs_in(version) == {yes} | originals()
    assert version.manifest["counts"]["judged_positive"] == 1
    assert pairs_in(release(round, "verdicts", merge="")) == {yes}
    lenient = release(round, "all", merge="", positive_levels=(1, 2, 3, 4), ties="higher")
    assert pairs_in(lenient) == {yes, no}
    assert (lenient.manifest["policies"]["method"], lenient.manifest["policies"]["ties"]) == ("majority", "higher")


def test_votes_of_several_rounds_are_one_vote(round):
    for name, levels in (("round-2", (4, 2)), ("round-3", (4, 2))):
        again = make_round(round.pool.collection, name=name, candidates=2)
        answer(again.hits.get(), *levels)
        aggregate_round(again)
    rounds = list(round.__class__.objects.order_by("name"))
    _first, second = candidates(round.hits.get())
    assert pairs_in(release(round, rounds=rounds, merge="")) == {second}


def test_matches_of_the_version_hold_positives_and_judged_negatives_and_grades_of_verdicts(round):
    yes, no = candidates(round.hits.get())
    ungraded = {(*pair, 1.0, None) for pair in originals()}
    release(round)
    rows = Match.objects.filter(source="v1").values_list("image_id", "caption_id", "score", "grade")
    assert set(rows) == {(*yes, 1.0, 1), (*no, 0.0, 4)} | ungraded
    assert Event.objects.get(verb="released").data["judged_positive"] == 1


def test_a_merged_pair_that_people_refused_is_counted_and_positive_unless_verdicts_take_precedence(round):
    _yes, no = candidates(round.hits.get())
    associate(round.pool.collection, "cxc", [no], score=5)
    version = release(round, merge="cxc")
    assert no in pairs_in(version)
    assert version.manifest["counts"]["merged_against_verdict"] == 1
    assert Match.objects.get(source="v1", image=no[0], caption=no[1]).grade is None
    judged = release(round, "judged", merge="cxc", precedence="judged")
    assert no not in pairs_in(judged)
    assert judged.manifest["counts"]["merged_against_verdict"] == 1


def test_only_pairs_that_answer_a_query_are_released(db):
    zoo = make_collection(images=4, captions_each=1)
    sample = make_sample(zoo)
    sample.images.set(zoo.images.filter(key="0"))
    sample.captions.set(zoo.captions.filter(key="1"))
    version = release_version("v1", collection=zoo, sample=sample, merge="original")
    assert {caption for _image, caption in pairs_in(version)} == set(
        zoo.captions.filter(key__in="01").values_list("pk", flat=True)
    )
    assert (version.manifest["counts"]["i2t"], version.manifest["counts"]["t2i"]) == (1, 1)


def test_queries_without_positives_are_kept_with_an_empty_set(round):
    positives = load_positives(release(round, merge=""))
    assert len(positives[I2T]) == round.pool.collection.images.count()
    assert sum(map(len, positives[I2T].values())) == 1


def test_excluded_captions_are_neither_queries_nor_items(round):
    gone = round.pool.collection.captions.get(key="0")
    version = release(round, exclude_captions=["0"])
    assert all(caption != gone.pk for _image, caption in pairs_in(version))
    assert gone.pk not in load_positives(version)[T2I]
    assert version.manifest["excluded_captions"] == ["0"]


def test_the_source_table_counts_over_the_original_pairs(round):
    table = {row["source"]: row for row in release(round).manifest["sources"]}
    every = round.pool.collection.captions.count()
    assert table["original"] == {
        "source": "original",
        "images": every,
        "captions": every,
        "times_images": 1.0,
        "times_captions": 1.0,
    }
    assert (table["judged"]["images"], table["judged"]["captions"]) == (1, 1)
    assert table["v1"]["times_images"] == pytest.approx((every + 1) / every, abs=1e-4)


def test_an_unfinished_round_is_refused_and_released_only_as_partial(round):
    bigger = make_round(round.pool.collection, name="round-2", hits=2, candidates=2)
    answer(bigger.hits.get(number=1), 1, 1)
    answer(bigger.hits.get(number=2), 1, 1, state="flagged")
    refuses(round, "round-2 is unfinished: 1 of 2 answer sets missing, 1 of them waiting for a review", rounds=[bigger])
    manifest = release(round, rounds=[bigger], partial=True).manifest
    assert manifest["partial"]
    assert manifest["provenance"]["round-2"]["unfinished"] == {"seats": 1, "waiting_for_review": 1}


@pytest.fixture
def boxes(round):
    """A round of check boxes over the same collection, with the votes 1 and 4."""
    made = make_round(round.pool.collection, name="boxes", candidates=2)
    made.task = "checkbox"
    made.save()
    answer(made.hits.get(), 1, 4)
    return made


def test_rounds_of_different_tasks_are_refused_by_name_and_released_only_as_mixed(round, boxes):
    refuses(
        round,
        r"boxes has checkbox \(levels 1, 4\); round-1 has levels \(levels 1, 2, 3, 4\)\. .*--mixed-tasks",
        rounds=[round, boxes],
    )
    assert not any("different tasks" in limit for limit in limits(release(round, "v0", rounds=[boxes])))
    version = release(round, rounds=[round, boxes], mixed_tasks=True)
    assert {one["name"]: one["task"] for one in version.manifest["rounds"]} == {
        "boxes": "checkbox",
        "round-1": "levels",
    }
    assert any("boxes has checkbox" in limit and "round-1 has levels" in limit for limit in limits(version))
    assert all(check.passed for check in verify_version(version) if check.name in ("files", "judgments", "contents"))
    del version.manifest["rounds"][1]["task"]  # as an earlier program wrote it of a round of levels
    assert any("round-1 has levels" in limit for limit in limits(version))


def test_a_review_overrules_the_votes_and_an_undone_one_does_not(round, person):
    yes, no = candidates(round.hits.get())
    say = partial(Review.objects.create, collection=round.pool.collection, by=person)
    say(image_id=no[0], caption_id=no[1], conclusion="level", level=2)
    say(image_id=yes[0], caption_id=yes[1], conclusion="level", level=4)
    say(image_id=yes[0], caption_id=yes[1], conclusion="kept")
    version = release(round, merge="")
    assert pairs_in(version) == {yes, no}
    assert [(row.level, row.review) for row in load_pairs(version)] == [("1", ""), ("2", "2")]


def test_a_review_that_waits_for_a_second_person_changes_nothing(round, person):
    yes, no = candidates(round.hits.get())
    review = Review(collection=round.pool.collection, by=person, conclusion="level", level=1, needs_second=True)
    review.image_id, review.caption_id = no
    review.save()
    assert pairs_in(release(round, merge="")) == {yes}


def test_captions_and_images_that_a_reviewer_excluded_leave_the_version(round, person):
    collection = round.pool.collection
    say = partial(Review.objects.create, collection=collection, by=person, conclusion="excluded")
    say(caption=collection.captions.get(key="0"), grounds="meaningless")
    say(image=collection.images.get(key="3"), grounds="duplicate")
    version = release(round)
    assert (version.manifest["excluded_captions"], version.manifest["excluded_images"]) == (["0"], ["3"])
    assert all(row.caption != "0" and row.image != "3" for row in load_pairs(version))
    assert collection.images.get(key="3").pk not in load_positives(version)[I2T]
    assert ",0,excluded,,meaningless," in read(version, "reviews.csv")


def test_a_version_and_its_merged_sources_are_sealed(round, tmp_path):
    associate(round.pool.collection, "cxc", candidates(round.hits.get())[:1], score=5)
    release(round, merge="cxc")
    (tmp_path / "more.csv").write_text("image,caption,score\n0,0,1\n")
    for source in ("cxc", "v1"):
        with pytest.raises(CounterpartError, match=f"'{source}' is part of"):
            import_matches(round.pool.collection, source=source, path=tmp_path / "more.csv")


def test_bad_wishes_change_nothing(round):
    for options, message in (
        ({"rounds": []}, "needs rounds or match sources"),
        ({"rounds": [], "merge": ""}, "needs rounds or match sources"),
        ({"positive_levels": (1, 5)}, r"Invalid positive levels \(1, 5\): use some of"),
        ({"positive_levels": ()}, "positive levels"),
        ({"exclude_captions": ["0", "x", "y"]}, "2 captions .*: x, y"),
        ({"method": "oracle"}, "Invalid method 'oracle'"),
        ({"precedence": "loudest"}, "Invalid precedence 'loudest'"),
        ({"name": "original"}, "A match source original exists already"),
        ({"name": "a/../b"}, "Invalid version 'a/../b'"),
        ({"merge": "", "positive_levels": (2,)}, "Version v1 would have no positives"),
        ({"rounds": [round, round]}, "1 round is named more than once: round-1"),
    ):
        refuses(round, message, **options)


def test_a_sample_or_a_round_of_another_collection_is_refused(round):
    other = make_round(make_collection("farm", images=8), name="round-2")
    refuses(round, "1 round is not on zoo: round-2", rounds=[round, other])
    refuses(round, "Sample others belongs to farm, not to zoo", sample=make_sample(other.pool.collection, "others"))


def test_a_round_without_votes_that_count_is_refused(round):
    Assignment.objects.update(state="excluded")
    refuses(round, "round-1 has no judgments that count", partial=True)


def test_a_round_of_other_queries_is_refused(round):
    zoo = round.pool.collection
    others = Sample.objects.create(name="others", collection=zoo, seed=0)
    round.pool.sample.captions.clear()
    others.captions.set(zoo.captions.all())
    refuses(round, "No query of round round-1 is in others", sample=others)


@pytest.mark.parametrize(
    "change",
    [
        lambda asked, some: asked.images.remove(asked.images.first()),
        lambda asked, some: some.images.remove(some.images.first()),
        lambda asked, some: some.images.clear(),
        lambda asked, some: some.captions.clear(),
    ],
    ids=["more", "fewer", "captions alone", "images alone"],
)
def test_a_round_is_released_for_queries_of_which_it_asked_some(round, change):
    some = make_sample(round.pool.collection, "some")
    change(round.pool.sample, some)
    assert release(round, sample=some).rounds.get() == round
