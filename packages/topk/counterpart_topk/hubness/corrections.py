"""Measures of hubness (k-occurrence, its skewness), and scores corrected for hubs (the inverted softmax and CSLS)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterpart_topk.hubness.score_blocks import MEMORY, Blocks, Matrix, Scores, best_both_ways, read, tiles, whole
from counterpart_topk.progress import Progress, silent

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


BETA = 30.0
NEIGHBOURS = 10


def inverted_softmax(similarity: ArrayLike, beta: float = BETA, leave_one_out: bool = False) -> NDArray[np.float64]:
    """Weigh each score by how close the item is to all queries: the softmax over queries (hubness paper, eq. 5).

    Args:
        similarity: (N, M).
        beta: the temperature, above 0.
        leave_one_out: divide by the sum over the *other* queries, as eq. 5 is printed. This is p / (1 - p) of the
            plain softmax p, so the order is the same; a ratio beyond float64 is infinite.

    Returns:
        (N, M); without ``leave_one_out`` every column sums to 1.

    Raises:
        ValueError: for a similarity that is not a matrix or holds NaN, beta <= 0, or only one query, which is left out.

    >>> inverted_softmax([[0.0, 1.0], [0.0, 1.0]], leave_one_out=True)
    array([[1., 1.],
           [1., 1.]])
    """
    blocks = LogInvertedSoftmax(Matrix(similarity), beta, leave_one_out=leave_one_out)
    with np.errstate(over="ignore"):
        return np.exp(whole(blocks))


def csls(similarity: ArrayLike, k: int = NEIGHBOURS) -> NDArray[np.float64]:
    """Return 2s minus the mean of the item's k nearest queries and that of the query's k nearest items (eq. 6).

    Eq. 6 subtracts only the item's mean when queries look for items, and only the query's when items look for queries;
    a query's own mean is the same for all its items and changes no ranking, so both are subtracted.

    Args:
        similarity: (N, M).
        k: 1 to min(N, M).

    Returns:
        (N, M).

    Raises:
        ValueError: for a similarity that is not a matrix or holds NaN, or k out of range.

    >>> csls([[0.75, 0.5], [0.25, 0.0]], k=1)
    array([[ 0.  , -0.25],
           [-0.5 , -0.75]])
    """
    return whole(Csls(Matrix(similarity), k))


class LogInvertedSoftmax:
    """The logarithm of the inverted softmax, block by block; its order is that of the inverted softmax.

    Each item's sum over queries is kept in two parts, the largest term and the rest, so that the largest query can
    be left out without subtracting nearly equal numbers; any other query's term is at most half of the sum.
    """

    def __init__(
        self,
        of: Blocks,
        beta: float = BETA,
        *,
        leave_one_out: bool = True,
        memory: int = MEMORY,
        progress: Progress = silent,
    ) -> None:
        """Read all scores once. Raises ValueError as ``inverted_softmax`` does."""
        if not 0 < beta < np.inf:
            raise ValueError(f"Invalid temperature beta {beta}: use a number above 0.")
        if leave_one_out and of.shape[0] < 2:
            raise ValueError("The inverted softmax without the query itself needs at least two queries.")
        self.shape = of.shape
        self._of = of
        self._beta = beta
        self._leave_one_out = leave_one_out
        self._largest = np.full(of.shape[1], -np.inf)
        self._largest_row = np.zeros(of.shape[1], dtype=np.int64)
        self._rest = np.full(of.shape[1], -np.inf)
        for rows, columns in tiles(of, memory):
            self._add(self._terms(rows, columns), rows.start, columns)
            progress("weighing items by all queries", rows.stop, of.shape[0])
        self._total = np.logaddexp(self._largest, self._rest)

    def block(self, rows: slice, columns: slice) -> Scores:
        terms = self._terms(rows, columns)
        total = self._total[columns]
        if not self._leave_one_out:
            return terms - total
        with np.errstate(divide="ignore"):
            others = total + np.log1p(-np.exp(terms - total))
        is_largest = np.arange(rows.start, rows.stop)[:, None] == self._largest_row[columns]
        return terms - np.where(is_largest, self._rest[columns], others)

    def _terms(self, rows: slice, columns: slice) -> NDArray[np.float64]:
        scores = read(self._of, rows, columns)
        if not np.isfinite(scores).all():
            raise ValueError("The inverted softmax needs finite scores.")
        return self._beta * scores.astype(np.float64)

    def _add(self, terms: NDArray[np.float64], first_row: int, columns: slice) -> None:
        """Add a tile: the larger of the two maxima is kept apart, all other terms join the rest."""
        row = terms.argmax(0)
        largest = np.take_along_axis(terms, row[None], 0)[0]
        np.put_along_axis(terms, row[None], -np.inf, 0)
        rest = _log_sum(terms)
        known = self._largest[columns]
        known_row = self._largest_row[columns]
        smaller = np.minimum(largest, known)
        self._rest[columns] = np.logaddexp(np.logaddexp(self._rest[columns], rest), smaller)
        self._largest_row[columns] = np.where(largest > known, row + first_row, known_row)
        self._largest[columns] = np.maximum(largest, known)


class Csls:
    """CSLS, block by block."""

    def __init__(self, of: Blocks, k: int = NEIGHBOURS, *, memory: int = MEMORY, progress: Progress = silent) -> None:
        """Read all scores once. Raises ValueError as ``csls`` does."""
        n, m = of.shape
        if not 1 <= k <= min(n, m):
            raise ValueError(f"CSLS needs k between 1 and {min(n, m)}, the smaller of queries and items, not {k}.")
        self.shape = of.shape
        self._of = of
        by_row, by_column = best_both_ways(of, k, memory=memory, step="averaging neighbourhoods", progress=progress)
        self.row_means = by_row.lists()[1].mean(1)
        self.column_means = by_column.lists()[1].mean(1)

    def block(self, rows: slice, columns: slice) -> Scores:
        scores = 2 * read(self._of, rows, columns).astype(np.float64)
        scores -= self.row_means[rows, None]
        scores -= self.column_means[columns]
        return scores


def _log_sum(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """log of the sum of exp of each column; terms may be -inf."""
    anchor = terms.max(0)
    anchor[np.isneginf(anchor)] = 0
    terms -= anchor
    with np.errstate(divide="ignore"):
        total: NDArray[np.float64] = anchor + np.log(np.exp(terms, out=terms).sum(0))
    return total
