"""The exact search: a sweep in the fastest precision that separates scores; the remaining queries in a finer one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from counterpart_topk.accelerated import AcceleratedPass
from counterpart_topk.hubness.score_blocks import Computed, best_both_ways, best_places
from counterpart_topk.integers import IntegerTiles, integers_work
from counterpart_topk.products import Products, bfloat16_speedup
from counterpart_topk.progress import Progress, silent
from counterpart_topk.ranking import NOWHERE, Ranking, empty_ranking, float64_topk, spread
from counterpart_topk.sides import Places, Side, all_different, check_k, fit_together, group_equals, open_side, slices
from counterpart_topk.sweep import Store, Sweep, TooManyCandidatesError, sweep
from counterpart_topk.tiles import CentredTiles, ProductTiles

MEMORY = 512 * 2**20
SCORES_MEMORY = 256 * 2**20
ITEMS = 4_096  # whose lists of embeddings are turned into lists of items at once
OF_SCORES = "searching in float32"
FAR = np.iinfo(np.int64).max
Score = Callable[[slice, slice], NDArray]
MakeTiles = Callable[[Side, Side], ProductTiles | AcceleratedPass]


@dataclass(frozen=True)
class TopK:
    """Both directions of one search, best first; of equal scores the lower index comes first.

    ``i2t_indices`` (int64) and ``i2t_scores`` (float64), (N, k): each image's captions. ``t2i_indices`` and
    ``t2i_scores``, (M, k): each caption's images. ``precision``: that of the first pass.
    """

    i2t_indices: Places
    i2t_scores: NDArray[np.float64]
    t2i_indices: Places
    t2i_scores: NDArray[np.float64]
    precision: str


def bidirectional_topk(
    images: ArrayLike,
    captions: ArrayLike,
    k: int,
    *,
    device: str = "cpu",
    memory: int = MEMORY,
    progress: Progress = silent,
    store: Store | None = None,
) -> TopK:
    """Find each image's ``k`` best captions and each caption's ``k`` best images by inner product.

    The result is that of a float64 product, ordered by falling score and then by rising index. Every tile of the
    product is computed once for both directions, in integers of 16 bits, bfloat16 or float32, whichever this processor
    computes fastest; all pairs that may be among the best, by a proven bound of the error, are scored again in float64.

    Of items with several embeddings each, a pair scores as its best pair of embeddings (PVSE, Song and Soleymani 2019).

    Args:
        images: (N, D) or (N, K, D) embeddings, real numbers; may be a memory map.
        captions: (M, D) or (M, L, D) embeddings.
        k: 1 to min(N, M).
        device: where the products are computed, as torch names it.
        memory: bytes to use in addition to inputs and results, at least about 1 MB; for several embeddings also in
            addition to lists of k max(K, L) places of each.
        store: keeps finished strips of images, so that the same search resumes after an interruption.

    Raises:
        ValueError: for wrong shapes or dtypes, NaN or infinite entries, zero vectors, k out of range, a device that
            torch does not find, or memory that is not a number of bytes.
    """
    images = _an_array(images, "images")
    captions = _an_array(captions, "captions")
    check_k(k, min(len(images), len(captions)))
    several = _several(images), _several(captions)
    sides = open_side(_flat(images), "images"), open_side(_flat(captions), "captions")
    fit_together(*sides)
    # The k best items of an embedding are among its k * several best embeddings.
    search = _Search(k * max(several), _passes(device), _bytes(memory), progress, store)
    by_image, by_caption, precision = search.both_ways(*sides)
    if max(several) > 1:
        by_image = _of_items(by_image, *several, k)
        by_caption = _of_items(by_caption, *several[::-1], k)
    return TopK(by_image.places, by_image.scores, by_caption.places, by_caption.scores, precision)


def topk_of_products(
    queries: ArrayLike,
    items: ArrayLike,
    k: int,
    *,
    device: str = "cpu",
    memory: int = MEMORY,
    progress: Progress = silent,
) -> tuple[Places, NDArray[np.float64]]:
    """Find each query's ``k`` best items by inner product: ``bidirectional_topk`` in one direction, k <= M.

    Returns indices and scores, each (N, k). Raises ValueError as ``bidirectional_topk`` does.
    """
    queries = _an_array(queries, "queries")
    items = _an_array(items, "items")
    check_k(k, len(items))
    several = _several(queries), _several(items)
    rows = open_side(_flat(queries), "queries")
    columns = open_side(_flat(items), "items")
    fit_together(rows, columns)
    passes = _passes(device)
    depth = min(k * max(several), len(columns))
    ranking = _Search(depth, passes, _bytes(memory), progress).one_way(rows, columns, passes)
    if max(several) > 1:
        ranking = _of_items(ranking, *several, k)
    return ranking.places, ranking.scores


def topk_of_scores(
    score: Score, shape: tuple[int, int], k: int, *, memory: int = SCORES_MEMORY, progress: Progress = silent
) -> tuple[Places, NDArray[np.float32]]:
    """Find each row's ``k`` best columns of a matrix that is never in memory as a whole, ties by lower index.

    ``score(rows, columns)`` returns the block at two slices of a matrix of ``shape`` (N, M); it is rounded to float32.
    Returns indices and scores, each (N, k). Raises ValueError for a block with NaN, or of another shape than asked for.
    """
    check_k(k, shape[1])
    places, scores = best_places(_rounded(score, shape), k, memory=memory, step=OF_SCORES, progress=progress)
    return places, scores.astype(np.float32)


def bidirectional_topk_of_scores(
    score: Score, shape: tuple[int, int], k: int, *, memory: int = SCORES_MEMORY, progress: Progress = silent
) -> tuple[Ranking, Ranking]:
    """Find each row's ``k`` best columns and each column's ``k`` best rows, every block computed once.

    As ``topk_of_scores``, k <= min(N, M). Returns the ranking of columns for rows, and that of rows for columns.
    """
    check_k(k, min(shape))
    both = best_both_ways(_rounded(score, shape), k, memory=memory, step=OF_SCORES, progress=progress)
    by_row, by_column = (Ranking(*best.lists()) for best in both)
    return by_row, by_column


def _rounded(score: Score, shape: tuple[int, int]) -> Computed:
    return Computed(shape, lambda rows, columns: np.asarray(score(rows, columns), np.float32))


def best_products(images: NDArray, captions: NDArray) -> NDArray:
    """Return the largest inner product of each pair's embeddings: (n, K, D) and (m, L, D) give (n, m)."""
    dimensions = images.shape[2]
    products = images.reshape(-1, dimensions) @ captions.reshape(-1, dimensions).T
    return products.reshape(len(images), images.shape[1], len(captions), captions.shape[1]).max(axis=(1, 3))


def _an_array(embeddings: ArrayLike, name: str) -> NDArray:
    try:
        array = embeddings if isinstance(embeddings, np.ndarray) else np.asarray(embeddings)
    except (TypeError, ValueError) as error:  # such as rows of several lengths, or a tensor on a device
        raise ValueError(f"{name} cannot be read as an array: {error}.") from error
    if array.ndim not in (2, 3) or 0 in array.shape:
        raise ValueError(f"{name} must have shape (N, D) or (N, K, D), all above 0, not {array.shape}.")
    return array


@dataclass(frozen=True)
class _Search:
    """A search in several passes, the fastest first; scores that are equal in all of them are compared in float64."""

    k: int
    passes: Sequence[MakeTiles]
    memory: int
    progress: Progress
    store: Store | None = None

    def both_ways(self, rows: Side, columns: Side) -> tuple[Ranking, Ranking, str]:
        """Rank columns for rows and rows for columns, each distinct vector once; and return the precision used."""
        row_groups = group_equals(rows)
        column_groups = group_equals(columns)
        if row_groups is None and column_groups is None:
            return self._distinct_both_ways(rows, columns)
        row_groups = row_groups or all_different(len(rows))
        column_groups = column_groups or all_different(len(columns))
        firsts = rows.only(row_groups.firsts), columns.only(column_groups.firsts)
        by_row, by_column, precision = self._distinct_both_ways(*firsts)
        return spread(by_row, row_groups, column_groups), spread(by_column, column_groups, row_groups), precision

    def one_way(self, queries: Side, items: Side, passes: Sequence[MakeTiles]) -> Ranking:
        """Rank items for queries in the first of some passes that separates their scores."""
        if not passes:
            return float64_topk(queries, items, self.k, self.memory)
        try:
            sweep = self._sweep(passes[0](queries, items), both=False)
        except TooManyCandidatesError:
            return self.one_way(queries, items, passes[1:])
        self._search_again(sweep.by_row, sweep.lost_rows, queries, items, passes[1:])
        return sweep.by_row

    def _distinct_both_ways(self, rows: Side, columns: Side) -> tuple[Ranking, Ranking, str]:
        for number, make in enumerate(self.passes):
            tiles = make(rows, columns)
            finer = self.passes[number + 1 :]
            try:
                sweep = self._sweep(tiles, both=True)
            except TooManyCandidatesError:
                continue
            self._search_again(sweep.by_row, sweep.lost_rows, rows, columns, finer)
            self._search_again(sweep.by_column, sweep.lost_columns, columns, rows, finer)
            return sweep.by_row, sweep.by_column, tiles.precision
        return self.one_way(rows, columns, []), self.one_way(columns, rows, []), "float64"

    def _search_again(
        self, found: Ranking, lost: NDArray[np.bool_], queries: Side, items: Side, finer: Sequence[MakeTiles]
    ) -> None:
        """Search again for the queries whose buffers overflowed."""
        rest = np.flatnonzero(lost)
        if len(rest):
            found.put(rest, self.one_way(queries.only(rest), items, finer))

    def _sweep(self, tiles: ProductTiles | AcceleratedPass, *, both: bool) -> Sweep:
        if isinstance(tiles, AcceleratedPass):
            return tiles.sweep(self.k, both=both, progress=self.progress)
        store = self.store if both else None
        return sweep(tiles, self.k, both=both, memory=self.memory, progress=self.progress, store=store)


def _passes(device: str) -> list[MakeTiles]:
    """The fastest first. The few queries that an accelerator cannot finish go to the processor."""
    _check_device(device)
    if device != "cpu":
        return [partial(AcceleratedPass, device=device), CentredTiles]
    if bfloat16_speedup(torch.get_num_threads()) > 1.2:
        return [partial(ProductTiles, products=Products("bfloat16")), CentredTiles]
    return [IntegerTiles if integers_work() else partial(ProductTiles, products=Products("float32")), CentredTiles]


def _several(embeddings: NDArray) -> int:
    """Return the number of embeddings of each item."""
    return embeddings.shape[1] if embeddings.ndim == 3 else 1


def _flat(embeddings: NDArray) -> NDArray:
    """Return all embeddings one below the other, those of an item together."""
    return embeddings.reshape(-1, embeddings.shape[-1])


def _of_items(found: Ranking, queries_each: int, items_each: int, k: int) -> Ranking:
    """Turn lists of embeddings for embeddings into lists of items for items: of a pair, the best score counts."""
    ranked = empty_ranking(len(found.places) // queries_each, k)
    for part in slices(len(ranked.places), ITEMS):
        flat = slice(part.start * queries_each, part.stop * queries_each)
        places = found.places[flat].reshape(part.stop - part.start, -1)
        scores = found.scores[flat].reshape(places.shape)
        places = np.where(places == NOWHERE, FAR, places // items_each)
        best_first = np.lexsort((-scores, places))
        places = np.take_along_axis(places, best_first, 1)
        scores = np.take_along_axis(scores, best_first, 1)
        again = np.zeros(places.shape, bool)
        again[:, 1:] = places[:, 1:] == places[:, :-1]
        scores = np.where(again | (places == FAR), -np.inf, scores)
        best = np.lexsort((places, -scores))[:, :k]
        places = np.take_along_axis(places, best, 1)
        scores = np.take_along_axis(scores, best, 1)
        ranked.places[part, : places.shape[1]] = np.where(scores == -np.inf, NOWHERE, places)
        ranked.scores[part, : places.shape[1]] = scores
    return ranked


def _bytes(memory: int) -> int:
    """Raises ValueError for what is not a number of bytes."""
    if isinstance(memory, bool) or not isinstance(memory, Integral) or memory < 1:
        raise ValueError(f"memory must be a whole number of bytes, at least 1, not {memory!r}.")
    return int(memory)


def _check_device(device: str) -> None:
    """Raise ValueError unless torch can compute there."""
    try:
        torch.empty(1, device=device)
    except (RuntimeError, TypeError, AssertionError, ValueError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise ValueError(f"torch cannot compute on the device {device!r} ({reason}); use 'cpu' or 'cuda'.") from error
