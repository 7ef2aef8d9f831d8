"""Measures of hubness: k-occurrence, its skewness, and the sum of skewness over depths and directions."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

DEPTHS = (1, 5, 10)


def k_occurrence(indices: ArrayLike, n_items: int) -> NDArray[np.int64]:
    """Count N_k: the number of queries' lists that contain each item.

    Args:
        indices: (Q, k) places of items, each at most once in a row; shorter lists are padded with -1.
        n_items: size of the gallery.

    Returns:
        (n_items,) counts.

    Raises:
        ValueError: for a shape other than (Q, k), or a place outside the gallery.

    >>> k_occurrence([[0, 2], [2, 1]], 4)
    array([1, 1, 2, 0])
    """
    places = np.asarray(indices)
    if places.ndim != 2 or (places.size and places.dtype.kind not in "iu"):
        raise ValueError(f"Lists must be whole numbers of shape (Q, k), not {places.dtype} of shape {places.shape}.")
    outside = int(((places < -1) | (places >= n_items)).sum())
    if outside:
        raise ValueError(f"{outside} places in the lists are outside the gallery of {n_items} items.")
    return np.bincount(places[places >= 0].astype(np.int64), minlength=n_items)


def skewness(counts: ArrayLike) -> float:
    """Return the skewness of N_k: mean cubed deviation over the cubed standard deviation, population moments.

    Hubness paper, eq. 7. Where all counts are equal there are no hubs and the ratio is 0/0: 0.0 is returned.

    Raises:
        ValueError: for no counts, or ones that are not finite.

    >>> skewness([0, 0, 0, 4])  # mean 1, variance 3, third moment 6
    1.1547005383792515
    """
    values = np.asarray(counts, dtype=np.float64).ravel()
    if not values.size or not np.isfinite(values).all():
        raise ValueError(f"Skewness needs one or more counts, all finite; there are {values.size}.")
    if values.min() == values.max():
        return 0.0
    deviations = values - values.mean()
    return float((deviations**3).mean() / (deviations**2).mean() ** 1.5)


def hs_sum(directions: Sequence[tuple[ArrayLike, int]], depths: Sequence[int] = DEPTHS) -> float:
    """Return hs-sum: the skewness of N_k summed over ``depths`` and over both directions (hubness paper, 4.1).

    Args:
        directions: the lists (Q, at least max(depths)) and the number of items of each direction.

    Raises:
        ValueError: for lists shorter than the deepest of ``depths``.
    """
    return sum(
        skewness(k_occurrence(_top(np.asarray(indices), k), n_items)) for indices, n_items in directions for k in depths
    )


def _top(indices: NDArray, k: int) -> NDArray:
    if indices.ndim != 2 or indices.shape[1] < k:
        raise ValueError(f"Lists of shape {indices.shape} are not {k} places deep.")
    return indices[:, :k]
