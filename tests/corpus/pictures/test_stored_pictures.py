import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from PIL import Image as Pillow

from core.errors import CounterpartError
from corpus.models import Image
from corpus.pictures.stored_pictures import open_picture, store_picture
from tests.corpus.pictures.made_pictures import encoded
from tests.factories import make_collection, picture


def test_a_picture_is_kept_byte_for_byte_under_its_collection():
    stored = store_picture("zoo", "1", "cat.jpg", picture(size=(64, 48)))
    assert (stored.width, stored.height) == (64, 48)
    assert stored.file.startswith("images/zoo/")
    assert default_storage.open(stored.file).read() == picture(size=(64, 48))


def test_storing_twice_keeps_one_file():
    first, second = (store_picture("zoo", key, f"{key}.jpg", picture()) for key in "12")
    assert first == second
    assert len(default_storage.listdir("images/zoo")[1]) == 1


def test_a_file_that_a_dying_process_left_half_written_is_mended():
    stored = store_picture("zoo", "1", "cat.jpg", picture())
    default_storage.delete(stored.file)
    default_storage.save(stored.file, ContentFile(picture()[:100]))
    assert store_picture("zoo", "1", "cat.jpg", picture()) == stored
    assert default_storage.open(stored.file).read() == picture()


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "GIF", "BMP"])
def test_every_format_of_the_web_is_taken(format):
    assert store_picture("zoo", "1", "cat", encoded(Pillow.new("RGB", (5, 4)), format)).width == 5


def test_a_phones_several_frames_in_a_jpeg_are_taken():
    frames = encoded(Pillow.new("RGB", (5, 4)), "MPO", save_all=True, append_images=[Pillow.new("RGB", (5, 4))])
    assert store_picture("zoo", "1", "cat.jpg", frames).file.endswith(".jpg")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>no picture</html>",
        picture(size=(600, 400))[:-200],
        encoded(Pillow.new("RGB", (5, 4)), "TIFF"),
        encoded(Pillow.effect_noise((64, 64), 90), "PNG")[:2000],
    ],
    ids=["empty", "page", "truncated jpeg", "tiff", "truncated png"],
)
def test_what_is_not_a_whole_picture_is_refused_and_not_kept(content):
    with pytest.raises(CounterpartError, match=r"^cat.jpg \(image 7\)"):
        store_picture("zoo", "7", "cat.jpg", content)
    assert not default_storage.exists("images/zoo")


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_decompression_bomb_is_refused_before_it_is_unpacked():
    bomb = encoded(Pillow.new("1", (12_000, 12_000)), "PNG")
    with pytest.raises(CounterpartError, match="12000 x 12000"):
        store_picture("zoo", "7", "bomb.png", bomb)


def kept(content: bytes) -> Image:
    collection = make_collection(images=1)
    stored = store_picture("zoo", "0", "0.jpg", content)
    collection.images.update(file=stored.file, width=stored.width, height=stored.height, sha256=stored.sha256)
    return collection.images.get()


def test_a_turned_picture_is_measured_and_opened_as_shown(db):
    drawn = Pillow.new("RGB", (40, 20), "blue")
    drawn.paste("red", (0, 0, 20, 20))
    exif = Pillow.Exif()
    exif[0x0112] = 6  # show it turned a quarter clockwise
    image = kept(encoded(drawn, "JPEG", exif=exif, quality=95))
    opened = open_picture(image)
    assert opened.size == (image.width, image.height) == (20, 40)
    red, _green, blue = opened.getpixel((10, 5))
    assert red > 200 > blue


def test_a_file_missing_from_the_storage_is_named(db):
    image = kept(picture())
    default_storage.delete(image.file)
    with pytest.raises(CounterpartError, match="image 0 cannot be read"):
        open_picture(image)
