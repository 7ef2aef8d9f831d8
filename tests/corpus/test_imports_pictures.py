"""import_collection --images: pictures come in with the captions or later, all or none."""

import os
from time import time

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from core.errors import CounterpartError
from core.files.stored_files import WholeFileStorage
from corpus.imports import import_collection, import_pictures
from corpus.models import Collection, Image
from corpus.pictures.stored_pictures import open_picture
from tests.corpus.files import jsonl, line, picture_folder
from tests.factories import picture


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
    assert str(import_pictures(Collection.objects.get(), folder)) == "zoo: 2 pictures stored."
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
