"""The act and the command that make the demo collection."""

import hashlib
import re
from collections import Counter
from io import BytesIO

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from PIL import Image as Picture

from core.errors import CounterpartError
from core.models import Event
from corpus.models import Collection, Match
from counterpart_drawn.plates import compose
from demo import collection as demo_collection
from demo.collection import make_demo_collection
from tests.factories import make_collection


def contents(collection):
    """All that a reader of the collection can see, without database ids."""
    images = list(collection.images.values_list("key", "file_name", "split", "sha256", "width", "height"))
    captions = list(collection.captions.values_list("key", "image__key", "text"))
    matches = set(collection.matches.values_list("source", "image__key", "caption__key", "grade"))
    return images, captions, matches


def stored_bytes(collection):
    pictures = []
    for image in collection.images.all():
        with default_storage.open(image.file) as file:
            pictures.append(file.read())
    return pictures


def test_equal_seeds_give_equal_bytes_and_rows_and_another_seed_others(db):
    one, same = (make_demo_collection(name, images=10, seed=4) for name in ("one", "same"))
    assert (stored_bytes(one), contents(one)) == (stored_bytes(same), contents(same))
    other = make_demo_collection("other", images=10, seed=5)
    assert not set(one.images.values_list("sha256")) & set(other.images.values_list("sha256"))
    assert list(one.captions.values_list("text")) != list(other.captions.values_list("text"))


def test_pictures_are_real_jpegs_all_different_and_every_caption_has_its_original_match(db):
    collection = make_demo_collection("demo", images=10)
    pictures = stored_bytes(collection)
    assert len(set(pictures)) == 10
    assert {Picture.open(BytesIO(content)).size for content in pictures} == {(480, 360)}
    assert set(collection.images.values_list("width", "height")) == {(480, 360)}
    original = collection.matches.filter(source=Match.ORIGINAL)
    assert set(original.values_list("caption", "image")) == set(collection.captions.values_list("id", "image"))
    assert collection.captions.count() == 50


def test_the_default_size_leaves_240_pictures_for_rounds():
    plates = compose(600, seed=0)
    assert Counter(plate.split for plate in plates) == {"test": 240, "val": 60, "train": 300}
    for_rounds = " ".join(plate.key for plate in plates if plate.split == "test")
    assert hashlib.sha256(for_rounds.encode()).hexdigest().startswith("daa4cef1f495")  # those of the README's figures


def test_the_truth_covers_exactly_the_pairs_of_the_gallery_the_original_ones_with_grade_1(db):
    collection = make_demo_collection("demo", images=25)
    matches = collection.matches.filter(source="truth").values_list("image__key", "caption__key", "grade")
    written = {(image, caption): level for image, caption, level in matches}
    plates = [plate for plate in compose(25, seed=0) if plate.split == "test"]
    expected = {
        (shown.key, key): level
        for said in plates
        for key, meaning in zip(said.caption_keys, said.meanings, strict=True)
        for shown in plates
        if (level := demo_collection.grades([meaning], [shown.scene])[0, 0]) <= 3
    }
    assert written == expected
    own = collection.captions.gallery().values_list("image__key", "key")
    assert {written[pair] for pair in own} == {1}


def test_names_and_keys_are_mere_numbers(db):
    collection = make_demo_collection("demo", images=10)
    for image in collection.images.all():
        assert re.fullmatch(r"[1-9]\d{5}", image.key)
        assert image.file_name == f"{image.key}.jpg"
        assert re.fullmatch(r"images/demo/[0-9a-f]+\.jpg", image.file)
    assert all(re.fullmatch(r"[1-9]\d{6}", key) for key in collection.captions.values_list("key", flat=True))


def test_making_it_again_changes_nothing(db):
    collection = make_demo_collection("demo", images=10, seed=2)
    before = contents(collection), Event.objects.count()
    assert make_demo_collection("demo", images=10, seed=2) == collection
    assert (contents(collection), Event.objects.count()) == before


def test_the_name_of_another_collection_is_refused(db):
    make_demo_collection("demo", images=10, seed=2)
    for other in ({"images": 10, "seed": 3}, {"images": 11, "seed": 2}):
        with pytest.raises(CounterpartError, match="10 pictures and seed 2"):
            make_demo_collection("demo", **other)
    with pytest.raises(CommandError, match="10 pictures and seed 7"):
        call_command("demo_collection", "demo", "--images", "10", "--seed", "7")
    make_collection("zoo")
    with pytest.raises(CounterpartError, match="zoo exists and was not drawn"):
        make_demo_collection("zoo", images=10)


def test_a_failure_midway_leaves_no_rows(db, monkeypatch):
    monkeypatch.setattr(demo_collection, "grades", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make_demo_collection("demo", images=10)
    assert not Collection.objects.exists()


def test_lessons_are_for_training_and_validation_alone(db):
    collection = make_demo_collection("lessons", images=20, lessons=True)
    assert Counter(collection.images.values_list("split", flat=True)) == {"train": 18, "val": 2}
    assert set(collection.matches.values_list("source", flat=True)) == {"original"}
    with pytest.raises(CounterpartError, match="for lessons"):
        make_demo_collection("lessons", images=20)
