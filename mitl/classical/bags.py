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
    """Divide a kernel (n, m) by the geometric means of its items' values with themselves, ``left`` (n,) and ``right``
    (m,) (section 3.4.3). Items with the value 0 stay at 0."""
    scale = np.sqrt(left)[:, None] * np.sqrt(right)[None, :]
    return np.divide(kernel, scale, out=np.zeros_like(kernel), where=scale > 0)


Matrix = NDArray[np.float64]


class BagOfWords:
    """BoW: the cosine of two documents' word counts, each count times its word's weight (section 3.4.1)."""

    def __init__(self, weights: NDArray[np.float64]) -> None:
        """``weights`` (V,): ones, the words' IDF, or its square root."""
        self._weights = weights

    def read(self, documents: Documents) -> sparse.csr_array:
        """Return a row per document, of length 1, or 0 without words."""
        return unit_rows(documents.counts(len(self._weights)) @ sparse.diags_array(self._weights))

    def compare(self, left: sparse.csr_array, right: sparse.csr_array) -> Matrix:
        """Return the cosines (n, m)."""
        return (left @ right.T).toarray()


class Weighed(NamedTuple):
    """Word counts (D, V) and the weight of all words of each document (D,)."""

    counts: sparse.csr_array
    totals: NDArray[np.float64]


class WeightedF1:
    """The harmonic mean of precision and recall of two bags of words, every word with its weight (section 3.1).

    With o the weight of the common words, 2 o / (|s| + |t|), which is symmetric. It is a similarity, not a kernel.
    """

    def __init__(self, weights: NDArray[np.float64]) -> None:
        """``weights`` (V,): the words' IDF."""
        self._weights = weights

    def read(self, documents: Documents) -> Weighed:
        """Return the documents as ``compare`` takes them."""
        counts = documents.counts(len(self._weights))
        return Weighed(counts, counts @ self._weights)

    def compare(self, left: Weighed, right: Weighed) -> Matrix:
        """Return the F1 of every two documents (n, m), 0 if neither has a word with a weight."""
        most = int(min(left.counts.max(), right.counts.max())) if left.counts.nnz and right.counts.nnz else 0
        both = np.zeros((len(left.totals), len(right.totals)))
        # The smaller of two counts is the number of thresholds that both reach.
        for threshold in range(1, most + 1):
            both += (
                _reaching(left.counts, threshold) @ (_reaching(right.counts, threshold) * self._weights).T
            ).toarray()
        sums = left.totals[:, None] + right.totals[None, :]
        return np.divide(2 * both, sums, out=np.zeros_like(both), where=sums > 0)


def _reaching(counts: sparse.csr_array, threshold: int) -> sparse.csr_array:
    reaching = counts.copy()
    reaching.data = (counts.data >= threshold).astype(float)
    return reaching
