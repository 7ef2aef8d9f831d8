"""The exact search: a sweep in the fastest precision that tells scores apart, and what it left in a finer one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.progress import Progress, silent
from mitl.topk.accelerated import AcceleratedTiles
from mitl.topk.centring import CentredTiles
from mitl.topk.distinct import all_different, group_equals, spread
from mitl.topk.exact import exact_topk
from mitl.topk.products import choose_products
from mitl.topk.ranking import NOWHERE, Ranking, empty_ranking, join
from mitl.topk.scores import multiple_topk
from mitl.topk.sides import Places, Side, check_k, fit_together, open_side
from mitl.topk.sweeping import Store, Sweep, TooManyCandidatesError, sweep
from mitl.topk.tiles import ProductTiles, Tiles

MEMORY = 512 * 2**20
MakeTiles = Callable[[Side, Side], Tiles]


@dataclass(frozen=True)
class TopK:
    """Both directions of one search, best first; of equal scores the lower index comes first.

    ``i2t_indices`` (int64) and ``i2t_scores`` (float64), (N, k): each image's captions. ``t2i_indices`` and
    ``t2i_scores``, (M, k): each caption's images. ``precision``: that of the first pass, which the search chose.
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
    product is computed once, in bfloat16 where a short test finds that faster, and serves both directions; what may be
    among the best by a proven bound of the error is scored again in float64.

    Args:
        images: (N, D) embeddings, real numbers; a memory map will do.
        captions: (M, D) embeddings.
        k: 1 to min(N, M).
        device: where the products are computed, as torch names it.
        memory: bytes to use beside inputs and results, from about 1 MB on.
        store: keeps finished strips of images, from which the same search goes on after an interruption.

    Raises:
        ValueError: for wrong shapes or dtypes, NaN or infinite entries, zero vectors, or k out of range.
    """
    strip = topk_of_strip(images, captions, k, device=device, memory=memory, progress=progress, store=store)
    return join_strips([strip])


@dataclass(frozen=True)
class Strip:
    """What one part of a search found: the lists of its images, and of all captions among its images only.

    ``images``: which rows of the images these are. Unfilled places of the captions' lists are -1.
    """

    images: slice
    by_image: Ranking
    by_caption: Ranking
    precision: str


def topk_of_strip(
    images: ArrayLike,
    captions: ArrayLike,
    k: int,
    strip: slice | None = None,
    *,
    device: str = "cpu",
    memory: int = MEMORY,
    progress: Progress = silent,
    store: Store | None = None,
) -> Strip:
    """Search a strip of consecutive images against all captions, so that several machines can share one search.

    ``strip``: rows of ``images``, all of them by default. Everything else as for ``bidirectional_topk``.
    """
    images, captions = _an_array(images, "images"), _an_array(captions, "captions")
    check_k(k, min(len(images), len(captions)))
    rows = _rows_of(strip, len(images))
    if images.ndim == 3 or captions.ndim == 3:
        by_image, by_caption = multiple_topk(images[rows], captions, k, memory=memory, progress=progress)
        return Strip(rows, by_image, _moved(by_caption, rows.start), "float32")
    sides = open_side(images[rows], "images"), open_side(captions, "captions")
    fit_together(*sides)
    by_image, by_caption, precision = _Search(k, _passes(device), memory, progress, store).both_ways(*sides)
    return Strip(rows, by_image, _moved(by_caption, rows.start), precision)


def join_strips(strips: list[Strip]) -> TopK:
    """Join the parts of one search, in any order, into what a single run would have found, bit by bit.

    Raises ValueError where strips overlap or one is missing between them.
    """
    strips = sorted(strips, key=lambda strip: strip.images.start)
    if any(one.images.stop != other.images.start for one, other in zip(strips, strips[1:], strict=False)):
        raise ValueError("The strips of images do not follow one another; every image must be in exactly one.")
    by_caption = strips[0].by_caption if len(strips) == 1 else empty_ranking(*strips[0].by_caption.places.shape)
    for strip in strips if len(strips) > 1 else ():
        join(by_caption, strip.by_caption)
    return TopK(
        np.concatenate([strip.by_image.places for strip in strips]),
        np.concatenate([strip.by_image.scores for strip in strips]),
        by_caption.places,
        by_caption.scores,
        " and ".join(sorted({strip.precision for strip in strips})),
    )


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
    rows, columns = open_side(queries, "queries"), open_side(items, "items")
    fit_together(rows, columns)
    check_k(k, len(columns))
    passes = _passes(device)
    found = _Search(k, passes, memory, progress).one_way(rows, columns, passes)
    return found.places, found.scores


def _an_array(embeddings: ArrayLike, name: str) -> NDArray:
    array = embeddings if isinstance(embeddings, np.ndarray) else np.asarray(embeddings)
    if array.ndim not in (2, 3) or 0 in array.shape:
        raise ValueError(f"{name} must have shape (N, D) or (N, K, D), none of them 0, not {array.shape}.")
    return array


def _rows_of(strip: slice | None, n: int) -> slice:
    rows = slice(0, n) if strip is None else strip
    if not 0 <= rows.start < rows.stop <= n:
        raise ValueError(f"The strip {rows.start}:{rows.stop} does not lie within the {n} images.")
    return rows


def _moved(found: Ranking, start: int) -> Ranking:
    """Count places from the first image instead of the strip's first."""
    return Ranking(np.where(found.places == NOWHERE, NOWHERE, found.places + start), found.scores) if start else found


@dataclass(frozen=True)
class _Search:
    """What is searched for and in which passes, the fastest first; what none of them tells apart goes to float64."""

    k: int
    passes: Sequence[MakeTiles]
    memory: int
    progress: Progress
    store: Store | None = None

    def both_ways(self, rows: Side, columns: Side) -> tuple[Ranking, Ranking, str]:
        """Rank columns for rows and rows for columns, each different vector once; and tell the precision taken."""
        row_groups, column_groups = group_equals(rows), group_equals(columns)
        if row_groups is None and column_groups is None:
            return self._distinct_both_ways(rows, columns)
        row_groups, column_groups = row_groups or all_different(len(rows)), column_groups or all_different(len(columns))
        firsts = rows.only(row_groups.firsts), columns.only(column_groups.firsts)
        by_row, by_column, precision = self._distinct_both_ways(*firsts)
        return spread(by_row, row_groups, column_groups), spread(by_column, column_groups, row_groups), precision

    def one_way(self, queries: Side, items: Side, passes: Sequence[MakeTiles]) -> Ranking:
        """Rank items for queries in the first of some passes that tells their scores apart."""
        if not passes:
            return exact_topk(queries, items, self.k, self.memory)
        try:
            found = self._sweep(passes[0](queries, items), both=False)
        except TooManyCandidatesError:
            return self.one_way(queries, items, passes[1:])
        self._mend(found.by_row, found.lost_rows, queries, items, passes[1:])
        return found.by_row

    def _distinct_both_ways(self, rows: Side, columns: Side) -> tuple[Ranking, Ranking, str]:
        for number, make in enumerate(self.passes):
            tiles, finer = make(rows, columns), self.passes[number + 1 :]
            try:
                found = self._sweep(tiles, both=True)
            except TooManyCandidatesError:
                continue
            self._mend(found.by_row, found.lost_rows, rows, columns, finer)
            self._mend(found.by_column, found.lost_columns, columns, rows, finer)
            return found.by_row, found.by_column, tiles.precision
        return self.one_way(rows, columns, []), self.one_way(columns, rows, []), "float64"

    def _mend(
        self, found: Ranking, lost: NDArray[np.bool_], queries: Side, items: Side, finer: Sequence[MakeTiles]
    ) -> None:
        """Search again for the queries that had too many candidates."""
        rest = np.flatnonzero(lost)
        if len(rest):
            found.put(rest, self.one_way(queries.only(rest), items, finer))

    def _sweep(self, tiles: Tiles, *, both: bool) -> Sweep:
        store = self.store if both else None
        return sweep(tiles, self.k, both=both, memory=self.memory, progress=self.progress, store=store)


def _passes(device: str) -> list[MakeTiles]:
    """The fastest first. What few queries an accelerator leaves over go to the processor."""
    if device == "cpu":
        return [partial(ProductTiles, products=choose_products()), CentredTiles]
    return [partial(AcceleratedTiles, device=device), CentredTiles]
