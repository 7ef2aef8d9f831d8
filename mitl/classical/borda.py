"""Borda counts: one ranking out of several."""

import numpy as np
from numpy.typing import NDArray


def borda(rankings: NDArray[np.integer]) -> NDArray[np.int64]:
    """Merge S systems' rankings of the same N items (section 4.1.3).

    An item at place r, from 0, gets N - r points of a system; the sum over the systems decides, of equal sums the
    lower median place, and of equal medians the lower item.

    Args:
        rankings: (S, N), each row all items 0 to N - 1, best first.

    Returns:
        The items, best first, (N,).

    Raises ValueError for no rankings, or one that does not name every item once.

    >>> borda(np.array([[0, 1, 2], [1, 0, 2], [1, 2, 0]])).tolist()
    [1, 0, 2]
    """
    if rankings.ndim != 2 or not len(rankings):
        raise ValueError(f"Rankings are one row a system, not of shape {rankings.shape}.")
    places = np.empty(rankings.shape, dtype=np.int64)
    n = rankings.shape[1]
    if not np.array_equal(np.sort(rankings, axis=1), np.broadcast_to(np.arange(n), rankings.shape)):
        raise ValueError(f"A ranking must name each of {n} items once.")
    np.put_along_axis(places, rankings, np.arange(n)[None, :], axis=1)
    points = (n - places).sum(axis=0)
    return np.lexsort((np.arange(n), np.median(places, axis=0), -points))
