"""Embeddings of one side in several .npy files that others made, read by rows."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.text import counted


@dataclass(frozen=True)
class _File:
    """One .npy: the rows ``first`` to ``first + rows`` (exclusive) of a side, at ``offset`` bytes."""

    path: Path
    first: int
    rows: int
    shape: tuple[int, ...]  # of a row
    dtype: np.dtype
    offset: int

    def read(self, start: int, stop: int) -> NDArray:
        """Return some rows, counted from those of the side, as float16 or float32."""
        width = math.prod(self.shape)
        offset = self.offset + (start - self.first) * width * self.dtype.itemsize
        # Read and not mapped: the pages of a map would count as the memory of this process.
        numbers = np.fromfile(self.path, self.dtype, (stop - start) * width, offset=offset)
        kept = np.float16 if self.dtype == np.float16 else np.float32
        with np.errstate(over="ignore"):
            rows = numbers.astype(kept, copy=False).reshape(stop - start, *self.shape)
        if not np.isfinite(rows).all():
            bad = np.flatnonzero(~np.isfinite(rows).reshape(len(rows), -1).all(axis=1))
            raise CounterpartError(
                f"{self.path.name} holds NaN or infinity in row {start - self.first + bad[0] + 1:,} and"
                f" {counted(len(bad) - 1, 'other')}. Correct the file."
            )
        return rows


@dataclass(frozen=True)
class EmbeddingFiles:
    """The embeddings of all items of a side; ``shape`` is that of one item: (D,) or (K, D)."""

    files: tuple[_File, ...]

    @property
    def rows(self) -> int:
        return self.files[-1].first + self.files[-1].rows

    @property
    def shape(self) -> tuple[int, ...]:
        return self.files[0].shape

    def read(self, first: int, rows: int) -> NDArray:
        """Return some rows, (rows, D) or (rows, K, D). Raises CounterpartError for NaN and infinity."""
        stop = first + rows
        spans = ((file, max(first, file.first), min(stop, file.first + file.rows)) for file in self.files)
        return np.concatenate([file.read(begin, end) for file, begin, end in spans if begin < end])


def open_embedding_files(folder: Path, side: str, size: int) -> EmbeddingFiles:
    """Open ``side``-*.npy, in the order of their names.

    Raises CounterpartError unless they are real numbers of one shape an item, with ``size`` rows in all.
    """
    files = tuple(_opened(sorted(folder.glob(f"{side}-*.npy"))))
    if not files:
        raise CounterpartError(f"{folder} has no files {side}-*.npy. Pass the folder with the embeddings.")
    arrays = EmbeddingFiles(files)
    if other := [file for file in files if file.shape != arrays.shape]:
        raise CounterpartError(
            f"{other[0].path.name} has embeddings of shape {other[0].shape} and {files[0].path.name} of {arrays.shape};"
            " they must agree."
        )
    if arrays.rows != size:
        raise CounterpartError(f"{folder} has {arrays.rows:,} embeddings of {side}, and the gallery {size:,} {side}.")
    return arrays


def _opened(paths: list[Path]) -> Iterator[_File]:
    first = 0
    for path in paths:
        try:
            file = _header(path, first)
        except (OSError, ValueError, EOFError) as error:
            raise CounterpartError(f"{path.name} cannot be read as an .npy of embeddings: {error}.") from error
        yield file
        first += file.rows


def _header(path: Path, first: int) -> _File:
    with path.open("rb") as file:
        old = np.lib.format.read_magic(file) == (1, 0)
        read = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = read(file)
        offset = file.tell()
    if dtype.kind not in "iuf" or len(shape) not in (2, 3) or by_columns or not all(shape[1:]):
        raise ValueError(f"it holds {dtype} of shape {shape}, and not numbers of shape (n, D) or (n, K, D) row by row")
    claimed = math.prod(shape) * dtype.itemsize
    there = path.stat().st_size - offset
    if claimed != there:
        raise ValueError(f"it claims {claimed:,} bytes and has {there:,}")
    return _File(path, first, shape[0], shape[1:], dtype, offset)
