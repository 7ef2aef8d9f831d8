"""Kernels over bags of words: cosines of weighted word counts, and the nearest-neighbour system's F1."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mitl.classical.documents import Documents
from mitl.words import unit_rows


def normalised(
    kernel: NDArray[np.float64], left: NDArray[np.float64], right: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Divide a kernel (n, m) by the geometric means of what its items give with themselves, ``left`` (n,) and
    ``right`` (m,) (section 3.4.3). What gives 0 with itself stays at 0."""
    scale = np.sqrt(left)[:, None] * np.sqrt(right)[None, :]
    return np.divide(kernel, scale, out=np.zeros_like(kernel), where=scale > 0)


Matrix = NDArray[np.float64]


class BagOfWords:
    """BoW: the cosine of two documents' word counts, each count times its word's weight (section 3.4.1)."""

    def __init__(self, weights: NDArray[np.float64]) -> None:
        """``weights`` (V,): ones, the words' IDF, or its square root."""
        self._weights = weights

    def read(self, documents: Documents) -> sparse.csr_array:
        """Return a row a document, of length 1 or, without words, 0."""
        return unit_rows(documents.counts(len(self._weights)) @ sparse.diags_array(self._weights))

    def compare(self, left: sparse.csr_array, right: sparse.csr_array) -> Matrix:
        """Return the cosines (n, m)."""
        return (left @ right.T).toarray()


class Weighed(NamedTuple):
    """Word counts (D, V) and the weight of all words of each document (D,)."""

    counts: sparse.csr_array
    totals: NDArray[np.float64]


class WeightedF1:
    """The harmonic mean of precision and recall of two bags of words, every word counting by its weight (section 3.1).

    With o the weight of what both have, 2 o / (|s| + |t|): the same whichever of them is taken for the truth. It is a
    similarity and no kernel.
    """

    def __init__(self, weights: NDArray[np.float64]) -> None:
        """``weights`` (V,): the words' IDF."""
        self._weights = weights

    def read(self, documents: Documents) -> Weighed:
        """Return the documents as ``compare`` takes them."""
        counts = documents.counts(len(self._weights))
        return Weighed(counts, counts @ self._weights)

    def compare(self, left: Weighed, right: Weighed) -> Matrix:
        """Return the F1 of every two documents (n, m), 0 where neither has a word of any weight."""
        most = int(min(left.counts.max(), right.counts.max())) if left.counts.nnz and right.counts.nnz else 0
        both = np.zeros((len(left.totals), len(right.totals)))
        # The lesser of two counts is the number of heights that both reach.
        for height in range(1, most + 1):
            both += (_reaching(left.counts, height) @ (_reaching(right.counts, height) * self._weights).T).toarray()
        sums = left.totals[:, None] + right.totals[None, :]
        return np.divide(2 * both, sums, out=np.zeros_like(both), where=sums > 0)


def _reaching(counts: sparse.csr_array, height: int) -> sparse.csr_array:
    reaching = counts.copy()
    reaching.data = (counts.data >= height).astype(float)
    return reaching
