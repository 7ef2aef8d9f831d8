"""Pictures look as in a browser, and malformed metadata is ignored."""

import base64

import numpy as np
import pytest
from PIL import Image as Pillow

from corpus.models import Image
from corpus.pictures.looks import folder_looks
from corpus.pictures.stored_pictures import open_picture, shown, store_picture
from corpus.pictures.thumbnails import thumbnail
from tests.corpus.pictures.made_pictures import PICTURES, chunk, encoded, png
from tests.factories import make_collection

IN_A_CANVAS = """async (address) => {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.fillStyle = "white";
  canvas.fillRect(0, 0, image.width, image.height);
  canvas.drawImage(image, 0, 0);
  return [...canvas.getImageData(3, 3, 1, 1).data].slice(0, 3);
}"""


def differs(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return int(np.abs(np.subtract(one, other)).max())


@pytest.mark.parametrize("name", PICTURES)
def test_bit_depth_profile_and_transparency_are_shown_as_in_a_browser(name):
    content, expected = PICTURES[name]
    opened = shown(content)
    assert opened.mode == "RGB"
    assert differs(opened.getpixel((3, 3)), expected) <= 2


@pytest.mark.browser
def test_chromium_shows_the_same(page):
    page.goto("about:blank")
    drawn = {
        name: page.evaluate(IN_A_CANVAS, f"data:image/png;base64,{base64.b64encode(content).decode()}")
        for name, (content, _) in PICTURES.items()
    }
    assert {name: colour for name, colour in drawn.items() if differs(colour, PICTURES[name][1]) > 3} == {}


def test_each_level_of_16_bits_is_that_of_8():
    ramp = np.arange(256, dtype=np.uint16).reshape(16, 16) * 257
    assert np.array_equal(np.asarray(shown(encoded(Pillow.fromarray(ramp))))[:, :, 0], ramp // 257)


@pytest.mark.parametrize(
    "exif", [b"", b"II", b"not a TIFF file", b"II*\0\xff\xff\xff\xff", b"MM\0*\0\0\0\x08\0\x01\x01\x12"]
)
def test_malformed_exif_is_ignored(db, exif):
    content = png(8, 0, 100, extra=chunk(b"eXIf", exif))
    stored = store_picture("zoo", "1", "photo.png", content)
    image = Image(key="1", file=stored.file, sha256=stored.sha256)
    assert (stored.width, stored.height) == open_picture(image).size == (8, 8)


@pytest.mark.parametrize(("orientation", "corner"), [*enumerate([(0, 0), (1, 0), (1, 1), (0, 1)] * 2, 1)])
def test_each_orientation_brings_the_marked_corner_to_its_place(orientation, corner):
    drawn = Pillow.new("L", (2, 2), 255)
    drawn.putpixel((0, 0), 0)
    exif = Pillow.Exif()
    exif[0x0112] = orientation
    assert shown(encoded(drawn, exif=exif)).getpixel(corner) == (0, 0, 0)


def test_workers_and_near_duplicates_see_what_annotators_see(db, tmp_path):
    content, expected = PICTURES["16 bits of grey"]
    image = make_collection(images=1).images.get()
    stored = store_picture("zoo", "0", "0.png", content)
    image.file, image.sha256 = stored.file, stored.sha256
    assert differs(Pillow.open(thumbnail(image, 160)).convert("RGB").getpixel((3, 3)), expected) <= 2
    half = Pillow.fromarray(np.pad(np.full((32, 16), 20_000, np.uint16), ((0, 0), (0, 16)), constant_values=60_000))
    folder = tmp_path / "twins"
    folder.mkdir()
    (folder / "16.png").write_bytes(encoded(half))
    (folder / "8.png").write_bytes(encoded(Pillow.fromarray((np.asarray(half) // 257).astype(np.uint8))))
    assert len(set(folder_looks(folder).values())) == 1
