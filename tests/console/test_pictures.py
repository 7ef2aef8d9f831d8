from io import BytesIO

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from PIL import Image as Picture
from PIL import Image as Pillow

from corpus.pictures.stored_pictures import store_picture
from tests.factories import make_collection, picture


def content(answer) -> bytes:
    return b"".join(answer.streaming_content)


@pytest.fixture
def large(db):
    """An image of 1000 × 500 pixels."""
    image = make_collection(images=1).images.get()
    stored = store_picture("zoo", image.key, "0.jpg", picture(size=(1000, 500)))
    image.file, image.sha256 = stored.file, stored.sha256
    image.save()
    return image


def test_the_whole_picture_is_streamed_as_it_was_stored(researcher, large):
    answer = researcher.get(f"/pictures/{large.pk}/")
    assert answer["Content-Type"] == "image/jpeg"
    assert content(answer) == picture(size=(1000, 500))


@pytest.mark.parametrize("query", ["", "?size=320"])
def test_a_picture_that_was_changed_in_the_storage_is_not_served(researcher, large, query):
    default_storage.save(large.file, ContentFile(picture("red", size=(1000, 500))))
    assert researcher.get(f"/pictures/{large.pk}/{query}").status_code == 404


def test_a_changed_picture_is_replaced_when_it_is_imported_again(researcher, large):
    default_storage.save(large.file, ContentFile(b"x" * default_storage.size(large.file)))
    store_picture("zoo", large.key, "0.jpg", picture(size=(1000, 500)))
    assert content(researcher.get(f"/pictures/{large.pk}/")) == picture(size=(1000, 500))


def test_a_thumbnail_is_a_small_jpeg(researcher, large):
    answer = researcher.get(f"/pictures/{large.pk}/?size=320")
    assert Picture.open(BytesIO(content(answer))).size == (320, 160)
    assert "private" in answer["Cache-Control"]


def test_a_thumbnail_is_made_once(researcher, large, settings):
    researcher.get(f"/pictures/{large.pk}/?size=160")
    (made,) = (settings.FILE_CACHE / "thumbnails").iterdir()
    before = made.stat().st_mtime_ns
    researcher.get(f"/pictures/{large.pk}/?size=160")
    assert made.stat().st_mtime_ns == before


@pytest.mark.parametrize("size", ["1", "100000", "-320", "big"])
def test_only_our_own_sizes_are_made(researcher, large, size):
    assert researcher.get(f"/pictures/{large.pk}/?size={size}").status_code == 404


@pytest.mark.parametrize("query", ["", "?size=320"])
def test_a_picture_without_a_file_is_not_found(researcher, query, db, settings):
    settings.MEDIA_ROOT.mkdir()  # no file is no name in the storage, which would be the folder itself
    image = make_collection(images=1).images.get()
    assert researcher.get(f"/pictures/{image.pk}/{query}").status_code == 404


def test_a_file_that_is_not_surely_a_picture_is_never_shown_as_a_page(researcher, large):
    large.file = default_storage.save("images/evil.html", ContentFile(b"<script>"))
    large.save()
    answer = researcher.get(f"/pictures/{large.pk}/")
    assert (answer.status_code, b"<script>" in answer.content) == (404, False)


@pytest.mark.parametrize(("form", "kind"), [("PNG", "image/png"), ("AVIF", "image/avif"), ("TIFF", "image/jpeg")])
def test_a_picture_that_browsers_do_not_show_is_sent_as_jpeg(researcher, db, form, kind):
    written = BytesIO()
    Pillow.new("RGB", (20, 10), "navy").save(written, form)
    image = make_collection(images=1).images.get()
    stored = store_picture("zoo", image.key, "photo.jpg", written.getvalue())
    type(image).objects.update(file=stored.file, sha256=stored.sha256)
    answer = researcher.get(f"/pictures/{image.pk}/")
    assert (answer.status_code, answer["Content-Type"]) == (200, kind)
    assert Pillow.open(BytesIO(b"".join(answer.streaming_content))).size == (20, 10)
