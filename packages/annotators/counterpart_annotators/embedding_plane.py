"""Where chosen images lie among all unpaired ones: a plane of embeddings, and how much of it they cover.

Jo et al. (``counterpart_annotators.selection``), figure 3. Needs scikit-learn, the extra ``maps``.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def plane(embeddings: ArrayLike, *, perplexity: float = 30, seed: int = 0) -> NDArray[np.float64]:
    """Return places (N, 2) of embeddings (N, D) by t-SNE, begun at the two main components.

    The same input and seed give the same places on the same computer. ``perplexity``, about the number of neighbours
    that stay near, is lowered to a third of N where it is more. Raises ValueError for another shape, fewer than 4
    rows, and embeddings that are not finite.
    """
    from sklearn.manifold import TSNE

    rows = np.asarray(embeddings, dtype=np.float64)
    if rows.ndim != 2 or len(rows) < 4 or not np.isfinite(rows).all():
        raise ValueError(f"A plane needs 4 or more finite embeddings (N, D), not an array of shape {rows.shape}.")
    start = "pca" if rows.shape[1] > 1 else "random"
    mapped = TSNE(perplexity=min(perplexity, len(rows) / 3), init=start, random_state=seed, n_jobs=1)
    places: NDArray[np.float64] = mapped.fit_transform(rows).astype(np.float64)
    return places


def covered(places: ArrayLike, chosen: ArrayLike, *, side: int = 6) -> float:
    """Return how much of a plane chosen items cover, in percent of the cells that hold any item.

    The plane's bounding box is cut into ``side`` x ``side`` equal cells. As many items drawn at random show what an
    even choice covers.

    Args:
        places: (N, 2).
        chosen: the rows of the chosen items, in any order.

    Raises:
        ValueError: for places of another shape, ``side`` below 1, and chosen rows outside 0 to N - 1.

    >>> round(covered([[0, 0], [0.1, 0], [1, 1], [1, 0]], [0, 1], side=2), 1)
    33.3
    """
    points = np.asarray(places, dtype=np.float64)
    rows = np.asarray(chosen, dtype=np.int64)
    if points.ndim != 2 or points.shape[1] != 2 or not len(points) or side < 1:
        raise ValueError(f"Places must be (N, 2) and side 1 or more, not {points.shape} and {side}.")
    if rows.size and not 0 <= rows.min() <= rows.max() < len(points):
        raise ValueError(f"Chosen rows must be 0 to {len(points) - 1}, not {rows.min()} to {rows.max()}.")
    low = points.min(0)
    extent = np.maximum(points.max(0) - low, np.finfo(np.float64).tiny)
    columns = np.minimum((points - low) / extent * side, side - 1).astype(np.int64)
    cells = columns[:, 0] * side + columns[:, 1]
    return float(100 * len(np.unique(cells[rows])) / len(np.unique(cells)))
