"""Files: whole or not there, whatever happens while they are written; arrays of ours, and those that others wrote."""

import os
import time
from io import BytesIO
from zipfile import ZipFile

import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from core.errors import CounterpartError
from core.files import stored_files as files
from core.files.stored_files import whole_file, write_arrays, write_file
from counterpart_metrics.array_lists import read_foreign_arrays


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


def test_a_file_is_replaced_under_its_own_name_and_other_users_cannot_read_it(tmp_path):
    assert [write_file("a/b.txt", content).path for content in (b"old", b"new")] == ["a/b.txt"] * 2
    assert default_storage.open("a/b.txt").read() == b"new"
    kept = [(tmp_path / "media" / name).stat().st_mode & 0o777 for name in ("a", "a/b.txt")]
    assert kept == [0o700, 0o600]


def test_a_local_file_appears_when_it_is_whole_and_one_that_fails_leaves_the_old_one(tmp_path):
    with whole_file(tmp_path / "chart.svg") as part:
        part.write_text("new")
        assert not (tmp_path / "chart.svg").exists()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("chart.svg", "new")]

    def fail() -> None:
        with whole_file(tmp_path / "chart.svg") as part:
            part.write_text("half")
            raise OSError("No space left on device")

    with pytest.raises(OSError, match="No space"):
        fail()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("chart.svg", "new")]
    with pytest.raises(CounterpartError, match="not a file"), whole_file(tmp_path):
        pass


def test_an_array_that_claims_more_than_its_file_has_is_refused_before_it_is_read(tmp_path):
    header = BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (32, 10**9)})
    with ZipFile(tmp_path / "huge.npz", "w") as archive:
        archive.writestr("images.npy", header.getvalue() + b"few")
    with pytest.raises(ValueError, match="128,000,000,000 bytes"):
        read_foreign_arrays(tmp_path / "huge.npz")


def test_arrays_of_others_are_read_as_they_are(tmp_path):
    np.savez_compressed(tmp_path / "fine.npz", ids=np.array(["a", "b"]), images=np.eye(2), none=np.empty((0, 3)))
    read = read_foreign_arrays(tmp_path / "fine.npz")
    assert {name: array.tolist() for name, array in read.items()} == {
        "ids": ["a", "b"], "images": [[1, 0], [0, 1]], "none": [],
    }  # fmt: skip


MATRIX = np.arange(60, dtype=np.int64).reshape(20, 3)


@pytest.fixture
def stored():
    return write_arrays("matrices", other=np.ones(2), matrix=MATRIX)


def test_an_array_written_by_rows_has_the_bytes_of_the_whole_array(stored, monkeypatch):
    monkeypatch.setattr(files, "IN_MEMORY", 100)  # and goes through a file
    blocks = (MATRIX[start : start + 7] for start in range(0, 20, 7))
    by_rows = write_arrays("matrices", other=np.ones(2), matrix=files.Rows(MATRIX.shape, np.int64, blocks))
    assert by_rows == stored


def test_the_bytes_are_those_that_numpy_writes_and_all_rows_those_of_the_whole_array(stored, tmp_path):
    np.savez(tmp_path / "matrices.npz", other=np.ones(2), matrix=MATRIX)
    assert files.local_copy(stored).read_bytes() == (tmp_path / "matrices.npz").read_bytes()
    np.testing.assert_array_equal(files.read_rows(stored, "matrix"), files.read_arrays(stored)["matrix"])


@pytest.mark.parametrize("rows", [[], [0], [6, 7, 19], [3, 3]])
def test_some_rows_are_read_block_by_block(stored, monkeypatch, rows):
    monkeypatch.setattr(files, "IN_MEMORY", 7 * 3 * 8)
    read = files.read_rows(stored, "matrix", np.array(rows, dtype=np.int64))
    np.testing.assert_array_equal(read, MATRIX[rows].reshape(-1, 3))


def test_folders_without_new_files_for_long_are_removed(tmp_path):
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    long_ago = time.time() - 15 * 24 * 3600
    os.utime(tmp_path / "old", (long_ago, long_ago))
    assert files.remove_stale(tmp_path) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
    assert files.remove_stale(tmp_path / "nowhere") == 0
