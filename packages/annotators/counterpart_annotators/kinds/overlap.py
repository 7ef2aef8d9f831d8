"""Word overlap: a caption matches an image whose own captions use the same rare words. It never reads the picture."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from counterpart_annotators.bags import bags, inverse_frequencies, lengths, unit_rows, vocabulary
from counterpart_annotators.base import PairScorer, StoredAnnotator
from counterpart_annotators.plain import PlainCaption, PlainImage


def open_annotator(stored: StoredAnnotator, device: str) -> "OverlapScorer":
    """Return the annotator; it has no weights."""
    return OverlapScorer()


class OverlapScorer(PairScorer):
    """Scores a pair by the cosine of the caption's and the image's IDF-weighted bags of words."""

    looks_at_pictures = False

    def over(self, images: Sequence[PlainImage], captions: Sequence[PlainCaption]) -> "OverlapScores":
        """Prepare to score any pair of a gallery; every caption's own image must be in it."""
        place = {image.key: row for row, image in enumerate(images)}
        own = [place[caption.image] for caption in captions]
        return OverlapScores([caption.text for caption in captions], own, len(images))


class OverlapScores:
    """Scores of M captions and the N images that they were written for.

    A caption c is the vector of its word counts, each times the word's IDF, ln(1 + M / captions with the word). An
    image is the sum of its captions' vectors; for a pair of a caption and its own image, the sum of the *other*
    captions' vectors, so that no pair is found by its own words. The score is the cosine, 0 if either has no word.
    """

    def __init__(self, texts: Sequence[str], own_image: Sequence[int], n_images: int) -> None:
        """``own_image`` (M,) is the place of each caption's image."""
        self._own = np.asarray(own_image, dtype=np.int64)
        captions = bags(texts, vocabulary(texts))
        captions.data *= inverse_frequencies(captions)[captions.indices]
        ones = np.ones(len(texts), dtype=np.float32)
        membership = sparse.csr_array((ones, (self._own, np.arange(len(texts)))), shape=(n_images, len(texts)))
        images = (membership @ captions).tocsr()
        self._own_scores = _scores_without_own(captions, images[self._own])
        self._captions = unit_rows(captions)
        self._images = unit_rows(images)

    def block(self, images: NDArray[np.int64], captions: NDArray[np.int64]) -> NDArray[np.float32]:
        """Score images with captions, both named by their places: (n, m), between 0 and 1."""
        scores = (self._images[images] @ self._captions[captions].T).toarray()
        rows, columns = np.nonzero(images[:, None] == self._own[captions][None, :])
        scores[rows, columns] = self._own_scores[captions[columns]]
        return scores


def _scores_without_own(captions: sparse.csr_array, own_images: sparse.csr_array) -> NDArray[np.float32]:
    """Return each caption's cosine with its own image without itself: <c, i - c> / (|c| |i - c|)."""
    others = (own_images - captions).tocsr()
    product = captions.multiply(others).sum(axis=1)
    norms = lengths(captions) * lengths(others)
    return np.divide(product, norms, out=np.zeros_like(product), where=norms > 0)
