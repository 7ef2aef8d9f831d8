"""Exact top-k of scores that are no inner products: computed by somebody, block by block, in float32."""

import numpy as np
from numpy.typing import NDArray

from core.progress import Progress, silent
from mitl.topk.ranking import Ranking
from mitl.topk.sides import Places, check_k
from mitl.topk.sweeping import Sweep, sweep
from mitl.topk.tiles import Score, ScoreTiles

MEMORY = 256 * 2**20


def topk_of_scores(
    score: Score, shape: tuple[int, int], k: int, *, memory: int = MEMORY, progress: Progress = silent
) -> tuple[Places, NDArray[np.float32]]:
    """Find each row's ``k`` best columns of a matrix that is never whole, ties by lower index.

    ``score(rows, columns)`` gives the block of a ``shape`` (N, M) matrix of scores that two slices name. Returns
    indices and scores, each (N, k). Raises ValueError for a block with NaN, or of another shape than asked for.
    """
    check_k(k, shape[1])
    found = _swept(score, shape, k, False, memory, progress).by_row
    return found.places, found.scores.astype(np.float32)


def bidirectional_topk_of_scores(
    score: Score, shape: tuple[int, int], k: int, *, memory: int = MEMORY, progress: Progress = silent
) -> tuple[Ranking, Ranking]:
    """Find each row's ``k`` best columns and each column's ``k`` best rows, every block computed once.

    As ``topk_of_scores``, k <= min(N, M). Returns the ranking of columns for rows, and that of rows for columns.
    """
    check_k(k, min(shape))
    found = _swept(score, shape, k, True, memory, progress)
    return found.by_row, found.by_column


def multiple_topk(
    images: NDArray, captions: NDArray, k: int, *, memory: int = MEMORY, progress: Progress = silent
) -> tuple[Ranking, Ranking]:
    """Search items of several embeddings each, (N, K, D) or (N, D): a pair scores as its best pair of embeddings.

    That is how PVSE ranks (Song and Soleymani 2019). Scores are float32 products. Returns as
    ``bidirectional_topk_of_scores`` does; raises ValueError for embeddings that do not fit together or are not finite.
    """
    rows, columns = _several(images, "images"), _several(captions, "captions")
    if rows.shape[2] != columns.shape[2]:
        raise ValueError(f"Embeddings of {rows.shape[2]} and of {columns.shape[2]} dimensions do not fit together.")

    def score(some_rows: slice, some_columns: slice) -> NDArray:
        return best_products(rows[some_rows], columns[some_columns])

    several = rows.shape[1] * columns.shape[1]
    return bidirectional_topk_of_scores(
        score, (len(rows), len(columns)), k, memory=max(1, memory // several), progress=progress
    )


def best_products(images: NDArray, captions: NDArray) -> NDArray:
    """Return the largest inner product of each pair's embeddings: (n, K, D) and (m, L, D) give (n, m)."""
    dimensions = images.shape[2]
    products = images.reshape(-1, dimensions) @ captions.reshape(-1, dimensions).T
    return products.reshape(len(images), images.shape[1], len(captions), captions.shape[1]).max(axis=(1, 3))


def _several(embeddings: NDArray, name: str) -> NDArray[np.float32]:
    if embeddings.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be real numbers, not {embeddings.dtype}.")
    values = np.ascontiguousarray(embeddings, np.float32)
    values = values if values.ndim == 3 else values[:, None]
    bad = ~np.isfinite(values).all(axis=(1, 2))
    if bad.any():
        raise ValueError(f"{int(bad.sum())} rows of {name} hold NaN or infinity; the first is row {bad.argmax()}.")
    return values


def _swept(score: Score, shape: tuple[int, int], k: int, both: bool, memory: int, progress: Progress) -> Sweep:
    return sweep(ScoreTiles(score, shape), k, both=both, memory=memory, progress=progress)
