"""Archives: whole or refused, and nothing left of those that failed."""

import io
import tarfile

import pytest

from core.errors import CounterpartError
from core.files.archives import checked_manifest, extract, new_archive


@pytest.fixture
def archive(tmp_path):
    """An archive of two files."""
    target = tmp_path / "whole.tar"
    with new_archive(target) as writer:
        for name in ("one", "folder/two"):
            path = writer.scratch / "file"
            path.write_bytes(name.encode() * 3_000)
            writer.add(name, path)
        writer.describe({"engine": "none"})
    return target


def test_other_users_cannot_read_it(archive):
    assert archive.stat().st_mode & 0o777 == 0o600


def test_a_changed_byte_is_found_and_its_file_named(archive):
    content = bytearray(archive.read_bytes())
    content[content.index(b"folder/twofolder") + 5_000] ^= 1
    archive.write_bytes(content)
    with pytest.raises(CounterpartError, match=r"1 \(folder/two\)"):
        checked_manifest(archive)


@pytest.mark.parametrize("share", [0, 0.001, 0.01, 0.3, 0.6, 0.9])
def test_an_incomplete_archive_is_refused_in_one_line(archive, share):
    content = archive.read_bytes()
    archive.write_bytes(content[: int(len(content.rstrip(b"\0")) * share)])
    with pytest.raises(CounterpartError, match="incomplete") as refused:
        checked_manifest(archive)
    assert "\n" not in str(refused.value)


def test_another_archive_with_a_manifest_is_refused(tmp_path):
    target = tmp_path / "other.tar"
    with tarfile.open(target, "w") as tar:
        member = tarfile.TarInfo("manifest.json")
        member.size = 2
        tar.addfile(member, io.BytesIO(b"{}"))
    with pytest.raises(CounterpartError, match="not a backup"):
        checked_manifest(target)


@pytest.mark.parametrize("name", ["../outside", "/etc/outside", "a/../../outside"])
def test_no_file_gets_out_of_the_folder(tmp_path, name):
    target = tmp_path / "evil.tar"
    with tarfile.open(target, "w") as tar:
        member = tarfile.TarInfo(name)
        member.size = 1
        tar.addfile(member, io.BytesIO(b"x"))
    for read in (checked_manifest, lambda path: extract(path, tmp_path / "out")):
        with pytest.raises(CounterpartError, match="not part of a backup"):
            read(target)


def test_an_existing_file_is_not_replaced(archive):
    before = archive.read_bytes()
    with pytest.raises(CounterpartError, match="exists already"), new_archive(archive):
        pass
    assert archive.read_bytes() == before


@pytest.mark.parametrize("end", [NotADirectoryError, KeyboardInterrupt])
def test_one_that_failed_leaves_nothing_behind(tmp_path, end):
    folder = tmp_path / "backups"
    folder.mkdir()

    def fail() -> None:
        with new_archive(folder / "half.tar") as writer:
            (writer.scratch / "file").write_text("x")
            writer.add("one", writer.scratch / "file")
            raise end

    with pytest.raises((OSError, KeyboardInterrupt)):
        fail()
    assert list(folder.iterdir()) == []
