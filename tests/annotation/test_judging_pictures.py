"""The pictures of a HIT as workers get them."""

from io import BytesIO

import pytest
from PIL import Image as Pillow

from annotation.models import Assignment
from corpus.models import Image
from corpus.pictures import store_picture
from tests.annotation.answering import address, leased
from tests.factories import make_round

GPS, CAMERA = 0x8825, 0x0110


@pytest.fixture
def photographed(db) -> Assignment:
    """A HIT whose pictures are photographs of 3000 x 1500 pixels, with the camera and the place in their metadata."""
    assignment = leased(make_round())
    photo, content = Pillow.new("RGB", (3000, 1500), "teal"), BytesIO()
    exif = photo.getexif()
    exif[CAMERA], exif.get_ifd(GPS)[1] = "Camera of Ann", "N"
    photo.save(content, "JPEG", exif=exif)
    stored = store_picture("zoo", "1", "1.jpg", content.getvalue())
    Image.objects.update(file=stored.file, sha256=stored.sha256, width=stored.width, height=stored.height)
    return assignment


def shown(stranger, assignment: Assignment, query: str) -> Pillow.Image:
    answer = stranger.get(address("picture", assignment, 1) + query)
    return Pillow.open(BytesIO(b"".join(answer.streaming_content)))


@pytest.mark.parametrize(("query", "across"), [("?size=800", 800), ("?size=1600", 1600), ("", 2400), ("?size=9", 2400)])
def test_a_worker_gets_a_picture_in_its_size_without_metadata(stranger, photographed, query, across):
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
