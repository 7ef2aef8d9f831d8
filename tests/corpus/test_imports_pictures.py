"""import_collection --images: pictures come in with the captions or later, all or none."""

import os
from time import time

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from PIL import Image as Pillow

from core.errors import CounterpartError
from core.files.stored_files import WholeFileStorage
from corpus.imports import import_collection, import_pictures
from corpus.models import Collection, Image
from corpus.pictures.stored_pictures import open_picture, store_picture
from tests.corpus.files import jsonl, line, picture_folder
from tests.corpus.pictures.made_pictures import encoded
from tests.factories import make_collection, picture


@pytest.fixture
def path(tmp_path):
    return jsonl(tmp_path / "captions.jsonl", line(1, 10), line(2, 11), line(3, 11))


@pytest.fixture
def folder(tmp_path):
    return picture_folder(tmp_path / "pictures", "10.jpg", "11.jpg")


def imported(path, folder, **more):
    return import_collection("zoo", format="jsonl", path=path, images=folder, **more)


def stored_files() -> list[str]:
    return sorted(default_storage.listdir("images/zoo")[1]) if default_storage.exists("images/zoo") else []


def test_pictures_are_stored_with_size_and_checksum(db, path, folder):
    assert imported(path, folder).pictures_added == 2
    image = Image.objects.get(key="11")
    assert default_storage.open(image.file).read() == (folder / "11.jpg").read_bytes()
    assert (image.width, image.height, len(image.sha256)) == (21, 10, 64)


def test_pictures_may_come_later_without_the_captions_from_one_folder_deeper(db, path, tmp_path):
    imported(path, None)
    folder = picture_folder(tmp_path / "coco", "val2014/10.jpg", "train2014/11.jpg")
    assert str(import_pictures(Collection.objects.get(), folder)) == "zoo: 2 pictures stored; undo zoo-2 takes it back."
    assert not Image.objects.without_file().exists()


def test_files_that_are_named_like_no_picture_are_refused(db, path, tmp_path):
    imported(path, None)
    folder = picture_folder(tmp_path / "others", "1.jpg", "2.jpg")
    with pytest.raises(CounterpartError, match="No file has the name"):
        import_pictures(Collection.objects.get(), folder, skip_missing=True)


def test_importing_pictures_twice_changes_nothing(db, path, folder):
    imported(path, folder)
    before = list(Image.objects.values())
    assert not imported(path, folder).changed
    (folder / "10.jpg").unlink()  # what was stored before is not missing
    assert not imported(path, folder).changed
    assert list(Image.objects.values()) == before


def test_missing_pictures_are_named_and_nothing_is_written(db, path, tmp_path):
    with pytest.raises(CounterpartError, match=r"^1 picture .* \(image 11\)"):
        imported(path, picture_folder(tmp_path / "some", "10.jpg"))
    assert not Collection.objects.exists()
    assert stored_files() == []


def test_broken_pictures_are_all_named_and_nothing_is_left(db, path, folder):
    (folder / "10.jpg").write_bytes(b"no picture")
    (folder / "11.jpg").write_bytes(picture(size=(300, 300))[:-100])
    with pytest.raises(CounterpartError, match=r"^2 files .*10.jpg.*11.jpg"):
        imported(path, folder)
    assert not Collection.objects.exists()
    assert stored_files() == []


def test_a_failure_keeps_the_pictures_that_others_name(db, path, folder):
    imported(path, folder)
    before = stored_files()
    more = jsonl(path.with_name("more"), line(1, 10), line(4, 12), line(5, 13))
    picture_folder(folder, "12.jpg", "13.jpg")  # 12 equals the stored 10
    (folder / "13.jpg").write_bytes(b"no picture")
    with pytest.raises(CounterpartError, match="13.jpg"):
        imported(more, folder, append=True)
    assert stored_files() == before


def test_another_picture_under_the_same_id_is_refused(db, path, folder):
    imported(path, folder)
    before = stored_files()
    (folder / "10.jpg").write_bytes(picture("red"))
    with pytest.raises(CounterpartError, match=r"^1 image already .*: 10\."):
        imported(path, folder)
    assert stored_files() == before


def test_a_picture_lost_from_the_storage_is_put_back(db, path, folder):
    imported(path, folder)
    file = Image.objects.get(key="10").file
    default_storage.delete(file)
    imported(path, folder)
    assert default_storage.exists(file)


@pytest.mark.parametrize("name", ["../secret.jpg", "deep/../../secret.jpg", "{outside}/secret.jpg", "link.jpg"])
def test_a_file_name_that_leads_out_of_the_folder_is_refused(db, tmp_path, folder, name):
    outside = picture_folder(tmp_path / "outside", "secret.jpg")
    (folder / "link.jpg").symlink_to(outside / "secret.jpg")
    (folder / "deep").mkdir()
    path = jsonl(tmp_path / "c.jsonl", line(1, 10, file_name=name.format(outside=outside)))
    with pytest.raises(CounterpartError, match=r"^1 file name .*(secret|link)"):
        imported(path, folder, skip_missing=True)
    assert not Collection.objects.exists()


@pytest.mark.shared
def test_real_photos_come_in_with_their_descriptions(db, shared):
    summary = import_collection("photos", format="folder", path=shared / "data" / "photos")
    assert (summary.captions_added, summary.pictures_added, summary.images_without_captions) == (28, 32, 4)
    for image in Image.objects.all():
        assert open_picture(image).size == (image.width, image.height)


def test_a_disk_that_is_full_leaves_no_picture(db, path, folder, monkeypatch):
    whole, written = WholeFileStorage._save, []

    def full(self, name, content):
        written.append(name)
        if len(written) == 2:
            raise OSError("No space left on device")
        return whole(self, name, content)

    monkeypatch.setattr(WholeFileStorage, "_save", full)
    with pytest.raises(OSError, match="No space left"):
        imported(path, folder)
    assert len(written) == 2
    assert stored_files() == []
    assert not Collection.objects.exists()


def test_pictures_that_a_killed_import_left_go_with_the_next_one(db, path, folder):
    for name, age in (("left.jpg", 25 * 3600), ("fresh.jpg", 60)):
        file = default_storage.path(default_storage.save(f"images/zoo/{name}", ContentFile(picture())))
        os.utime(file, (time() - age, time() - age))
    imported(path, folder)
    names = [name for name in stored_files() if len(name) < 15]
    assert names == ["fresh.jpg"]  # another import may be at work on it
    assert Image.objects.exclude(file="").count() == 2


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
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"<html>no picture</html>", "it is a web page; download"),
        (picture(size=(600, 400))[:-200], "truncated"),
        (encoded(Pillow.new("RGB", (5, 4)), "EPS"), "PostScript are not read; convert it to PNG"),
        (encoded(Pillow.effect_noise((64, 64), 90), "PNG")[:2000], "truncated"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "SVG is not read"),
        (b"\0\0\0\x18ftypheic", "HEIC is not read; convert it to JPEG"),
        (b"text", "not a picture of a known format"),
    ],
)
def test_what_is_not_a_whole_picture_is_refused_and_not_kept(content, reason):
    with pytest.raises(CounterpartError, match=rf"^cat.jpg \(image 7\).*{reason}"):
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
