"""The best items of many queries at once, collected tile by tile in a bounded heap a query."""

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from core.progress import Progress, silent
from mitl.hubness.blocks import MEMORY, Blocks, Scores, read, slices, tile_shape

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
        rows, n_items = np.arange(len(block)), items.stop - items.start
        self.offer_some(block, rows, queries.start + rows, items.start, np.ones(n_items, dtype=np.bool_))

    def offer_some(
        self, block: Scores, rows: NDArray, queries: NDArray, first: int, is_open: NDArray[np.bool_]
    ) -> None:
        """Add the given ``rows`` of a block as scores of ``queries``; its columns are items from ``first`` on.

        Items (columns) that are not open are ignored.
        """
        heaps = self._items, self._scores, self._sizes
        _offer(np.ascontiguousarray(block), rows, queries, first, is_open, *self._after, *heaps)

    def lists(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return items and scores (Q, depth), best first; shorter lists end in -1 and -inf. Called once."""
        _settle(self._items, self._scores, self._sizes)
        return self._items, self._scores


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
        for columns in slices(m, width) if len(queries) else ():
            if is_open[columns].any():
                block = read(blocks, strip, columns)
                best.offer_some(block, rows[queries] - strip.start, queries, columns.start, is_open[columns])
        progress(step, strip.stop, n)
    return best.lists()


@njit(cache=True)
def _is_worse(score, item, than_score, than_item):  # type: ignore[no-untyped-def]
    return score < than_score or (score == than_score and item > than_item)


@njit(parallel=True, cache=True)
def _offer(  # type: ignore[no-untyped-def]
    block, rows, queries, first, is_open, after_scores, after_items, items, scores, sizes
):
    for n in prange(len(rows)):
        q = queries[n]
        for column in range(block.shape[1]):
            score, item = np.float64(block[rows[n], column]), first + column
            full = sizes[q] == items.shape[1]
            if full and score < scores[q, 0]:
                continue
            if is_open[column] and _is_worse(score, item, after_scores[q], after_items[q]):
                if not full:
                    _push(items[q], scores[q], sizes[q], item, score)
                    sizes[q] += 1
                elif _is_worse(scores[q, 0], items[q, 0], score, item):
                    _sink(items[q], scores[q], sizes[q], item, score)


@njit(cache=True)
def _push(items, scores, size, item, score):  # type: ignore[no-untyped-def]
    """Add to a heap whose root is its worst place."""
    at = size
    while at > 0 and _is_worse(score, item, scores[(at - 1) // 2], items[(at - 1) // 2]):
        above = (at - 1) // 2
        items[at], scores[at] = items[above], scores[above]
        at = above
    items[at], scores[at] = item, score


@njit(cache=True)
def _sink(items, scores, size, item, score):  # type: ignore[no-untyped-def]
    """Replace the root by a place, and let it sink until the worst is the root again."""
    at = 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and _is_worse(scores[below + 1], items[below + 1], scores[below], items[below]):
            below += 1
        if not _is_worse(scores[below], items[below], score, item):
            break
        items[at], scores[at] = items[below], scores[below]
        at = below
    items[at], scores[at] = item, score


@njit(parallel=True, cache=True)
def _settle(items, scores, sizes):  # type: ignore[no-untyped-def]
    """Sort every heap in place, best first."""
    for q in prange(len(sizes)):
        for last in range(sizes[q] - 1, 0, -1):
            item, score = items[q, last], scores[q, last]
            items[q, last], scores[q, last] = items[q, 0], scores[q, 0]
            _sink(items[q], scores[q], last, item, score)
