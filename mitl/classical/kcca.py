"""Kernel canonical correlation analysis: two kernels' spaces projected to where matching items lie together.

Hardoon, Szedmak and Shawe-Taylor (2004), as section 3.2 uses it: partial Gram-Schmidt orthogonalisation makes either
kernel a matrix of few columns, and ridge-regularised CCA of these solves
(Kx + kappa I)^-1 Ky (Ky + kappa I)^-1 Kx alpha = lambda^2 alpha.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from core.errors import CounterpartError
from core.progress import Progress, silent

Matrix = NDArray[np.float64]
NEGLIGIBLE = 1e-6  # of an item's own kernel: what is left of it is nothing new


@dataclass(frozen=True)
class Factor:
    """A kernel K (N, N) as G G' of few columns: ``features`` is G (N, r), ``pivots`` (r,) the places of the items that
    it was made from."""

    features: Matrix
    pivots: NDArray[np.int64]

    @property
    def triangle(self) -> Matrix:
        """The pivots' rows of G (r, r), lower triangular."""
        return self.features[self.pivots]


def factorise(
    column: Callable[[int], Matrix], n: int, rank: int, *, step: str = "reading a kernel", progress: Progress = silent
) -> Factor:
    """Partial Gram-Schmidt: of ``n`` items, take the one that the others explain least, ``rank`` times at most.

    ``column(p)`` is column p of a kernel whose diagonal is 1. It ends early where nothing new is left. With all n items
    G G' is K; where K is not positive semi-definite, as Tri5Sem's need not be, it is the part that is.
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
        features[pivots, place] = 0.0  # but for rounding
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
    """Where one side's features go: (features - mean) @ directions, (n, dim), the most correlated directions first."""

    mean: Matrix
    directions: Matrix

    def of(self, features: Matrix) -> NDArray[np.float32]:
        """Return unit rows (n, dim), whose inner products are the cosines of section 3.2.2."""
        projected = (features - self.mean) @ self.directions
        lengths = np.linalg.norm(projected, axis=1, keepdims=True)
        return np.divide(projected, lengths, out=np.zeros_like(projected), where=lengths > 0).astype(np.float32)

    def first(self, dim: int) -> "Projection":
        """Return the projection to the first ``dim`` directions."""
        return Projection(self.mean, self.directions[:, :dim])


def correlate(x: Matrix, y: Matrix, regularisation: float) -> tuple[Projection, Projection, Matrix]:
    """Return both projections and the correlations lambda, falling, (min(r, s),).

    ``x`` (N, r) and ``y`` (N, s) are features of matching items, a row a pair; ``regularisation`` is kappa, above 0.
    Raises CounterpartError where there are fewer than two pairs, which nothing can correlate.
    """
    if len(x) < 2:
        raise CounterpartError(f"Correlations need at least 2 pairs of an image and its captions, not {len(x)}.")
    means = x.mean(axis=0), y.mean(axis=0)
    x, y = x - means[0], y - means[1]
    x_root, y_root = (linalg.cholesky(side.T @ side + regularisation * np.eye(side.shape[1])) for side in (x, y))
    whitened = linalg.solve_triangular(x_root, x.T @ y, trans="T")
    whitened = linalg.solve_triangular(y_root, whitened.T, trans="T").T
    left, correlations, right = linalg.svd(whitened, full_matrices=False)
    directions = linalg.solve_triangular(x_root, left), linalg.solve_triangular(y_root, right.T)
    return Projection(means[0], directions[0]), Projection(means[1], directions[1]), correlations
