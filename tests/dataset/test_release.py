import hashlib
import json
import sys
from datetime import UTC, datetime
from functools import partial

import pytest
from django.core.files.storage import default_storage

import dataset.release
from annotation.answers import places_of
from annotation.models import Assignment, Judgment, Worker
from core.errors import CounterpartError
from core.files import write_file
from core.models import Event
from corpus.matches import import_matches
from corpus.models import Match, Sample
from dataset import version_files
from dataset.models import Aggregation, Review, Version
from dataset.release import release_version
from dataset.verdicts import aggregate_round
from dataset.version_files import load_judgments, load_pairs, load_positives, manifest_in_storage
from mitl.models import Direction
from tests.annotation.cast import answer, associate, candidates, sample_of
from tests.factories import make_collection, make_round, make_sample, make_worker

pytestmark = pytest.mark.django_db

I2T, T2I = Direction.IMAGE_TO_CAPTION, Direction.CAPTION_TO_IMAGE


@pytest.fixture
def round():
    """Two candidates, judged 1 and 4."""
    made = make_round(candidates=2)
    answer(made.hits.get(), 1, 4)
    aggregate_round(made)
    return made


def release(round, name="v1", **options) -> Version:
    wishes = {"sample": sample_of(round), "rounds": [round], **options}
    return release_version(name, collection=round.pool.collection, **wishes)


def pairs_in(version: Version) -> set[tuple[int, int]]:
    positives = load_positives(version)
    forward = {(image, caption) for image, captions in positives[I2T].items() for caption in captions}
    return forward | {(image, caption) for caption, images in positives[T2I].items() for image in images}


def originals() -> set[tuple[int, int]]:
    return set(Match.objects.filter(source="original").values_list("image_id", "caption_id"))


def read(version: Version, name: str) -> str:
    with default_storage.open(f"{version.folder}/{name}") as file:
        return file.read().decode()


def contents(version: Version) -> dict[str, str]:
    return {name: read(version, name) for name in [*version.manifest["files"], "manifest.json"]}


def test_positives_are_positive_verdicts_and_merged_matches(round):
    yes, _no = candidates(round.hits.get())
    assert pairs_in(release(round)) == {yes} | originals()


def test_an_empty_merge_releases_the_verdicts_alone(round):
    yes, _no = candidates(round.hits.get())
    assert pairs_in(release(round, merge="")) == {yes}


def test_positive_levels_decide_what_is_positive(round):
    assert pairs_in(release(round, merge="", positive_levels=(1, 2, 3, 4))) == set(candidates(round.hits.get()))


def test_verdicts_of_other_rounds_do_not_enter(round):
    other = make_round(round.pool.collection, name="round-2", candidates=3)
    answer(other.hits.get(), 1, 1, 1)
    aggregate_round(other)
    assert len(pairs_in(release(round, merge=""))) == 1


def test_a_release_aggregates_the_judgments_itself(round):
    Aggregation.objects.all().delete()
    assert release(round).manifest["counts"]["judged_positive"] == 1


def test_the_manifest_names_method_and_ties(round):
    policies = release(round, ties="higher").manifest["policies"]
    assert (policies["method"], policies["ties"]) == ("majority", "higher")


def test_votes_of_several_rounds_are_one_vote(round):
    for name, levels in (("round-2", (4, 2)), ("round-3", (4, 2))):
        again = make_round(round.pool.collection, name=name, candidates=2)
        answer(again.hits.get(), *levels)
        aggregate_round(again)
    rounds = list(round.__class__.objects.order_by("name"))
    _first, second = candidates(round.hits.get())
    assert pairs_in(release(round, rounds=rounds, merge="")) == {second}


def test_matches_of_the_version_hold_positives_and_judged_negatives(round):
    yes, no = candidates(round.hits.get())
    release(round, merge="")
    rows = Match.objects.filter(source="v1").values_list("image_id", "caption_id", "score", "grade")
    assert set(rows) == {(*yes, 1.0, 1), (*no, 0.0, 4)}


def test_a_match_without_a_verdict_has_no_grade(round):
    release(round)
    ungraded = Match.objects.filter(source="v1", grade=None, score=1.0)
    assert set(ungraded.values_list("image_id", "caption_id")) == originals()


def test_a_merged_pair_that_people_refused_stays_positive_and_is_counted(round):
    _yes, no = candidates(round.hits.get())
    associate(round.pool.collection, "cxc", [no], score=5)
    version = release(round, merge="cxc")
    assert no in pairs_in(version)
    assert version.manifest["counts"]["merged_against_verdict"] == 1
    assert Match.objects.get(source="v1", image=no[0], caption=no[1]).grade is None


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


def test_the_manifest_names_what_the_version_was_made_from(round):
    manifest = release(round).manifest
    assert manifest["rounds"][0]["plan_hash"] == round.plan_hash
    assert manifest["policies"]["ties"] == "median"
    assert manifest["sample"]["name"] == sample_of(round).name
    assert manifest["software"].startswith("counterpart ")
    assert json.loads(read(Version.objects.get(), "manifest.json")) == manifest


def test_every_file_has_the_checksum_that_the_manifest_names(round):
    version = release(round)
    assert set(version.manifest["files"]) == {
        *("v1_image_to_caption.json", "v1_caption_to_image.json"),
        *("pairs.csv", "gallery.csv", "reviews.csv", "judgments.csv"),
    }
    for name, described in version.manifest["files"].items():
        assert hashlib.sha256(read(version, name).encode()).hexdigest() == described["sha256"]


def test_a_changed_file_is_noticed(round):
    version = release(round)
    write_file(f"{version.folder}/v1_image_to_caption.json", b"{}")
    with pytest.raises(CounterpartError, match="was changed after it was written"):
        load_positives(version)


def test_pairs_carry_level_votes_and_sources(round):
    yes, _no = candidates(round.hits.get())
    collection = round.pool.collection
    keys = collection.images.get(pk=yes[0]).key, collection.captions.get(pk=yes[1]).key
    lines = read(release(round), "pairs.csv").splitlines()
    assert ",".join([*keys, "1,1,1,1,0,0,0,1,0,,judged"]) in lines


def test_judgments_are_released_under_fresh_pseudonyms(round):
    worker = Assignment.objects.get().worker.pseudonym
    first, second = (read(release(round, name), "judgments.csv") for name in ("v1", "v2"))
    assert worker not in first + second
    assert first != second


def test_uncounted_judgments_and_controls_are_released_and_marked(round):
    Assignment.objects.update(state="excluded")
    answer(round.hits.get(), 1, 1)
    rows = list(load_judgments(release(round)))
    assert sorted(row.counted for row in rows) == [0] * 4 + [1] * 4
    assert sorted(row.control for row in rows) == [""] * 4 + ["negative"] * 2 + ["positive"] * 2


def test_a_judgment_carries_when_where_and_by_which_guidelines_it_was_given(round):
    Assignment.objects.update(active_seconds=90)
    Judgment.objects.update(at=datetime(2026, 11, 22, 8, 30, tzinfo=UTC), seconds=21)
    rows = list(load_judgments(release(round)))
    places = places_of(Assignment.objects.get())
    item_at = dict(round.hits.get().items.values_list("place", "pk"))
    assert {row.position: item_at[row.place] for row in rows} == places
    assert {(row.at, row.active_seconds, row.seconds, row.wording, row.channel, row.assignment) for row in rows} == {
        ("2026-11-22T08:30:00Z", "90", "21", round.wording, "browser", 1)
    }


def test_simulated_votes_are_marked_on_judgments_pairs_and_counts(round):
    Worker.objects.update(simulated=True)
    version = release(round)
    assert {row.simulated for row in load_judgments(version)} == {1}
    assert {row.simulated_votes for row in load_pairs(version)} == {"", "1"}
    assert version.manifest["counts"]["simulated_votes"] == 2
    assert version.manifest["provenance"]["round-1"]["simulated_votes"] == 2


def test_an_answer_to_a_control_is_no_vote_on_the_same_pair(round):
    """A pair may be a candidate of one HIT and a control of another."""
    Worker.objects.update(simulated=True)
    (image, caption), _no = candidates(round.hits.get())
    gold = round.hits.get().items.filter(control__isnull=False).first()
    Judgment.objects.filter(item=gold).update(image=image, caption=caption, worker=make_worker())
    assert release(round).manifest["counts"]["simulated_votes"] == 2


def test_the_manifest_holds_the_protocol(round):
    protocol = release(round).manifest["protocol"]
    collection = round.pool.collection
    assert (protocol["gallery_images"], protocol["gallery_captions"]) == (
        collection.images.count(),
        collection.captions.count(),
    )
    assert protocol["captions_per_image"] == {"2": collection.images.count()}
    assert len(protocol["gallery_sha256"]) == 64


def test_the_protocol_counts_images_without_captions(round):
    collection = round.pool.collection
    for key in ("bare-1", "bare-2"):
        collection.images.create(key=key, file_name=f"{key}.jpg")
    assert release(round).manifest["protocol"]["captions_per_image"] == {"0": 2, "2": collection.images.count() - 2}


def test_the_manifest_holds_where_the_votes_came_from(round):
    provenance = release(round).manifest["provenance"]["round-1"]
    assert provenance["channel"] == "browser"
    assert (provenance["workers"], provenance["answer_sets"]) == (1, {"counted": 1, "excluded": 0})
    assert (provenance["votes"], provenance["pairs_judged"], provenance["unfinished"]) == (2, 2, {})


def test_the_manifest_holds_the_label_error_of_each_polarity(round):
    """By hand: one good answer set, and an excluded one that is wrong on its negative control."""
    other = make_round(round.pool.collection, name="round-2", candidates=2)
    careless = answer(other.hits.get(), 1, 1, state="excluded")
    Judgment.objects.filter(assignment=careless, item__control__polarity="negative").update(level=2)
    errors = release(round, rounds=[round, other], partial=True).manifest["label_errors"]
    assert errors == {
        "positive": {"answers": 2, "wrong": 0, "counted_answers": 1, "counted_wrong": 0},
        "negative": {"answers": 2, "wrong": 1, "counted_answers": 1, "counted_wrong": 0},
    }


def test_an_unfinished_round_is_refused_and_released_only_as_partial(round):
    bigger = make_round(round.pool.collection, name="round-2", hits=2, candidates=2)
    answer(bigger.hits.get(number=1), 1, 1)
    answer(bigger.hits.get(number=2), 1, 1, state="flagged")
    refuses(round, "round-2 is unfinished: 1 of 2 answer sets missing, 1 waiting for a review", rounds=[bigger])
    manifest = release(round, rounds=[bigger], partial=True).manifest
    assert manifest["partial"]
    assert manifest["provenance"]["round-2"]["unfinished"] == {"seats": 1, "waiting_for_review": 1}


def test_a_review_overrules_the_votes_and_an_undone_one_does_not(round, django_user_model):
    yes, no = candidates(round.hits.get())
    robin = django_user_model.objects.create(username="robin")
    say = partial(Review.objects.create, collection=round.pool.collection, by=robin)
    say(image_id=no[0], caption_id=no[1], conclusion="level", level=2)
    say(image_id=yes[0], caption_id=yes[1], conclusion="level", level=4)
    say(image_id=yes[0], caption_id=yes[1], conclusion="kept")
    version = release(round, merge="")
    assert pairs_in(version) == {yes, no}
    assert [(row.level, row.review) for row in load_pairs(version)] == [("1", ""), ("2", "2")]


def test_a_review_that_waits_for_a_second_person_changes_nothing(round, django_user_model):
    yes, no = candidates(round.hits.get())
    robin = django_user_model.objects.create(username="robin")
    review = Review(collection=round.pool.collection, by=robin, conclusion="level", level=1, needs_second=True)
    review.image_id, review.caption_id = no
    review.save()
    assert pairs_in(release(round, merge="")) == {yes}


def test_captions_and_images_that_a_reviewer_excluded_leave_the_version(round, django_user_model):
    robin = django_user_model.objects.create(username="robin")
    collection = round.pool.collection
    say = partial(Review.objects.create, collection=collection, by=robin, conclusion="excluded")
    say(caption=collection.captions.get(key="0"), grounds="meaningless")
    say(image=collection.images.get(key="3"), grounds="duplicate")
    version = release(round)
    assert (version.manifest["excluded_captions"], version.manifest["excluded_images"]) == (["0"], ["3"])
    assert all(row.caption != "0" and row.image != "3" for row in load_pairs(version))
    assert collection.images.get(key="3").pk not in load_positives(version)[I2T]
    assert ",0,excluded,,meaningless," in read(version, "reviews.csv")


def test_with_the_precedence_judged_a_verdict_holds_against_a_merged_source(round):
    yes, no = candidates(round.hits.get())
    associate(round.pool.collection, "cxc", [yes, no], score=5)
    version = release(round, merge="cxc", precedence="judged")
    assert pairs_in(version) == {yes}
    assert version.manifest["counts"]["merged_against_verdict"] == 1


def test_a_merged_source_is_sealed(round, tmp_path):
    associate(round.pool.collection, "cxc", candidates(round.hits.get())[:1], score=5)
    release(round, merge="cxc")
    (tmp_path / "more.csv").write_text("image,caption,score\n0,0,1\n")
    with pytest.raises(CounterpartError, match="'cxc' is part of a released version"):
        import_matches(round.pool.collection, source="cxc", path=tmp_path / "more.csv")


def test_the_same_release_made_again_is_the_same_to_the_byte(round):
    first = contents(release(round))
    Match.objects.filter(source="v1").delete()
    Version.objects.get().delete()
    assert contents(release(round)) == first


def refuses(round, message: str, **options) -> None:
    before = Match.objects.count(), Version.objects.count(), Event.objects.count()
    with pytest.raises(CounterpartError, match=message):
        release(round, **options)
    assert (Match.objects.count(), Version.objects.count(), Event.objects.count()) == before
    assert not default_storage.exists("versions/v1/manifest.json")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rounds": []}, "needs rounds or match sources"),
        ({"rounds": [], "merge": ""}, "needs rounds or match sources"),
        ({"merge": "cxd"}, "zoo lacks 1 match source: cxd; it has original"),
        ({"positive_levels": (1, 5)}, "Invalid positive levels 1, 5: use some of"),
        ({"positive_levels": ()}, "Invalid positive levels .none."),
        ({"exclude_captions": ["0", "x", "y"]}, "zoo lacks 2 captions to exclude: x, y"),
        ({"method": "oracle"}, "Unknown aggregation method 'oracle': use majority"),
        ({"precedence": "loudest"}, "Unknown precedence 'loudest': use union, judged"),
        ({"name": "original"}, "A match source original exists already"),
        ({"name": "a/../b"}, "Invalid name 'a/../b'"),
        ({"merge": "", "positive_levels": (2,)}, "Version v1 would have no positives"),
    ],
)
def test_bad_wishes_change_nothing(round, options, message):
    refuses(round, message, **options)


def test_a_released_version_is_never_replaced(round):
    version = release(round)
    before = read(version, "manifest.json")
    with pytest.raises(CounterpartError, match="Version v1 exists already"):
        release(round, merge="")
    assert read(version, "manifest.json") == before


def test_a_folder_that_a_restored_database_does_not_know_is_never_replaced(round):
    before = contents(release(round))
    Match.objects.filter(source="v1").delete()
    Version.objects.get().delete()
    with pytest.raises(CounterpartError, match="holds another release in versions/v1, which this database does not"):
        release(round, merge="")
    assert {name: default_storage.open(f"versions/v1/{name}").read().decode() for name in before} == before


@pytest.mark.parametrize("damage", [lambda path: write_file(path, b"half"), default_storage.delete])
def test_a_folder_with_a_damaged_file_is_not_taken_for_the_release(round, damage):
    release(round)
    Match.objects.filter(source="v1").delete()
    Version.objects.get().delete()
    damage("versions/v1/pairs.csv")
    with pytest.raises(CounterpartError, match=r"1 file missing or changed: pairs.csv. Restore them"):
        release(round)
    assert not Version.objects.exists()


def test_a_folder_that_lost_only_its_manifest_is_never_replaced(round):
    before = contents(release(round))
    Match.objects.filter(source="v1").delete()
    Version.objects.get().delete()
    default_storage.delete("versions/v1/manifest.json")
    with pytest.raises(CounterpartError, match=r"manifest.json is lost\. Restore it from a backup"):
        release(round)
    kept = {
        name: default_storage.open(f"versions/v1/{name}").read().decode() for name in before.keys() - {"manifest.json"}
    }
    assert kept == {name: text for name, text in before.items() if name != "manifest.json"}


def test_a_release_that_was_killed_before_any_file_was_whole_can_be_made_again(round):
    write_file("versions/v1/.manifest.json.unsealed.01234567", b"ha")
    assert json.loads(manifest_in_storage(release(round)))


def test_a_release_that_was_killed_at_its_first_file_can_be_made_again(round, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(version_files, "_clear", lambda folder: None)  # kill -9 clears nothing
        patch.setattr(version_files, "copy_file", lambda *_args: sys.exit())
        with pytest.raises(SystemExit):
            release(round)
    assert json.loads(manifest_in_storage(release(round, merge="")))


def test_a_failure_removes_no_folder_that_was_released_before(round, monkeypatch):
    before = contents(release(round))
    Match.objects.filter(source="v1").delete()
    Version.objects.get().delete()
    monkeypatch.setattr(dataset.release, "_enter_matches", lambda *_args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        release(round)
    assert {name: default_storage.open(f"versions/v1/{name}").read().decode() for name in before} == before


def test_a_release_that_was_killed_before_its_commit_can_be_made_again(round, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(version_files, "_clear", lambda folder: None)  # kill -9 clears nothing
        patch.setattr(dataset.release, "_enter_matches", lambda *_args: sys.exit())
        with pytest.raises(SystemExit):
            release(round)
    assert default_storage.exists("versions/v1/pairs.csv")
    again = release(round, merge="")
    assert json.loads(manifest_in_storage(again)) == again.manifest


def test_a_release_that_was_killed_just_after_its_commit_is_whole(round, monkeypatch):
    monkeypatch.setattr(dataset.release, "seal_folder", lambda version: None)
    version = release(round)
    assert not default_storage.exists("versions/v1/manifest.json")
    assert json.loads(manifest_in_storage(version)) == version.manifest
    assert json.loads(read(version, "manifest.json")) == version.manifest


def test_what_a_killed_release_left_is_replaced(round):
    write_file("versions/v1/manifest.json.unsealed", b"{}")
    write_file("versions/v1/pairs.csv", b"half")
    assert read(release(round), "pairs.csv") != b"half"


def test_a_sample_of_another_collection_is_refused(round):
    other = make_collection("farm")
    refuses(round, "Sample queries belongs to farm, not to zoo", sample=make_sample(other))


def test_a_round_over_another_collection_is_refused(round):
    other = make_round(make_collection("farm", images=8), name="round-2")
    refuses(round, "1 round is not on zoo: round-2", rounds=[round, other])


def test_a_round_without_votes_that_count_is_refused(round):
    Assignment.objects.update(state="excluded")
    refuses(round, "round-1 has no judgments that count", partial=True)


def test_a_failure_midway_leaves_no_file(round, monkeypatch):
    def fail(*_args):
        raise CounterpartError("stop")

    monkeypatch.setattr(dataset.release, "_enter_matches", fail)
    refuses(round, "stop")
    assert not default_storage.exists("versions/v1")


def test_releasing_writes_an_event_with_its_counts(round):
    release(round)
    assert Event.objects.get(verb="released").data["judged_positive"] == 1


def test_nobody_adds_matches_to_a_released_version(round, tmp_path):
    version = release(round)
    (tmp_path / "more.csv").write_text("image,caption,score\n0,0,1\n")
    with pytest.raises(CounterpartError, match="'v1' is part of a released version, which never changes"):
        import_matches(version.collection, source="v1", path=tmp_path / "more.csv")


def test_what_a_killed_release_has_left_goes_with_the_next_one(round):
    write_file("versions/v1/manifest.json.unsealed", b"{}")
    write_file("versions/v1/judgments.csv", b"of an earlier attempt")
    write_file("versions/v1/unknown.csv", b"of an earlier attempt")
    version = release(round, rounds=[], merge="original")
    assert sorted(default_storage.listdir("versions/v1")[1]) == sorted([*version.manifest["files"], "manifest.json"])


def test_a_round_of_other_queries_is_refused(round):
    zoo = round.pool.collection
    others = Sample.objects.create(name="others", collection=zoo, seed=0)
    round.pool.sample.captions.clear()
    others.captions.set(zoo.captions.all())
    refuses(round, "No query of round round-1 is in others", sample=others)


@pytest.mark.parametrize("more", [True, False])
def test_a_round_of_some_of_the_queries_and_others_is_released(round, more):
    some = make_sample(round.pool.collection, "some")
    (round.pool.sample if more else some).images.remove(round.pool.collection.images.first())
    assert release(round, sample=some).rounds.get() == round


def test_a_round_named_twice_is_refused(round):
    refuses(round, "1 round is named more than once: round-1", rounds=[round, round])
