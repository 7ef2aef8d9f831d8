"""How differently annotators rank: the two figures of table A.1 over their ranked lists. Pure arrays.

An annotator's lists are (Q, k) whole numbers: row q holds the items found for query q, best first, each once; shorter
lists are padded with 0. Several annotators' lists are one array (n, Q, k), with the same query in row q of all.

An item that is in one list only has no rank in the other; the paper does not define this case. The policy ``absent``
does: ``last`` ranks all such items k + 1, after the list; ``left-out`` compares shared items only.
"""

from typing import Literal, get_args

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

Absent = Literal["last", "left-out"]
POLICIES: tuple[Absent, ...] = get_args(Absent)


def rank_correlations(lists: ArrayLike, *, absent: Absent = "last") -> NDArray[np.float64]:
    """Return Kendall's tau-b between every two annotators' lists, the mean over queries (ECCV Caption, table A.1a).

    With ``absent="last"`` a query's tau-b is over the union of the two lists. A query for which it is undefined
    (fewer than two items to compare, or all of them tied in one list) is left out of the mean.

    Args:
        lists: (n, Q, k) as above.

    Returns:
        (n, n), symmetric; 1 = the same order, -1 = reversed; NaN where no query defines it.

    Raises:
        ValueError: for another shape, other numbers than whole ones, or an unknown policy.
    """
    found = _checked(lists, absent)
    taus = _taus(found, absent == "last")
    defined = ~np.isnan(taus)
    with np.errstate(invalid="ignore"):
        mean: NDArray[np.float64] = np.where(defined, taus, 0).sum(2) / defined.sum(2)
    return mean


def first_place_ranks(lists: ArrayLike, *, absent: Absent = "last") -> NDArray[np.float64]:
    """Return the mean rank of one annotator's first item in another's list (ECCV Caption, table A.1b).

    With ``absent="left-out"`` the mean is over the queries whose first item the other list holds.

    Args:
        lists: (n, Q, k) as above.

    Returns:
        (n, n): row: first items; column: lists; from 1, on the diagonal, to k + 1, for items in no list.

    Raises:
        ValueError: as ``rank_correlations``.
    """
    found = _checked(lists, absent)
    n, _, k = found.shape
    means = np.empty((n, n))
    for one in range(n):
        first = found[one, :, :1]
        there = (found == first) & (first != 0)
        ranks = np.where(there.any(2), there.argmax(2) + 1.0, k + 1.0 if absent == "last" else np.nan)
        ranks[:, first[:, 0] == 0] = np.nan
        counted = ~np.isnan(ranks)
        with np.errstate(invalid="ignore"):
            means[one] = np.where(counted, ranks, 0).sum(1) / counted.sum(1)
    return means


def _checked(lists: ArrayLike, absent: str) -> NDArray[np.int64]:
    found = np.asarray(lists)
    if found.ndim != 3 or 0 in found.shape or found.dtype.kind not in "iu":
        raise ValueError(f"Lists must be whole numbers (annotators, queries, k), not {found.dtype} {found.shape}.")
    if absent not in POLICIES:
        raise ValueError(f"Unknown policy {absent!r} for absent items; choose {' or '.join(POLICIES)}.")
    return found.astype(np.int64)


@njit(cache=True)
def _taus(lists, last):  # type: ignore[no-untyped-def]
    """tau-b of every two annotators for every query: (n, n, Q)."""
    n, queries, _ = lists.shape
    taus = np.ones((n, n, queries))
    for one in range(n):
        for other in range(one, n):
            for q in range(queries):
                taus[one, other, q] = taus[other, one, q] = _tau(lists[one, q], lists[other, q], last)
    return taus


@njit(cache=True)
def _tau(one, other, last):  # type: ignore[no-untyped-def]
    """tau-b of two lists: concordant minus discordant pairs over the mean count of pairs untied in each."""
    x, y = _ranks(one, other, last)
    agreement = 0
    untied_x = 0
    untied_y = 0
    for i in range(len(x)):
        for j in range(i):
            by_x = np.sign(x[i] - x[j])
            by_y = np.sign(y[i] - y[j])
            agreement += by_x * by_y
            untied_x += by_x != 0
            untied_y += by_y != 0
    if untied_x == 0 or untied_y == 0:
        return np.nan
    return agreement / np.sqrt(float(untied_x) * float(untied_y))


@njit(cache=True)
def _ranks(one, other, last):  # type: ignore[no-untyped-def]
    """Return the ranks that the items of either list (or of both) have in each of the two."""
    k = len(one)
    x = np.empty(2 * k, np.int64)
    y = np.empty(2 * k, np.int64)
    n = 0
    for rank in range(k):
        place = _place(other, one[rank])
        if one[rank] != 0 and (last or place < k):
            x[n] = rank
            y[n] = place
            n += 1
    for rank in range(k):
        if last and other[rank] != 0 and _place(one, other[rank]) == k:
            x[n] = k
            y[n] = rank
            n += 1
    return x[:n], y[:n]


@njit(cache=True)
def _place(items, item):  # type: ignore[no-untyped-def]
    for place in range(len(items)):
        if items[place] == item:
            return place
    return len(items)
