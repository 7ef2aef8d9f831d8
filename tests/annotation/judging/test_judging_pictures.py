"""The pictures of a HIT as workers get them."""

import re
from datetime import timedelta
from functools import cache
from html import unescape
from io import BytesIO

import pytest
from django.utils import timezone
from PIL import Image as Pillow

from annotation.models import Assignment
from corpus.models import Image
from corpus.pictures.stored_pictures import store_picture
from tests.annotation.answering import address, leased
from tests.factories import make_round

GPS, CAMERA = 0x8825, 0x0110


@cache
def photograph() -> bytes:
    """A photograph of 3000 x 1500 pixels, with the camera and the place in its metadata."""
    photo, content = Pillow.new("RGB", (3000, 1500), "teal"), BytesIO()
    exif = photo.getexif()
    exif[CAMERA], exif.get_ifd(GPS)[1] = "Camera of Ann", "N"
    photo.save(content, "JPEG", exif=exif)
    return content.getvalue()


@pytest.fixture
def photographed(db) -> Assignment:
    """A HIT whose pictures are that photograph."""
    assignment = leased(make_round())
    stored = store_picture("zoo", "1", "1.jpg", photograph())
    Image.objects.update(file=stored.file, sha256=stored.sha256, width=stored.width, height=stored.height)
    return assignment


def shown(stranger, assignment: Assignment, query: str) -> Pillow.Image:
    answer = stranger.get(address("picture", assignment, 1) + query)
    return Pillow.open(BytesIO(b"".join(answer.streaming_content)))


def test_a_worker_gets_a_picture_in_its_size_without_metadata(stranger, photographed):
    for query, across in (("?size=800", 800), ("?size=1600", 1600), ("", 2400), ("?size=9", 2400)):
        picture = shown(stranger, photographed, query)
        assert picture.size == (across, across // 2)
        assert dict(picture.getexif()) == {}


def test_a_picture_is_not_compressed_again(stranger, photographed):
    answer = stranger.get(address("picture", photographed, 1), HTTP_ACCEPT_ENCODING="gzip")
    assert "Content-Encoding" not in answer


def test_a_large_picture_is_offered_in_two_sizes_and_a_small_one_in_one(stranger, photographed):
    page = address("task", photographed)
    assert stranger.get(page).text.count("1600w") == 4
    Image.objects.update(width=640, height=480)
    assert "1600w" not in stranger.get(page).text


# Sealed addresses


def sealed_address(stranger, assignment: Assignment) -> str:
    """The address of the first picture in the page, in the size that every screen loads."""
    page = stranger.get(address("task", assignment)).text
    return unescape(re.search(r'src="([^"]+/1/\?seal=[^"]+size=800)"', page)[1])


def test_a_picture_that_was_sent_before_opens_without_the_database(stranger, photographed, django_assert_num_queries):
    shown_at = sealed_address(stranger, photographed)
    assert stranger.get(shown_at).status_code == 200
    with django_assert_num_queries(0):
        again = stranger.get(shown_at)
    assert Pillow.open(BytesIO(b"".join(again.streaming_content))).size == (800, 400)
    assert re.fullmatch(r"private, max-age=\d{4}, immutable", again["Cache-Control"])


def test_a_seal_reveals_neither_the_picture_nor_its_file(stranger, photographed):
    shown_at = sealed_address(stranger, photographed)
    assert not any(image.sha256[:8] in shown_at for image in Image.objects.all())


def test_a_changed_seal_or_one_of_an_unmade_size_asks_the_database(stranger, photographed):
    shown_at = sealed_address(stranger, photographed)
    stranger.get(shown_at)
    Assignment.objects.update(state="submitted")
    assert stranger.get(shown_at).status_code == 200
    for part, changed in (("seal=", "seal=0"), (r"-([0-9a-f]{8})-", r"-7\1-"), ("size=800", "size=1600")):
        assert stranger.get(re.sub(part, changed, shown_at, count=1)).status_code == 404


def test_a_seal_ends_with_the_longest_lease(stranger, photographed):
    Assignment.objects.update(leased_at=timezone.now() - timedelta(days=2), deadline=timezone.now() - timedelta(days=1))
    shown_at = sealed_address(stranger, photographed)
    assert stranger.get(shown_at).status_code == 200  # The HIT may still be answered.
    Assignment.objects.update(state="submitted")
    assert stranger.get(shown_at).status_code == 404
