"""Rankings in NumPy's .npz."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray

from counterpart_metrics import ranking_blocks
from counterpart_metrics.arrays import DIRECTIONS, Mask
from counterpart_metrics.errors import CounterpartError, counted
from counterpart_metrics.ids import Ids
from counterpart_metrics.ranking_blocks import Block, ranked_block


def read_npz(path: Path, name: str, ids: Ids) -> Iterator[Block]:
    with opened_npz(path, name) as arrays:
        held = set(arrays.files)
        directions = [direction for direction in DIRECTIONS if f"{direction}_queries" in held]
        if not directions:
            raise CounterpartError(
                f"{name} holds neither i2t_queries and i2t_items, nor the same of t2i. Write it again."
            )
        for direction in directions:
            yield from _array_blocks(name, direction, ids, arrays, held)


@contextmanager
def opened_npz(path: Path, name: str) -> Iterator[NpzFile]:
    """Open a file of arrays. Raises CounterpartError for an invalid file, or if the body cannot read an array."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            yield arrays
    except (ValueError, TypeError, EOFError, AttributeError, KeyError, BadZipFile) as error:
        # NumPy takes what it cannot read for pickled data, and advises to load it unsafely.
        reason = "it is none, or holds Python objects" if "pickle" in str(error) else error
        raise CounterpartError(f"{name} is not a readable .npz ({reason}). Write it again, without objects.") from error


def read_foreign_arrays(path: Path) -> dict[str, NDArray]:
    """Read an .npz that others made.

    Raises what ``np.load`` does, and ValueError, before any memory is asked for, where an array claims more bytes than
    the file holds for it.
    """
    with ZipFile(path) as archive:
        for member in archive.infolist():
            with archive.open(member) as file:
                first = np.lib.format.read_magic(file) == (1, 0)
                read = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
                shape, _, dtype = read(file)
            if (claimed := math.prod(shape) * dtype.itemsize) > member.file_size:
                raise ValueError(f"{member.filename} claims {claimed:,} bytes and has {member.file_size:,}")
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def _array_blocks(
    name: str, direction: str, ids: Ids, arrays: Mapping[str, NDArray], held: set[str]
) -> Iterator[Block]:
    parts = {part: f"{direction}_{part}" for part in ("queries", "items", "scores")}
    if parts["items"] not in held:
        raise CounterpartError(f"{name} has {parts['queries']} but no {parts['items']}. Write both.")
    queries = arrays[parts["queries"]]
    items = arrays[parts["items"]]
    scores = arrays[parts["scores"]] if parts["scores"] in held else None
    if queries.ndim != 1 or items.ndim != 2 or len(items) != len(queries):
        raise CounterpartError(
            f"{name}: {parts['queries']} must have the shape (Q,) and {parts['items']} (Q, depth), not {queries.shape} "
            f"and {items.shape}."
        )
    if queries.dtype.kind not in "iuU" or items.dtype.kind not in "iuU":
        raise CounterpartError(f"{name}: ids are whole numbers or texts, not {queries.dtype} and {items.dtype}.")
    if scores is not None and (scores.shape != items.shape or scores.dtype.kind not in "iuf"):
        raise CounterpartError(f"{name}: {parts['scores']} must be numbers of shape {items.shape}.")
    rows = max(1, ranking_blocks.SIZE // max(1, items.shape[1]))
    for start in range(0, len(queries), rows):
        some = slice(start, start + rows)
        given = None if scores is None else scores[some].astype(np.float64)
        ended = _ends(name, queries[some], items[some])
        yield ranked_block(name, direction, ids, queries[some], items[some], ended, given)


def _ends(name: str, queries: NDArray, items: NDArray) -> Mask:
    """Return where lists of -1 or empty texts have ended."""
    ended = items == ("" if items.dtype.kind == "U" else -1)
    gaps = (ended[:, :-1] & ~ended[:, 1:]).any(1)
    if gaps.any():
        query = queries[gaps.argmax()]
        going_on = counted(gaps.sum(), "list goes", "lists go")
        raise CounterpartError(f"{name}: {going_on} on after their end, for example that of {query}.")
    return ended
