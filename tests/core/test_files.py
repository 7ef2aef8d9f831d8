"""Arrays in files: written whole or block by block to the same bytes, and read in part."""

import os
import time

import numpy as np
import pytest

from core.files import stored_files as files
from core.files.stored_files import Rows, read_arrays, read_rows, write_arrays

MATRIX = np.arange(60, dtype=np.int64).reshape(20, 3)


@pytest.fixture
def stored():
    return write_arrays("matrices", other=np.ones(2), matrix=MATRIX)


def test_an_array_written_by_rows_has_the_bytes_of_the_whole_array(stored, monkeypatch):
    monkeypatch.setattr(files, "IN_MEMORY", 100)  # and goes through a file
    blocks = (MATRIX[start : start + 7] for start in range(0, 20, 7))
    by_rows = write_arrays("matrices", other=np.ones(2), matrix=Rows(MATRIX.shape, np.int64, blocks))
    assert by_rows == stored


def test_the_bytes_are_those_that_numpy_writes(stored, tmp_path):
    np.savez(tmp_path / "matrices.npz", other=np.ones(2), matrix=MATRIX)
    assert files.local_copy(stored).read_bytes() == (tmp_path / "matrices.npz").read_bytes()


@pytest.mark.parametrize("rows", [[], [0], [6, 7, 19], [3, 3]])
def test_some_rows_are_read_block_by_block(stored, monkeypatch, rows):
    monkeypatch.setattr(files, "IN_MEMORY", 7 * 3 * 8)
    read = read_rows(stored, "matrix", np.array(rows, dtype=np.int64))
    np.testing.assert_array_equal(read, MATRIX[rows].reshape(-1, 3))


def test_all_rows_are_those_of_the_whole_array(stored):
    np.testing.assert_array_equal(read_rows(stored, "matrix"), read_arrays(stored)["matrix"])


def test_folders_without_new_files_for_long_are_removed(tmp_path):
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    long_ago = time.time() - 15 * 24 * 3600
    os.utime(tmp_path / "old", (long_ago, long_ago))
    assert files.remove_stale(tmp_path) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
    assert files.remove_stale(tmp_path / "nowhere") == 0
