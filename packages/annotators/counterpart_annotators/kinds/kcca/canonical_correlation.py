"""Kernel canonical correlation analysis (KCCA), and Borda counts, which merge several rankings.

Hardoon, Szedmak and Shawe-Taylor (2004), as in section 3.2: partial Gram-Schmidt orthogonalisation turns either kernel
into a matrix of few columns, and ridge-regularised CCA of these solves
(Kx + kappa I)^-1 Ky (Ky + kappa I)^-1 Kx alpha = lambda^2 alpha.
Unlike in the paper's equation, both kernels are centred.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from counterpart_annotators.progress import Progress, silent
from counterpart_metrics.errors import CounterpartError

Matrix = NDArray[np.float64]
NEGLIGIBLE = 1e-6  # part of an item's kernel value with itself that counts as explained


@dataclass(frozen=True)
class Factor:
    """A kernel K (N, N) as G G' of few columns: ``features`` is G (N, r), ``pivots`` (r,) the places of its items."""

    features: Matrix
    pivots: NDArray[np.int64]

    @property
    def triangle(self) -> Matrix:
        """The pivots' rows of G (r, r), lower triangular."""
        return self.features[self.pivots]


def factorise(
    column: Callable[[int], Matrix], n: int, rank: int, *, step: str = "reading a kernel", progress: Progress = silent
) -> Factor:
    """Partial Gram-Schmidt: of ``n`` items, take the one that the others explain least, at most ``rank`` times.

    ``column(p)`` is column p of a kernel whose diagonal is 1. It ends early when all items are explained. With all n
    items G G' is K; if K is not positive semi-definite, as Tri5Sem's need not be, it is the part that is.
    Memory: 8 bytes x n x rank.
    """
    features = np.zeros((n, min(rank, n)), order="F")
    left = np.ones(n)
    pivots: list[int] = []
    for place in range(features.shape[1]):
        pivot = int(np.argmax(left))
        if left[pivot] <= NEGLIGIBLE:
            break
        known = features[:, :place]
        features[:, place] = (column(pivot) - known @ known[pivot]) / np.sqrt(left[pivot])
        features[pivots, place] = 0.0  # exact zeros, without rounding errors
        left -= features[:, place] ** 2
        pivots.append(pivot)
        progress(step, place + 1, features.shape[1])
    return Factor(features[:, : len(pivots)], np.array(pivots, dtype=np.int64))


def features_of(to_pivots: Matrix, triangle: Matrix) -> Matrix:
    """Return the rows of G (n, r) of further items, given their kernel with the pivots (n, r)."""
    if not len(to_pivots):
        return to_pivots
    return linalg.solve_triangular(triangle, to_pivots.T, lower=True).T


@dataclass(frozen=True)
class Projection:
    """The projection of one side: (features - mean) @ directions, (n, dim), the most correlated directions first."""

    mean: Matrix
    directions: Matrix

    def of(self, features: Matrix) -> NDArray[np.float32]:
        """Return unit rows (n, dim), whose inner products are the cosines of section 3.2.2."""
        projected = (features - self.mean) @ self.directions
        lengths = np.linalg.norm(projected, axis=1, keepdims=True)
        return np.divide(projected, lengths, out=np.zeros_like(projected), where=lengths > 0).astype(np.float32)


def correlate(x: Matrix, y: Matrix, regularisation: float) -> tuple[Projection, Projection, Matrix]:
    """Return both projections and the correlations lambda, descending, (min(r, s),).

    ``x`` (N, r) and ``y`` (N, s) are features of matching items, a row per pair; ``regularisation`` is kappa, above 0.
    Raises CounterpartError for fewer than two pairs.
    """
    if len(x) < 2:
        raise CounterpartError(f"Correlations need at least 2 pairs of an image and its captions, not {len(x)}.")
    means = x.mean(axis=0), y.mean(axis=0)
    x = x - means[0]
    y = y - means[1]
    x_root, y_root = (linalg.cholesky(side.T @ side + regularisation * np.eye(side.shape[1])) for side in (x, y))
    whitened = linalg.solve_triangular(x_root, x.T @ y, trans="T")
    whitened = linalg.solve_triangular(y_root, whitened.T, trans="T").T
    left, correlations, right = linalg.svd(whitened, full_matrices=False)
    directions = linalg.solve_triangular(x_root, left), linalg.solve_triangular(y_root, right.T)
    return Projection(means[0], directions[0]), Projection(means[1], directions[1]), correlations


def borda(rankings: NDArray[np.integer]) -> NDArray[np.int64]:
    """Merge S systems' rankings of the same N items (section 4.1.3).

    An item at place r, from 0, gets N - r points from a system. Items are sorted by their sum, equal sums by the lower
    median place, equal medians by the lower item.

    Args:
        rankings: (S, N), each row all items 0 to N - 1, best first.

    Returns:
        The items, best first, (N,).

    Raises ValueError for no rankings, or one that does not contain every item once.

    >>> borda(np.array([[0, 1, 2], [1, 0, 2], [1, 2, 0]])).tolist()
    [1, 0, 2]
    """
    if rankings.ndim != 2 or not len(rankings):
        raise ValueError(f"Rankings must be one row per system, not of shape {rankings.shape}.")
    places = np.empty(rankings.shape, dtype=np.int64)
    n = rankings.shape[1]
    if not np.array_equal(np.sort(rankings, axis=1), np.broadcast_to(np.arange(n), rankings.shape)):
        raise ValueError(f"A ranking must contain each of {n} items once.")
    np.put_along_axis(places, rankings, np.arange(n)[None, :], axis=1)
    points = (n - places).sum(axis=0)
    return np.lexsort((np.arange(n), np.median(places, axis=0), -points))
