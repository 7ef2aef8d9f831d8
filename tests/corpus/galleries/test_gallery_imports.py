"""A gallery is imported whole or not at all, in parts that depend on its items alone."""

import hashlib
import os
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone
from pyarrow import parquet

from core.errors import CounterpartError
from core.models import Event
from core.web import public_network
from corpus.galleries import gallery_imports
from corpus.galleries.found_rows import rows_of
from corpus.galleries.gallery_imports import files_of, import_gallery
from corpus.galleries.item_parts import captions_of, images_of, parts_of
from corpus.models import Caption, Gallery, Image, Match
from tests.at_once import at_once
from tests.commands import figures_printed, output_of
from tests.corpus.files import gallery_folder, gallery_items
from tests.factories import make_collection, picture

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection():
    return make_collection(images=2, captions_each=1)


@pytest.fixture
def small_parts(monkeypatch):
    """Parts of four items, read two rows at once."""
    monkeypatch.setattr(gallery_imports, "ROWS", 4)
    monkeypatch.setattr(gallery_imports, "BATCH", 2)


def stored(folder: str = "galleries") -> list[str]:
    return default_storage.listdir(folder)[0] if default_storage.exists(folder) else []


def test_items_stay_in_files_and_become_no_rows(collection, tmp_path):
    gallery = import_gallery("sea", collection=collection, path=gallery_folder(tmp_path, *gallery_items()))
    assert (gallery.n_images, gallery.n_captions) == (5, 5)
    assert (Image.objects.count(), Caption.objects.count()) == (2, 2)
    assert Event.objects.get(verb="gallery imported").data["captions"] == 5


def test_parts_hold_the_items_in_order_and_the_digest_is_the_hash_of_their_checksums(collection, tmp_path, small_parts):
    gallery = import_gallery("sea", collection=collection, path=gallery_folder(tmp_path, *gallery_items(9)))
    parts = parts_of(gallery)
    assert [(part.first, part.rows) for part in parts["captions"]] == [(0, 4), (4, 4), (8, 1)]
    assert [image.key for part in parts["images"] for image in images_of(part)] == [f"i{n:02}" for n in range(9)]
    texts = [caption.text for part in parts["captions"] for caption in captions_of(part)]
    assert texts == [f"a boat, number {n}" for n in range(9)]
    contents = [default_storage.open(part.path).read() for side in parts_of(gallery).values() for part in side]
    checksums = "".join(hashlib.sha256(content).hexdigest() for content in contents)
    assert len(contents) == 6
    assert gallery.digest == hashlib.sha256(checksums.encode()).hexdigest()


@pytest.mark.parametrize(("a_file", "a_group"), [(1, 1), (3, 2), (100, 7)])
def test_the_cut_of_the_files_does_not_matter(collection, tmp_path, small_parts, a_file, a_group):
    one = gallery_folder(tmp_path / "one", *gallery_items(9))
    other = gallery_folder(tmp_path / "other", *gallery_items(9), rows_a_file=a_file, rows_a_group=a_group)
    digests = [import_gallery(path.name, collection=collection, path=path).digest for path in (one, other)]
    assert digests[0] == digests[1]


def test_the_same_again_changes_nothing(collection, tmp_path):
    path = gallery_folder(tmp_path, *gallery_items())
    first, again = (import_gallery("sea", collection=collection, path=path) for _ in range(2))
    assert first == again
    assert len(stored()) == Event.objects.filter(verb="gallery imported").count() == 1
    assert all(default_storage.exists(file.path) for file in files_of(first))


def test_what_a_killed_import_left_is_removed_after_a_day(collection, tmp_path):
    path = gallery_folder(tmp_path, *gallery_items())
    kept = import_gallery("kept", collection=collection, path=path)
    for name in ("left-1", "new-1"):
        default_storage.save(f"galleries/{name}/images-1.parquet", ContentFile(b"part"))
    old = (timezone.now() - timedelta(days=2)).timestamp()
    for folder in ("left-1", kept.file.split("/")[1]):
        for file in default_storage.listdir(f"galleries/{folder}")[1]:
            os.utime(default_storage.path(f"galleries/{folder}/{file}"), (old, old))
    made = import_gallery("sea", collection=collection, path=path)
    assert sorted(stored()) == sorted(["new-1", kept.file.split("/")[1], made.file.split("/")[1]])


def test_another_gallery_of_the_name_is_refused(collection, tmp_path):
    import_gallery("sea", collection=collection, path=gallery_folder(tmp_path / "one", *gallery_items(5)))
    with pytest.raises(CounterpartError, match="gallery sea already exists"):
        import_gallery("sea", collection=collection, path=gallery_folder(tmp_path / "two", *gallery_items(6)))
    assert len(stored()) == 1


def test_columns_of_pictures_may_be_left_out(collection, tmp_path):
    images, captions = gallery_items()
    bare = gallery_folder(tmp_path / "bare", [{"key": image["key"]} for image in images], captions)
    full = gallery_folder(tmp_path / "full", images, captions)
    digests = [import_gallery(path.name, collection=collection, path=path).digest for path in (bare, full)]
    assert digests[0] == digests[1]


FAULTS = [
    ("images", {"key": ""}, "it has no key"),
    ("images", {"key": "i02"}, "does not come after"),
    ("images", {"key": "i02" + "x" * 118}, "more than 120 characters"),
    ("images", {"key": "i02\0"}, "its key contains a NUL"),
    ("images", {"file": "pictures/../secret"}, "below pictures/"),
    ("images", {"file": "/pictures/1.jpg"}, "below pictures/"),
    ("images", {"file": "ftp://example.org/1.jpg"}, "nor a URL"),
    ("images", {"file": "https://example.org/a b.jpg"}, "nor a URL"),
    ("images", {"file": "https://example.org/" + "a" * 1981}, "its URL has over 2,000 characters"),
    ("images", {"file": "pictures/" + "a" * 247}, "its file has over 255 characters"),
    ("images", {"sha256": "ABC"}, "not 64 hexadecimal digits"),
    ("captions", {"text": "\u200b\u3164"}, "it has no text"),
    ("captions", {"text": "a\0b"}, "its text contains a NUL"),
    ("captions", {"text": "a" * 10_001}, "over 10,000 characters"),
    ("captions", {"image": 5}, "0 to 4"),
    ("captions", {"image": None}, "0 to 4"),
]


@pytest.mark.parametrize(("side", "fault", "message"), FAULTS)
def test_a_wrong_row_is_named_and_nothing_stays(collection, tmp_path, small_parts, side, fault, message):
    items = dict(zip(("images", "captions"), gallery_items(5), strict=True))
    items[side][3] |= fault
    path = gallery_folder(tmp_path, items["images"], items["captions"], rows_a_file=2)
    with pytest.raises(CounterpartError, match=message) as refused:
        import_gallery("sea", collection=collection, path=path)
    assert str(refused.value).startswith(f"{side}-001.parquet, row 2 ")
    assert not Gallery.objects.exists()
    assert stored() == []


def test_keys_that_repeat_across_files_are_refused(collection, tmp_path):
    images, captions = gallery_items(4)
    images[2]["key"] = images[1]["key"]
    path = gallery_folder(tmp_path, images, captions, rows_a_file=2)
    with pytest.raises(CounterpartError, match="images-001.parquet, row 1"):
        import_gallery("sea", collection=collection, path=path)


def test_files_that_are_not_parquet_or_miss_a_column_are_named(collection, tmp_path):
    images, captions = gallery_items()
    path = gallery_folder(tmp_path / "without", images, [{"key": one["key"]} for one in captions])
    with pytest.raises(CounterpartError, match="captions-000.* no image"):
        import_gallery("sea", collection=collection, path=path)
    path = gallery_folder(tmp_path / "broken", images, captions)
    (path / "images-000.parquet").write_bytes(b"no parquet")
    with pytest.raises(CounterpartError, match="images-000.* cannot be read"):
        import_gallery("sea", collection=collection, path=path)
    with pytest.raises(CounterpartError, match=r"no files images-\*.parquet"):
        import_gallery("sea", collection=collection, path=tmp_path)


def test_a_side_without_items_is_refused(collection, tmp_path):
    path = gallery_folder(tmp_path, *gallery_items())
    nothing = pa.table({"key": [], "text": [], "image": []}, schema=gallery_imports.SCHEMAS["captions"])
    parquet.write_table(nothing, path / "captions-000.parquet")
    with pytest.raises(CounterpartError, match="have no captions"):
        import_gallery("sea", collection=collection, path=path)
    assert stored() == []


def test_an_item_that_differs_from_the_row_with_its_key_is_refused(collection, tmp_path):
    images, captions = gallery_items()
    captions[0] |= {"key": "0", "text": "another text"}
    with pytest.raises(CounterpartError, match="1 item of the captions"):
        import_gallery("sea", collection=collection, path=gallery_folder(tmp_path, images, captions))
    assert stored() == []


def test_an_item_that_is_for_training_is_refused(collection, tmp_path):
    collection.images.filter(key="1").update(split="train")
    images, captions = gallery_items()
    images[0]["key"] = "1"
    with pytest.raises(CounterpartError, match="training split: 1"):
        import_gallery("sea", collection=collection, path=gallery_folder(tmp_path, images, captions))


def test_the_command_says_what_there_is(collection, tmp_path):
    path = gallery_folder(tmp_path, *gallery_items())
    said = output_of("import_gallery", "sea", path, "--collection", "zoo")
    assert said == "sea: 5 images and 5 captions to search for queries of zoo.\n"
    figures = figures_printed("import_gallery", "sea", path, "--collection", "zoo")
    assert figures == {"gallery": "sea", "images": 5, "captions": 5, "digest": Gallery.objects.get().digest}


# Items of a gallery that a search found become rows, each once, with the image of a caption and its picture


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
