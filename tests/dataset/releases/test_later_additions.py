"""A version stays provable when captions, images, pictures and matches are added after its release."""

import json
from pathlib import Path

import pytest
from django.utils import timezone

from annotation.work.disputes import top_up
from corpus.imports import import_collection
from corpus.models import Caption, Collection, Match
from dataset.models import Version
from dataset.versions.version_files import stored_sha256
from hits.models import Control, Item, Round, Seat
from hits.rounds.top_ups import plan_again
from mitl.models import Pool
from tests.annotation.cast import answer, associate
from tests.commands import output_of
from tests.dataset.releasing import judge, notes, problems, release, release_version, released
from tests.factories import make_collection, make_sample
from tests.hits.pools import SMALL, pack, pool_of, pool_of_boxes
from tests.transactions import taken_back

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def version_once(lasting) -> int:
    return released(make_collection(images=12)).pk


@pytest.fixture
def version(version_once) -> Version:
    return Version.objects.get(pk=version_once)


@pytest.fixture
def other_pool() -> Pool:
    """A pool of another collection, which asks image → caption only."""
    pool = pool_of(30, name="other")
    narrow(pool, "i2t")
    return pool


def append(collection: Collection, tmp_path: Path, **captions: str) -> None:
    """Import captions by key, with the keys of their images; captions sort before, among and after those there are."""
    lines = [
        {"caption_id": key, "image_id": image, "file_name": f"{image}.jpg", "text": f"A later caption of {image}."}
        for key, image in captions.items()
    ]
    file = tmp_path / "later.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    import_collection(collection.name, format="jsonl", path=file, append=True)


LATER = {"00": "3", "17b": "3", "5b": "0", "zz": "11", "!": "new", "18x": "newer"}


def narrow(pool: Pool, direction: str) -> None:
    """Ask one direction only, so that controls come from the whole gallery on the other side."""
    pool.directions = [direction]
    pool.save()


def test_a_version_verifies_after_captions_and_images_were_added_and_counts_them_apart(version, tmp_path):
    append(version.collection, tmp_path, **LATER)
    assert problems(version) == []
    assert notes(version) == [
        "2 images were added to zoo since the release.",
        "6 captions were added to zoo since the release.",
    ]
    printed = output_of("verify", "v1")
    assert "FAILED" not in printed
    assert "note: 6 captions" in printed


@pytest.mark.parametrize("direction", ["i2t", "t2i"])
@pytest.mark.parametrize("sharing", ["avoid", "allow"])
def test_controls_of_the_whole_gallery_are_drawn_again_as_they_were(direction, sharing, tmp_path):
    pool = pool_of(30, name="other")
    narrow(pool, direction)
    version = release(judge(pack("round-2", pool, design=SMALL, sharing=sharing)), "v2")
    append(pool.collection, tmp_path, **LATER)
    assert problems(version) == []


def test_check_boxes_are_filled_up_again_as_they_were(tmp_path):
    round = judge(pack("boxes", pool_of_boxes(asked=10), task="checkbox"))
    version = release(round, "v2", partial=True)
    before = problems(version)
    append(round.pool.collection, tmp_path, **LATER)
    assert problems(version) == before
    assert all("The picture" in problem or "more" in problem for problem in before)  # made without checksums


def test_what_was_added_between_packing_and_release_is_not_packed(tmp_path):
    round = pack("round-2", pool_of(10, name="other"), design=SMALL)
    append(round.pool.collection, tmp_path, **LATER)
    version = release(judge(round), "v2")
    assert problems(version) == []
    assert notes(version) == []
    append(version.collection, tmp_path, last="3")
    assert problems(version) == []
    assert notes(version) == ["1 caption was added to zoo-other since the release."]


def test_a_top_up_after_an_addition_has_the_controls_of_its_round_and_is_packed_again(version, tmp_path):
    round = version.rounds.get()
    append(version.collection, tmp_path, **LATER)
    Caption.objects.filter(key="zz").update(excluded_at=timezone.now())
    Round.objects.update(replication=2, top_up=1, ceiling=100)
    for hit in round.hits.all():
        Seat.objects.create(round=round, hit=hit, number=2)
        n = hit.items.filter(control=None).count()
        answer(hit, *([4, 4, 1, 1] * n)[:n], seat=2)
    assert top_up(Round.objects.get(), actor="test") > 0
    assert not Item.objects.filter(caption__key__in=LATER).exists()
    later = release(Round.objects.get(), "v2", partial=True)
    append(version.collection, tmp_path, last="3")
    assert problems(version) == problems(later) == []
    made = round.top_ups.get()
    assert plan_again(made).hash == made.plan_hash
    assert len(later.manifest["rounds"][0]["top_ups"]) == 1
    Item.objects.filter(hit__top_up__isnull=False, control=None).order_by("pk")[:1][0].delete()
    assert any("top-up 1 of round round-1" in problem for problem in problems(later))
    assert problems(version) == []


def test_the_same_round_packed_again_after_an_addition_is_the_existing_one(other_pool, tmp_path):
    first = pack("round-2", other_pool, design=SMALL)
    append(other_pool.collection, tmp_path, **LATER)
    assert pack("round-2", other_pool, design=SMALL) == first
    assert pack("round-3", other_pool, design=SMALL).plan_hash != first.plan_hash


def test_pictures_imported_later_are_noted_and_no_problem(version):
    picture = make_collection("farm", images=1, pictures=True).images.get().file
    version.collection.images.filter(key="3").update(file=picture, sha256=stored_sha256(picture))
    assert problems(version) == []
    assert notes(version) == ["1 picture was added to zoo since the release."]
    version.collection.images.filter(key="3").update(sha256="0" * 64)
    assert problems(version) == [f"The picture {picture} of image 3 is missing or was changed."]


def test_a_lost_picture_of_an_image_added_later_does_not_concern_the_version(version, tmp_path):
    append(version.collection, tmp_path, **LATER)
    version.collection.images.filter(key="new").update(file="images/lost.jpg", sha256="0" * 64)
    assert problems(version) == []


# Tampering is found after an addition too


def change_the_seed(version: Version) -> None:
    version.rounds.update(seed=7)


def remove_an_original_match(version: Version) -> None:
    Match.objects.filter(source="original", caption__key="9").delete()


def match_two_that_were_there(version: Version) -> None:
    one, other = version.collection.images.get(key="1"), version.collection.captions.get(key="9")
    associate(version.collection, "original", [(one.pk, other.pk)])


def put_a_later_caption_into_an_item(version: Version) -> None:
    item = Item.objects.filter(control=None).first()
    Item.objects.filter(pk=item.pk).update(caption=Caption.objects.get(key="zz"))


TAMPERING = {
    change_the_seed: "again gives the plan",
    remove_an_original_match: "pairs.csv, line ",
    match_two_that_were_there: "pairs.csv, line ",
    put_a_later_caption_into_an_item: "stored items of round round-1",
}


def test_what_was_tampered_with_is_found_after_an_addition(version, tmp_path):
    append(version.collection, tmp_path, **LATER)
    for act, problem in TAMPERING.items():
        with taken_back():
            act(version)
            assert any(problem in shown for shown in problems(version)), act


# Rounds of an earlier program, which did not note what they were packed from


def forget(round: Round) -> None:
    round.summary.pop("newest")
    round.save()


def test_a_round_of_an_earlier_program_is_packed_again_from_the_released_gallery(other_pool, tmp_path):
    round = judge(pack("round-2", other_pool, design=SMALL))
    forget(round)
    version = release(round, "v2")
    append(other_pool.collection, tmp_path, **LATER)
    assert problems(version) == []
    assert not any("cannot be checked" in note for note in notes(version))


def test_what_an_earlier_program_packed_before_an_addition_cannot_be_checked(other_pool, tmp_path):
    round = judge(pack("round-2", other_pool, design=SMALL))
    forget(round)
    append(other_pool.collection, tmp_path, **LATER)
    version = release(round, "v2")
    assert problems(version) == []
    (note,) = notes(version)
    assert note.startswith("cannot be checked: whether round round-2 ")
    Control.objects.filter(polarity="negative").update(polarity="positive")
    assert any("stored items of round round-2" in problem for problem in problems(version))


def test_a_version_of_sources_alone_verifies_after_an_addition(tmp_path):
    farm = make_collection("farm")
    version = release_version("v2", collection=farm, sample=make_sample(farm), merge="original")
    append(farm, tmp_path, later="3")
    assert problems(version) == []
    assert version.sample.captions.count() == 12
