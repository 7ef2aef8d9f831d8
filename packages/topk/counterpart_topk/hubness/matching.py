"""Relaxed greedy matching: neighbourhoods in which no item can be a large hub."""

from dataclasses import dataclass
from math import isinf, isnan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterpart_topk.hubness.score_blocks import BYTES_PER_PLACE, MEMORY, Blocks, Matrix, Transposed, best_places
from counterpart_topk.progress import Progress, silent

Pairs = NDArray[np.int64]


def relaxed_greedy_matching(
    similarity: ArrayLike | Blocks,
    k: int,
    relaxation: float,
    *,
    memory: int = MEMORY,
    progress: Progress = silent,
) -> Pairs:
    """Match queries and items from the highest score down, each query k times, each item round(relaxation k) times.

    Algorithm 1 of the hubness paper: stops when min(N, M) k pairs are matched or no score is left. Of equal scores the
    first by rows is matched first; ``round`` is Python's, halves to even. The scores are not sorted: every query (or
    every item, if items are full sooner) lists its best open places, and more of them only when they are used up, so
    that the matrix is read a few times and is never in memory as a whole.

    Args:
        similarity: (N, M), or scores read block by block (``Blocks``).
        k: number of matches of a query.
        relaxation: lambda; with infinity items have no limit (nearest-neighbour search where N <= M).
        memory: bytes for tiles and lists in addition to inputs and results.

    Returns:
        (P, 2) rows and columns in the order in which they were matched.

    Raises:
        ValueError: for a similarity that is not a matrix of real numbers or holds NaN, k < 1, or a negative relaxation.

    >>> relaxed_greedy_matching([[0.9, 0.1], [0.8, 0.7]], 1, 1)
    array([[0, 0],
           [1, 1]])
    """
    return scored_matching(similarity, k, relaxation, memory=memory, progress=progress)[0]


def scored_matching(
    similarity: ArrayLike | Blocks, k: int, relaxation: float, *, memory: int = MEMORY, progress: Progress = silent
) -> tuple[Pairs, NDArray[np.float64]]:
    """Return the pairs of ``relaxed_greedy_matching`` and their falling scores (P,)."""
    blocks = similarity if isinstance(similarity, Blocks) else Matrix(similarity)
    n, m = blocks.shape
    column_cap = _column_cap(k, relaxation, n)
    wanted = min(min(n, m) * k, n * min(k, m), m * column_cap)
    # The side that is full sooner walks: its lists end when it is full.
    if n * min(k, m) <= m * column_cap:
        side = _Side(blocks, np.full(n, min(k, m)), np.full(m, column_cap), by_rows=True)
    else:
        side = _Side(Transposed(blocks), np.full(m, column_cap), np.full(n, k), by_rows=False)
    pairs, scores = _matched(side, wanted, memory, progress)
    return pairs if side.by_rows else pairs[:, ::-1], scores


@dataclass(frozen=True)
class _Side:
    """The side that walks and the places left on both sides."""

    blocks: Blocks
    walkers_left: NDArray[np.int64]
    items_left: NDArray[np.int64]
    by_rows: bool


def _column_cap(k: int, relaxation: float, n: int) -> int:
    if k < 1:
        raise ValueError(f"Every query must be matched at least once, not {k} times.")
    if isnan(relaxation) or relaxation < 0:
        raise ValueError(f"The relaxation must be 0 or more, not {relaxation}.")
    return n if isinf(relaxation) else min(n, round(relaxation * k))


def _matched(side: _Side, wanted: int, memory: int, progress: Progress) -> tuple[Pairs, NDArray[np.float64]]:
    from counterpart_topk.hubness.heaps import walk

    n_walkers, n_items = side.blocks.shape
    pairs = np.empty((wanted, 2), dtype=np.int64)
    scores = np.empty(wanted)
    after = np.full(n_walkers, np.inf), np.full(n_walkers, -1, dtype=np.int64)
    walkers = np.arange(n_walkers)
    depth = 4 * int(side.walkers_left[0]) + 32
    done = 0
    while done < wanted and len(walkers) and side.items_left.any():
        depth = max(1, min(depth, n_items, memory // 2 // (BYTES_PER_PLACE * len(walkers))))
        items, best = best_places(
            side.blocks,
            depth,
            rows=walkers,
            is_open=side.items_left > 0,
            after=(after[0][walkers], after[1][walkers]),
            memory=memory // 2,
            step=f"matching, {done:,} of {wanted:,} pairs so far",
            progress=progress,
        )
        at = np.zeros(len(walkers), dtype=np.int64)
        done = walk(items, best, at, walkers, side.walkers_left, side.items_left, side.by_rows, pairs, scores, done)
        _remember(after, walkers, items, best, at)
        ended = np.take_along_axis(items, np.minimum(at, depth - 1)[:, None], 1)[:, 0] < 0
        walkers = walkers[(side.walkers_left[walkers] > 0) & ~ended]
        depth = 4 * depth
    return pairs[:done], scores[:done]


def _remember(after: tuple[NDArray, NDArray], walkers: NDArray, items: NDArray, best: NDArray, at: NDArray) -> None:
    """Note the last place that each walker has passed."""
    moved = at > 0
    last = at[moved] - 1
    after[0][walkers[moved]] = best[moved, last]
    after[1][walkers[moved]] = items[moved, last]
