"""Items of a gallery that a search found become rows, each once, with the image of a caption and its picture."""

import hashlib

import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from core.errors import CounterpartError
from core.models import Event
from core.web import public_network
from corpus.galleries import gallery_imports
from corpus.galleries.found_rows import rows_of
from corpus.galleries.gallery_imports import import_gallery
from corpus.models import Caption, Image, Match
from tests.at_once import at_once
from tests.corpus.files import gallery_folder, gallery_items
from tests.factories import make_collection, picture

pytestmark = pytest.mark.django_db


@pytest.fixture
def gallery(tmp_path, monkeypatch):
    """Nine images and captions in parts of four."""
    monkeypatch.setattr(gallery_imports, "ROWS", 4)
    path = gallery_folder(tmp_path, *gallery_items(9))
    return import_gallery("sea", collection=make_collection(images=2, captions_each=1), path=path)


def test_images_become_rows_in_the_order_of_their_places(gallery):
    ids = rows_of(gallery, "images", np.array([1, 3, 8]))
    assert [Image.objects.get(pk=pk).key for pk in ids.tolist()] == ["i01", "i03", "i08"]
    assert gallery.collection.images.gallery().count() == 2 + 3
    assert Event.objects.get(verb="found").data == {"images": 3, "captions": 0}


def test_a_caption_brings_its_image_and_their_match(gallery):
    ids = rows_of(gallery, "captions", np.array([0, 5]))
    captions = [Caption.objects.select_related("image").get(pk=pk) for pk in ids.tolist()]
    assert [(one.key, one.text, one.image.key) for one in captions] == [
        ("c00", "a boat, number 0", "i08"),
        ("c05", "a boat, number 5", "i03"),
    ]
    made = Match.objects.filter(source="original", caption__in=captions).values_list("image_id", "caption_id")
    assert set(made) == {(one.image_id, one.pk) for one in captions}


def test_captions_of_one_image_share_its_row(tmp_path):
    images, captions = gallery_items(3)
    for caption in captions:
        caption["image"] = 1
    path = gallery_folder(tmp_path, images, captions)
    gallery = import_gallery("sea", collection=make_collection(images=1), path=path)
    rows_of(gallery, "captions", np.arange(3))
    assert Image.objects.get(key="i01").captions.count() == 3
    assert not Image.objects.filter(key="i00").exists()


def test_the_same_again_finds_the_same_rows(gallery):
    first, again = (rows_of(gallery, "captions", np.array([2, 7])).tolist() for _ in range(2))
    assert first == again
    assert Event.objects.filter(verb="found").count() == 1
    assert Caption.objects.filter(key__in=["c02", "c07"]).count() == 2


def test_a_row_of_the_collection_with_the_key_of_an_item_is_that_item(tmp_path):
    collection = make_collection(images=2, captions_each=1)
    images, captions = gallery_items(3)
    images[0]["key"], captions[0]["key"], captions[0]["text"] = "1", "1", "caption 0 of image 1"
    gallery = import_gallery("sea", collection=collection, path=gallery_folder(tmp_path, images, captions))
    assert rows_of(gallery, "images", np.array([0])).tolist() == [collection.images.get(key="1").pk]
    assert rows_of(gallery, "captions", np.array([0])).tolist() == [collection.captions.get(key="1").pk]


def test_a_row_that_changed_after_the_import_is_refused_and_no_row_made(gallery):
    rows_of(gallery, "captions", np.array([2]))
    Caption.objects.filter(key="c02").update(text="another text")
    with pytest.raises(CounterpartError, match="with another text"):
        rows_of(gallery, "captions", np.array([2, 3]))
    assert not Caption.objects.filter(key="c03").exists()


def with_pictures(tmp_path, file: str, sha256: str = ""):
    images, captions = gallery_items(2)
    for image in images:
        image |= {"file": file.format(image["key"]), "sha256": sha256}
    return import_gallery("sea", collection=make_collection(), path=gallery_folder(tmp_path, images, captions))


STORED = "pictures/{}.jpg"


@pytest.mark.parametrize("file", [STORED, "https://pictures.example/{}.jpg?size=large"])
def test_a_found_picture_is_copied_to_the_collection(tmp_path, monkeypatch, file):
    content = picture(size=(30, 20))
    default_storage.save("pictures/i01.jpg", ContentFile(content))
    monkeypatch.setattr(public_network, "fetch", lambda url, at_most: content)
    gallery = with_pictures(tmp_path, file, hashlib.sha256(content).hexdigest())
    [pk] = rows_of(gallery, "images", np.array([1]))
    image = Image.objects.get(pk=pk)
    assert (image.file_name, image.width, image.height) == ("i01.jpg", 30, 20)
    assert image.file.startswith("images/zoo/")
    assert default_storage.open(image.file).read() == content
    assert image.sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    ("content", "sha256", "message"),
    [
        (picture(), "0" * 64, "checksum"),
        (None, "", "missing from the storage"),
        (picture()[:200], "", "not a complete"),
    ],
    ids=["another", "missing", "broken"],
)
def test_a_picture_that_cannot_be_used_makes_no_row(tmp_path, content, sha256, message):
    if content:
        default_storage.save("pictures/i00.jpg", ContentFile(content))
    gallery = with_pictures(tmp_path, STORED, sha256)
    with pytest.raises(CounterpartError, match=rf"i00.*{message}"):
        rows_of(gallery, "images", np.array([0]))
    assert not Image.objects.filter(key="i00").exists()


def test_two_searches_at_once_make_each_row_once(transactional_db, tmp_path):
    path = gallery_folder(tmp_path, *gallery_items(9))
    gallery = import_gallery("sea", collection=make_collection(images=1), path=path)
    places = [np.arange(0, 6), np.arange(3, 9)]
    one, other = at_once(*(lambda some=some: rows_of(gallery, "captions", some) for some in places))
    assert one[3:].tolist() == other[:3].tolist()
    assert Caption.objects.filter(key__startswith="c").count() == Image.objects.filter(key__startswith="i").count() == 9
