"""Zip files of others: unpacked whole, or refused in one line without a file outside the folder."""

import os
import zlib
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_LZMA, ZipFile, ZipInfo

import pytest

from core.errors import CounterpartError
from core.files import zip_files
from core.files.zip_files import unpack


def packed(path: Path, files: dict[str, bytes]) -> Path:
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def refusal(archive: Path, folder: Path) -> str:
    with pytest.raises(CounterpartError) as refused:
        unpack(archive, folder / "out", suffixes=(".jpg",))
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_files_are_unpacked_with_their_folders_and_without_what_systems_add(tmp_path):
    files = {"a.jpg": b"a", "sub/b.JPG": b"b", "__MACOSX/a.jpg": b"", ".DS_Store": b"", "sub/Thumbs.db": b""}
    found = unpack(packed(tmp_path / "x.zip", files), tmp_path / "out", suffixes=(".jpg",))
    assert sorted(str(file.relative_to(found)) for file in found.rglob("*") if file.is_file()) == ["a.jpg", "sub/b.JPG"]


def test_the_only_folder_at_the_top_is_the_folder_of_the_files(tmp_path):
    found = unpack(packed(tmp_path / "x.zip", {"val/a.jpg": b"a"}), tmp_path / "out", suffixes=(".jpg",))
    assert (found / "a.jpg").read_bytes() == b"a"


@pytest.mark.parametrize("name", ["../up.jpg", "/up.jpg", "sub/../../up.jpg", "..\\up.jpg", "c:/up.jpg"])
def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path, name):
    archive = packed(tmp_path / "x.zip", {"a.jpg": b"a", name: b"out"})
    assert refusal(archive, tmp_path).startswith("In x.zip, 1 file has a name that leads out of the folder")
    assert sorted(os.listdir(tmp_path)) == ["x.zip"]


def test_a_file_too_many_folders_deep_is_refused_before_anything_is_unpacked(tmp_path):
    allowed = packed(tmp_path / "x.zip", {"x/" * zip_files.DEEPEST + "a.jpg": b"a"})
    found = unpack(allowed, tmp_path / "in", suffixes=(".jpg",))
    assert len(list(found.rglob("a.jpg"))) == 1
    for depth in (zip_files.DEEPEST + 1, 1500):
        archive = packed(tmp_path / "y.zip", {"x/" * depth + "a.jpg": b"a"})
        told = refusal(archive, tmp_path)
        assert told.startswith("In y.zip, 1 file has more than 50 folders above it: x/x/")
        assert len(told) < 400
    assert not (tmp_path / "out").exists()


def test_links_are_refused(tmp_path):
    link = ZipInfo("a.jpg")
    link.external_attr = 0o120777 << 16
    with ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    assert "a link or a device" in refusal(tmp_path / "x.zip", tmp_path)


def test_other_kinds_of_files_are_refused_with_their_names(tmp_path):
    archive = packed(tmp_path / "x.zip", {"a.jpg": b"a", "run.exe": b"x", "page.html": b"x"})
    assert "2 files have another kind than .jpg: run.exe, page.html" in refusal(archive, tmp_path)


def test_a_zip_bomb_is_refused_before_a_byte_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(zip_files, "SMALL", 1024)
    archive = packed(tmp_path / "x.zip", {"a.jpg": bytes(10**6)})
    assert "more than 100 times as large" in refusal(archive, tmp_path)
    assert list((tmp_path / "out").iterdir()) == []


def test_more_bytes_than_allowed_or_free_are_refused(tmp_path, monkeypatch):
    archive = packed(tmp_path / "x.zip", {"a.jpg": b"twelve bytes"})
    monkeypatch.setattr(zip_files, "LARGEST_UNPACKED", 11)
    assert "would be 12 bytes unpacked, more than 11" in refusal(archive, tmp_path)
    monkeypatch.setattr(zip_files, "LARGEST_UNPACKED", 12)
    monkeypatch.setattr(zip_files.shutil, "disk_usage", lambda _: Free())
    assert "and 1 are free" in refusal(archive, tmp_path / "other")


class Free:
    free = 1


def test_a_member_that_announces_less_than_it_holds_is_refused(tmp_path):
    archive = packed(tmp_path / "x.zip", {"a.jpg": bytes(5000)})
    content = archive.read_bytes()
    archive.write_bytes(content.replace((5000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    assert "cannot be unpacked" in refusal(archive, tmp_path)


def test_a_damaged_lzma_archive_is_told(tmp_path):
    archive = tmp_path / "x.zip"
    with ZipFile(archive, "w", ZIP_LZMA) as file:
        file.writestr("a.jpg", bytes(range(256)) * 40)
    content = bytearray(archive.read_bytes())
    content[60:90] = bytes(one ^ 0x5A for one in content[60:90])
    archive.write_bytes(content)
    assert "cannot be unpacked" in refusal(archive, tmp_path)


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04cut"])
def test_what_is_no_zip_file_is_refused(tmp_path, content):
    (tmp_path / "x.zip").write_bytes(content)
    assert "cannot be unpacked" in refusal(tmp_path / "x.zip", tmp_path)


def test_a_damaged_member_is_refused(tmp_path):
    with ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a.jpg", b"the content")
    whole = (tmp_path / "x.zip").read_bytes()
    (tmp_path / "x.zip").write_bytes(whole.replace(b"the content", b"the damaged"))
    assert zlib.crc32(b"the content") != zlib.crc32(b"the damaged")
    assert "cannot be unpacked" in refusal(tmp_path / "x.zip", tmp_path)


def test_an_empty_zip_file_and_a_name_twice_are_refused(tmp_path):
    assert "contains no files" in refusal(packed(tmp_path / "x.zip", {".hidden": b""}), tmp_path)
    twice = packed(tmp_path / "y.zip", {"a.jpg": b"1", "b.jpg": b"2"})
    twice.write_bytes(twice.read_bytes().replace(b"b.jpg", b"a.jpg"))
    assert "a name that another one has" in refusal(twice, tmp_path)


def test_a_file_where_another_needs_a_folder_is_refused(tmp_path):
    archive = packed(tmp_path / "x.zip", {"a.jpg": b"1", "a.jpg/b.jpg": b"2"})
    assert "cannot be unpacked" in refusal(archive, tmp_path)
