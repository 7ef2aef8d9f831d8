"""Stored files: whole or not there, whatever happens while they are written."""

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from core.files import write_file


class Breaking(ContentFile):
    """Content whose second part cannot be written, as on a full disk."""

    def chunks(self, chunk_size=None):
        yield b"half"
        raise OSError("No space left on device")


def test_a_write_that_fails_leaves_the_old_file_as_it_was(tmp_path):
    write_file("versions/v1/pairs.csv", b"old")
    with pytest.raises(OSError, match="No space"):
        default_storage.save("versions/v1/pairs.csv", Breaking(b""))
    assert [path.name for path in (tmp_path / "media/versions/v1").iterdir()] == ["pairs.csv"]
    assert default_storage.open("versions/v1/pairs.csv").read() == b"old"


def test_a_file_is_replaced_under_its_own_name(tmp_path):
    paths = [write_file("a/b.txt", content).path for content in (b"old", b"new")]
    assert paths == ["a/b.txt", "a/b.txt"]
    assert default_storage.open("a/b.txt").read() == b"new"


def test_other_users_cannot_read_stored_files(tmp_path):
    write_file("a/b.txt", b"x")
    kept = [(tmp_path / "media" / name).stat().st_mode & 0o777 for name in ("a", "a/b.txt")]
    assert kept == [0o700, 0o600]
