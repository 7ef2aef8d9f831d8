"""Exact top-k of inner products and other scores, tile by tile, so that no N x M matrix ever stands in memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isqrt

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from journal.progress import Progress, silent

MEMORY = 256 * 2**20
# A tile, its transpose and the masks and sorted parts made of it, at their peak.
BYTES_PER_SCORE = 20

Indices = NDArray[np.int64]
Scores = NDArray[np.float32]
Tile = Callable[[slice, slice], Tensor]


@dataclass(frozen=True)
class TopK:
    """Both directions of one search, best first; of equal scores the lower index comes first.

    ``i2t_indices`` and ``i2t_scores`` (N, k): each image's captions. ``t2i_indices`` and ``t2i_scores`` (M, k):
    each caption's images.
    """

    i2t_indices: Indices
    i2t_scores: Scores
    t2i_indices: Indices
    t2i_scores: Scores


def bidirectional_topk(
    images: ArrayLike,
    captions: ArrayLike,
    k: int,
    *,
    device: str = "cpu",
    memory: int = MEMORY,
    progress: Progress = silent,
) -> TopK:
    """Find each image's ``k`` best captions and each caption's ``k`` best images by inner product.

    Every tile of the product is computed once and serves both directions.

    Args:
        images: (N, D) embeddings, real numbers; a memory map will do.
        captions: (M, D) embeddings.
        k: 1 to min(N, M).
        device: where the products are computed, as torch names it.
        memory: bytes that tiles may take beside inputs and results.

    Raises:
        ValueError: for wrong shapes, NaN or infinite entries, products beyond float32, or k out of range.
    """
    rows, columns = checked(images, "images"), checked(captions, "captions")
    _fit_together(rows, columns)
    _k_within(k, min(len(rows), len(columns)))
    tile = _products(rows, columns, device)
    by_row, by_column = [], [_Best(k) for _ in _slices(len(columns), _tile_shape(len(rows), len(columns), memory)[1])]
    for row_best in _sweep(tile, len(rows), len(columns), k, memory, by_column, progress):
        by_row.append(row_best)
    return TopK(*_joined(by_row), *_joined(by_column))


def topk_of_products(
    queries: ArrayLike,
    items: ArrayLike,
    k: int,
    *,
    device: str = "cpu",
    memory: int = MEMORY,
    progress: Progress = silent,
) -> tuple[Indices, Scores]:
    """Find each query's ``k`` best items by inner product: ``bidirectional_topk`` in one direction, k <= M.

    Returns indices and scores, each (N, k). Raises ValueError as ``bidirectional_topk`` does.
    """
    rows, columns = checked(queries, "queries"), checked(items, "items")
    _fit_together(rows, columns)
    _k_within(k, len(columns))
    tile = _products(rows, columns, device)
    return _joined(list(_sweep(tile, len(rows), len(columns), k, memory, [], progress)))


def topk_of_scores(
    score: Callable[[slice, slice], NDArray],
    shape: tuple[int, int],
    k: int,
    *,
    memory: int = MEMORY,
    progress: Progress = silent,
) -> tuple[Indices, Scores]:
    """Find each row's ``k`` best columns of a matrix that is never whole.

    ``score(rows, columns)`` gives the block of a ``shape`` (N, M) matrix of scores that two slices name. Returns
    indices and scores, each (N, k). Raises ValueError for a block with NaN, or of another shape than asked for.
    """
    _k_within(k, shape[1])

    def tile(rows: slice, columns: slice) -> Tensor:
        block = np.ascontiguousarray(score(rows, columns), dtype=np.float32)
        if block.shape != (rows.stop - rows.start, columns.stop - columns.start):
            raise ValueError(f"A block of scores has shape {block.shape}.")
        if np.isnan(block).any():
            raise ValueError(f"{int(np.isnan(block).any(1).sum())} rows of scores hold NaN.")
        return torch.from_numpy(block)

    return _joined(list(_sweep(tile, *shape, k, memory, [], progress)))


def checked(embeddings: ArrayLike, name: str) -> NDArray:
    """Return the (N, D) array. Raises ValueError for another shape, no rows, or entries that are no finite numbers."""
    array = embeddings if isinstance(embeddings, np.ndarray) else np.asarray(embeddings)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} must have shape (N, D) with N, D >= 1, not {array.shape}.")
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be real numbers, not {array.dtype}.")
    bad = np.concatenate([~np.isfinite(_float32(array[part])).all(1) for part in _slices(len(array), 65_536)])
    if bad.any():
        first = int(bad.argmax())
        raise ValueError(f"{int(bad.sum())} rows of {name} hold NaN or infinity as float32; the first is row {first}.")
    return array


def _fit_together(rows: NDArray, columns: NDArray) -> None:
    if rows.shape[1] != columns.shape[1]:
        raise ValueError(f"Embeddings of {rows.shape[1]} and of {columns.shape[1]} dimensions do not fit together.")
    if _longest(rows) * _longest(columns) > float(np.finfo(np.float32).max):
        raise ValueError("The embeddings are so long that their products are beyond float32; scale them down.")


def _longest(rows: NDArray) -> float:
    parts = (np.linalg.norm(rows[part].astype(np.float64), axis=1).max() for part in _slices(len(rows), 65_536))
    return float(max(parts))


def _k_within(k: int, n: int) -> None:
    if not 1 <= k <= n:
        raise ValueError(f"k must be between 1 and {n}, the number of items, not {k}.")


def _products(rows: NDArray, columns: NDArray, device: str) -> Tile:
    def on_device(array: NDArray) -> Tensor:
        return torch.from_numpy(_float32(array)).to(device)

    return lambda r, c: on_device(rows[r]) @ on_device(columns[c]).T


def _float32(array: NDArray) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return np.array(array, dtype=np.float32, order="C")


def _tile_shape(n_rows: int, n_columns: int, memory: int) -> tuple[int, int]:
    entries = max(1, memory // BYTES_PER_SCORE)
    height = min(n_rows, max(1, isqrt(entries)))
    return height, min(n_columns, max(1, entries // height))


def _slices(n: int, step: int) -> list[slice]:
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def _sweep(
    tile: Tile, n_rows: int, n_columns: int, k: int, memory: int, by_column: "list[_Best]", progress: Progress
) -> "Iterator[_Best]":
    """Yield the best of each strip of rows; feed every tile to the bests of its columns too, where there are any."""
    height, width = _tile_shape(n_rows, n_columns, memory)
    for rows in _slices(n_rows, height):
        row_best = _Best(k)
        for number, columns in enumerate(_slices(n_columns, width)):
            scores = tile(rows, columns)
            row_best.feed(scores, columns.start)
            if by_column:
                by_column[number].feed(scores.T.contiguous(), rows.start)
        progress("searching", rows.stop, n_rows)
        yield row_best


class _Best:
    """The k best places of some queries so far. Blocks must be fed in the order of their items."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.scores: Tensor | None = None
        self.indices: Tensor | None = None

    def feed(self, scores: Tensor, offset: int) -> None:
        """Take in a block (queries, items) whose first item is number ``offset``."""
        best, places = _best_of(scores, self.k)
        places = places + offset
        if self.scores is not None and self.indices is not None:
            # Places seen earlier have lower indices and stand first, so a stable sort keeps ties in order.
            best, order = torch.cat([self.scores, best], 1).sort(dim=1, descending=True, stable=True)
            places = torch.cat([self.indices, places], 1).gather(1, order)
        self.scores, self.indices = best[:, : self.k], places[:, : self.k]


def _best_of(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k best of each row and their places, by falling score, then by rising place."""
    k = min(k, scores.shape[1])
    best, places = scores.topk(k, dim=1)
    cut = best[:, -1:]
    among_equals = (scores >= cut).sum(1) > k
    if among_equals.any():
        places[among_equals] = _first_of_equals(scores[among_equals], cut[among_equals], k)
    places = places.sort(dim=1).values
    best, order = scores.gather(1, places).sort(dim=1, descending=True, stable=True)
    return best, places.gather(1, order)


def _first_of_equals(scores: Tensor, cut: Tensor, k: int) -> Tensor:
    """The k best places of each row whose cut falls among equal scores, the first of which topk need not choose."""
    above, equal = scores > cut, scores == cut
    room = k - above.sum(1, keepdim=True)
    kept = above | (equal & (equal.cumsum(1, dtype=torch.int32) <= room))
    return kept.nonzero()[:, 1].view(-1, k)


def _joined(bests: list[_Best]) -> tuple[Indices, Scores]:
    indices = [best.indices.cpu().numpy() for best in bests if best.indices is not None]
    scores = [best.scores.cpu().numpy() for best in bests if best.scores is not None]
    return np.concatenate(indices), np.concatenate(scores)
