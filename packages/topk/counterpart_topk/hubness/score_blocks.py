"""A matrix of scores that need not be in memory: its shape, any block of it on demand, the best places of its rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isqrt
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterpart_topk.progress import Progress, silent

MEMORY = 512 * 2**20
# Peak memory for a score of a tile: float64, with temporaries and transposes.
BYTES_PER_SCORE = 40

Scores = NDArray[np.floating]


@runtime_checkable
class Blocks(Protocol):
    """Scores of N queries (rows) for M items (columns).

    The same two slices must always return the same numbers: algorithms with several passes read the same tiles each
    time. Expensive scores are best written to a memory map first (``Matrix``).
    """

    @property
    def shape(self) -> tuple[int, int]:
        """N and M."""

    def block(self, rows: slice, columns: slice) -> Scores:
        """Return the scores at two slices (with a start and a stop)."""


class Matrix:
    """Scores in an array (N, M), which may be a memory map. Raises ValueError for another shape or dtype."""

    def __init__(self, scores: ArrayLike) -> None:
        self._scores = scores if isinstance(scores, np.ndarray) else np.asarray(scores)
        if self._scores.ndim != 2 or 0 in self._scores.shape or self._scores.dtype.kind not in "biuf":
            raise ValueError(
                f"A similarity must be real numbers (N, M) with N, M >= 1, not {self._scores.dtype}"
                f" of shape {self._scores.shape}."
            )
        self.shape: tuple[int, int] = self._scores.shape

    def block(self, rows: slice, columns: slice) -> Scores:
        part = self._scores[rows, columns]
        return part if part.dtype in (np.float32, np.float64) else part.astype(np.float64)


class Products:
    """Inner products of embeddings (N, D) and (M, D), computed in float64 and rounded to float32.

    The rounding removes differences that depend on the tiles of a product, so that equal pairs have equal scores.
    Raises ValueError for embeddings that do not fit together.
    """

    def __init__(self, queries: ArrayLike, items: ArrayLike) -> None:
        self._queries = np.asarray(queries)
        self._items = np.asarray(items)
        sides = self._queries.shape, self._items.shape
        if any(len(side) != 2 or 0 in side for side in sides) or sides[0][1] != sides[1][1]:
            raise ValueError(f"Embeddings must be (N, D) and (M, D), not {sides[0]} and {sides[1]}.")
        self.shape = sides[0][0], sides[1][0]

    def block(self, rows: slice, columns: slice) -> Scores:
        product = self._queries[rows].astype(np.float64) @ self._items[columns].astype(np.float64).T
        return product.astype(np.float32)


@dataclass(frozen=True)
class Computed:
    """Scores that a function of two slices computes."""

    shape: tuple[int, int]
    score: Callable[[slice, slice], Scores]

    def block(self, rows: slice, columns: slice) -> Scores:
        return self.score(rows, columns)


@dataclass(frozen=True)
class Transposed:
    """The same scores from the other side: columns are the queries."""

    of: Blocks

    @property
    def shape(self) -> tuple[int, int]:
        n, m = self.of.shape
        return m, n

    def block(self, rows: slice, columns: slice) -> Scores:
        return self.of.block(columns, rows).T


def tiles(blocks: Blocks, memory: int) -> Iterator[tuple[slice, slice]]:
    """Cut the matrix into tiles that fit in ``memory`` bytes: strips of rows from the top, each from the left.

    The same shape and memory give the same tiles.
    """
    n, m = blocks.shape
    height, width = tile_shape(blocks.shape, memory)
    for rows in slices(n, height):
        for columns in slices(m, width):
            yield rows, columns


def tile_shape(shape: tuple[int, int], memory: int) -> tuple[int, int]:
    """Return the height and width of the tiles: as square as the matrix allows."""
    entries = max(1, memory // BYTES_PER_SCORE)
    height = min(shape[0], max(1, isqrt(entries)))
    width = min(shape[1], max(1, entries // height))
    return min(shape[0], max(height, entries // width)), width


def slices(n: int, step: int) -> list[slice]:
    """Cut 0..n into slices of at most ``step``."""
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def read(blocks: Blocks, rows: slice, columns: slice) -> Scores:
    """Return one block. Raises ValueError for NaN, or a shape other than that of the slices."""
    block = blocks.block(rows, columns)
    wanted = rows.stop - rows.start, columns.stop - columns.start
    if block.shape != wanted:
        raise ValueError(f"A block of scores has shape {block.shape} instead of {wanted}.")
    bad = np.isnan(block).any(1)
    if bad.any():
        raise ValueError(f"{int(bad.sum())} rows of scores hold NaN; the first is row {rows.start + bad.argmax()}.")
    return block


def whole(blocks: Blocks) -> NDArray[np.float64]:
    """Return all scores as one array (N, M)."""
    return blocks.block(slice(0, blocks.shape[0]), slice(0, blocks.shape[1])).astype(np.float64, copy=False)


def in_memory(blocks: Blocks, memory: int) -> Blocks:
    """Return the same scores, computed once where all of them fit into ``memory`` bytes."""
    return Matrix(whole(blocks)) if 8 * blocks.shape[0] * blocks.shape[1] <= memory else blocks


BYTES_PER_PLACE = 16


class Best:
    """The ``depth`` best places of each query among all offered ones, by falling score, then by rising item.

    ``after``, scores and items (Q,): only places after these in that order are kept.
    """

    def __init__(self, n_queries: int, depth: int, after: tuple[NDArray, NDArray] | None = None) -> None:
        self._items = np.full((n_queries, depth), -1, dtype=np.int64)
        self._scores = np.full((n_queries, depth), -np.inf)
        self._sizes = np.zeros(n_queries, dtype=np.int64)
        self._after = after or (np.full(n_queries, np.inf), np.full(n_queries, -1, dtype=np.int64))

    def offer(self, block: Scores, queries: slice, items: slice) -> None:
        """Add a block whose rows are ``queries`` and whose columns are ``items``."""
        rows = np.arange(len(block))
        n_items = items.stop - items.start
        self.offer_some(block, rows, queries.start + rows, items.start, np.ones(n_items, dtype=np.bool_))

    def offer_some(
        self, block: Scores, rows: NDArray, queries: NDArray, first: int, is_open: NDArray[np.bool_]
    ) -> None:
        """Add the given ``rows`` of a block as scores of ``queries``; its columns are items from ``first`` on.

        Items (columns) that are not open are ignored.
        """
        from counterpart_topk.hubness.heaps import offer

        heaps = self._items, self._scores, self._sizes
        offer(np.ascontiguousarray(block), rows, queries, first, is_open, *self._after, *heaps)

    def lists(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return items and scores (Q, depth), best first; shorter lists end in -1 and -inf. Called once."""
        from counterpart_topk.hubness.heaps import settle

        settle(self._items, self._scores, self._sizes)
        return self._items, self._scores


def best_both_ways(
    blocks: Blocks, k: int, *, memory: int = MEMORY, step: str = "ranking", progress: Progress = silent
) -> tuple[Best, Best]:
    """Return the ``k`` best columns of every row, and the ``k`` best rows of every column; each tile is read once."""
    n, m = blocks.shape
    by_row = Best(n, k)
    by_column = Best(m, k)
    for rows, columns in tiles(blocks, memory):
        block = read(blocks, rows, columns)
        by_row.offer(block, rows, columns)
        by_column.offer(block.T, columns, rows)
        progress(step, rows.stop, n)
    return by_row, by_column


def best_places(
    blocks: Blocks,
    depth: int,
    *,
    rows: NDArray[np.int64] | None = None,
    is_open: NDArray[np.bool_] | None = None,
    after: tuple[NDArray, NDArray] | None = None,
    memory: int = MEMORY,
    step: str = "ranking",
    progress: Progress = silent,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the best items of some queries, and their scores: both (len(rows), depth).

    Args:
        rows: the queries, rising; None: all.
        is_open: (M,) which items may be found; None: all.
        after: for each of the queries a score and an item after which its list begins.
        memory: bytes for tiles; lists take another 16 bytes a place.
    """
    n, m = blocks.shape
    rows = np.arange(n) if rows is None else rows
    is_open = np.ones(m, dtype=np.bool_) if is_open is None else is_open
    best = Best(len(rows), depth, after)
    height, width = tile_shape(blocks.shape, memory)
    for strip in slices(n, height):
        queries = np.arange(*np.searchsorted(rows, (strip.start, strip.stop)))
        for columns in slices(m, width):
            if len(queries) and is_open[columns].any():
                block = read(blocks, strip, columns)
                best.offer_some(block, rows[queries] - strip.start, queries, columns.start, is_open[columns])
        progress(step, strip.stop, n)
    return best.lists()
