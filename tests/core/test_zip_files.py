"""Zip files of others: unpacked whole, or refused in one line without a file outside the folder."""

import os
import re
from functools import partial
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, ZipFile, ZipInfo

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
        reason = refusal(archive, tmp_path)
        assert "50 folders above it: x/x/" in reason
        assert len(reason) < 400
    assert not (tmp_path / "out").exists()


def test_a_zip_bomb_is_refused_before_a_byte_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(zip_files, "SMALL", 1024)
    archive = packed(tmp_path / "x.zip", {"a.jpg": bytes(10**6)})
    assert "more than 100 times as large" in refusal(archive, tmp_path)
    assert list((tmp_path / "out").iterdir()) == []


def test_more_bytes_than_allowed_or_free_are_refused(tmp_path, monkeypatch):
    archive = packed(tmp_path / "x.zip", {"a.jpg": b"twelve bytes"})
    monkeypatch.setattr(zip_files, "LARGEST_UNPACKED", 11)
    assert "12 bytes unpacked" in refusal(archive, tmp_path)
    monkeypatch.setattr(zip_files, "LARGEST_UNPACKED", 12)
    monkeypatch.setattr(zip_files.shutil, "disk_usage", lambda _: Free())
    assert "and 1 are free" in refusal(archive, tmp_path / "other")


class Free:
    free = 1


def altered(path: Path, files: dict[str, bytes], old: bytes, new: bytes, *, method: int = ZIP_STORED) -> Path:
    """A zip file of which some bytes are replaced."""
    with ZipFile(path, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    path.write_bytes(path.read_bytes().replace(old, new))
    return path


def link(path: Path) -> Path:
    info = ZipInfo("a.jpg")
    info.external_attr = 0o120777 << 16
    with ZipFile(path, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    return path


def damaged_lzma(path: Path) -> Path:
    with ZipFile(path, "w", ZIP_LZMA) as archive:
        archive.writestr("a.jpg", bytes(range(256)) * 40)
    content = bytearray(path.read_bytes())
    content[60:90] = bytes(byte ^ 0x5A for byte in content[60:90])
    path.write_bytes(content)
    return path


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


LESS = ((5000).to_bytes(4, "little"), (10).to_bytes(4, "little"))  # the size that a member announces
REFUSED = {
    "a link": (link, "a link or a device"),
    "other kinds": (partial(packed, files={"run.exe": b"x", "page.html": b"x"}), "2 files .*: run.exe, page.html"),
    "no files": (partial(packed, files={".hidden": b""}), "no files"),
    "a repeated name": (partial(altered, files={"a.jpg": b"1", "b.jpg": b"2"}, old=b"b.jpg", new=b"a.jpg"), "repeated"),
    "a damaged member": (partial(altered, files={"a.jpg": b"content"}, old=b"content", new=b"damaged"), "cannot"),
    "a short announcement": (partial(altered, files={"a.jpg": bytes(5000)}, old=LESS[0], new=LESS[1]), "cannot"),
    "damaged LZMA": (damaged_lzma, "cannot"),
    "a file where another needs a folder": (partial(packed, files={"a.jpg": b"1", "a.jpg/b.jpg": b"2"}), "cannot"),
    "an empty file": (partial(written, content=b""), "cannot be unpacked"),
    "another file": (partial(written, content=b"text"), "cannot be unpacked"),
    "an incomplete file": (partial(written, content=b"PK\x03\x04cut"), "cannot be unpacked"),
}


@pytest.mark.parametrize(("make", "reason"), REFUSED.values(), ids=REFUSED)
def test_an_unusable_zip_file_is_refused(tmp_path, make, reason):
    assert re.search(reason, refusal(make(tmp_path / "x.zip"), tmp_path))
