"""The exact search: a sweep in the fastest precision that tells scores apart, and what it left in a finer one."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from journal.progress import Progress, silent
from mitl.topk.distinct import all_different, group_equals, spread
from mitl.topk.exact import exact_topk
from mitl.topk.products import Float32Products, Products, choose_products
from mitl.topk.ranking import NOWHERE, Ranking, empty_ranking, join
from mitl.topk.scores import multiple_topk
from mitl.topk.sides import Places, Side, check_k, fit_together, open_side
from mitl.topk.sweeping import Store, TooManyCandidatesError, sweep
from mitl.topk.tiles import ProductTiles

MEMORY = 512 * 2**20


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
    by_image, by_caption, precision = _ranked_both_ways(*sides, k, device, memory, progress, store)
    return Strip(rows, by_image, _moved(by_caption, rows.start), precision)


def join_strips(strips: list[Strip]) -> TopK:
    """Join the parts of one search, in any order, into what a single run would have found, bit by bit.

    Raises ValueError where strips overlap or one is missing between them.
    """
    strips = sorted(strips, key=lambda strip: strip.images.start)
    if any(one.images.stop != other.images.start for one, other in zip(strips, strips[1:], strict=False)):
        raise ValueError("The strips of images do not follow one another; every image must be in exactly one.")
    by_caption = empty_ranking(*strips[0].by_caption.places.shape)
    for strip in strips:
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
    found = _one_way(rows, columns, k, _first_pass(device), memory, progress)
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


def _ranked_both_ways(
    rows: Side, columns: Side, k: int, device: str, memory: int, progress: Progress, store: Store | None
) -> tuple[Ranking, Ranking, str]:
    """Search each different vector once, in both directions."""
    row_groups, column_groups = group_equals(rows), group_equals(columns)
    if row_groups is None and column_groups is None:
        return _both_ways(rows, columns, k, device, memory, progress, store)
    row_groups, column_groups = row_groups or all_different(len(rows)), column_groups or all_different(len(columns))
    firsts = rows.only(row_groups.firsts), columns.only(column_groups.firsts)
    by_row, by_column, precision = _both_ways(*firsts, k, device, memory, progress, store)
    return spread(by_row, row_groups, column_groups), spread(by_column, column_groups, row_groups), precision


def _both_ways(
    rows: Side, columns: Side, k: int, device: str, memory: int, progress: Progress, store: Store | None
) -> tuple[Ranking, Ranking, str]:
    first_pass = _first_pass(device)
    for products in (first_pass, Float32Products()):
        tiles = ProductTiles(rows, columns, products)
        try:
            found = sweep(tiles, k, both=True, memory=memory, progress=progress, store=store)
        except TooManyCandidatesError:
            continue
        _mend(found.by_row, found.lost_rows, rows, columns, products, memory, progress)
        _mend(found.by_column, found.lost_columns, columns, rows, products, memory, progress)
        return found.by_row, found.by_column, products.name
    return exact_topk(rows, columns, k, memory), exact_topk(columns, rows, k, memory), "float64"


def _mend(
    found: Ranking,
    lost: NDArray[np.bool_],
    queries: Side,
    items: Side,
    products: Products,
    memory: int,
    progress: Progress,
) -> None:
    """Search again, in a finer precision, for the queries that had too many candidates."""
    rest = np.flatnonzero(lost)
    if len(rest):
        asking, k = queries.only(rest), found.places.shape[1]
        if products.name == Float32Products.name:
            found.put(rest, exact_topk(asking, items, k, memory))
        else:
            found.put(rest, _one_way(asking, items, k, Float32Products(), memory, progress))


def _one_way(queries: Side, items: Side, k: int, products: Products, memory: int, progress: Progress) -> Ranking:
    try:
        found = sweep(ProductTiles(queries, items, products), k, both=False, memory=memory, progress=progress)
    except TooManyCandidatesError:
        return exact_topk(queries, items, k, memory)
    _mend(found.by_row, found.lost_rows, queries, items, products, memory, progress)
    return found.by_row


def _first_pass(device: str) -> Products:
    return choose_products()
