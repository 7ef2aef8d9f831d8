"""Rows in a temporary file: a process holds only those that it reads."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

IN_MEMORY = 1 << 20  # bytes from which on the rows are in a file


class SpooledRows:
    """Rows of one type and shape: in memory while they are few, then in a file that goes with the object."""

    def __init__(self, dtype: DTypeLike, *, shape: tuple[int, ...] = ()) -> None:
        self._dtype = np.dtype(dtype)
        self._shape = shape
        self._bytes = self._dtype.itemsize * int(np.prod(shape, dtype=int))
        self._count = 0
        self._file: Any = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  closed with the object
        weakref.finalize(self, self._file.close)

    @classmethod
    def of(cls, rows: NDArray) -> "SpooledRows":
        kept = cls(rows.dtype, shape=rows.shape[1:])
        kept.append(rows)
        return kept

    @classmethod
    def at(cls, path: Path, dtype: DTypeLike, *, shape: tuple[int, ...] = ()) -> "SpooledRows":
        """Return rows that were saved, to be read only."""
        kept = cls(dtype, shape=shape)
        kept._file = path.open("rb")
        weakref.finalize(kept, kept._file.close)
        kept._count = path.stat().st_size // kept._bytes
        return kept

    def save(self, path: Path) -> None:
        """Write the rows to a file that remains."""
        self._file.seek(0)
        with replaced(path) as file:
            shutil.copyfileobj(self._file, file, 1 << 24)

    def mapped(self) -> NDArray:
        """Return the rows without reading them: the file, mapped into memory, to be read only."""
        if not len(self):
            return self.read()
        self._file.flush()
        return np.memmap(self._file, self._dtype, "r", shape=(self._count, *self._shape))

    def __len__(self) -> int:
        return self._count

    def append(self, rows: NDArray) -> None:
        self.write(self._count, rows)

    def write(self, first: int, rows: NDArray) -> None:
        """Replace the rows from number ``first`` on by ``rows``, or add these where there are none."""
        self._file.seek(first * self._bytes)
        self._file.write(np.ascontiguousarray(rows, self._dtype).reshape(-1).view(np.uint8).data)
        self._count = max(self._count, first + len(rows))

    def read(self, first: int = 0, last: int | None = None) -> NDArray:
        """Return a copy of the rows from number ``first`` to ``last`` (exclusive; None: all)."""
        rows = np.empty((max((self._count if last is None else last) - first, 0), *self._shape), self._dtype)
        self._file.seek(first * self._bytes)
        self._file.readinto(rows.reshape(-1).view(np.uint8).data)
        return rows


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes the place of another, or appears, once all of it is on the disk."""
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
