"""The TagRank kernel of Hwang and Grauman: early words of a sentence weigh more (section 3.4.2)."""

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from counterpart_annotators.classical.documents import Documents, Numbers, normalised

Matrix = NDArray[np.float64]
MOST_MEASURED = 1000  # sentences, for the normalisation terms


class Ranked(NamedTuple):
    """The words of each sentence, each once and by rising id, with both of their ranks; the starts of sentences among
    the words and of documents among the sentences, as in ``Documents``."""

    ids: Numbers
    absolute: NDArray[np.float64]
    relative: NDArray[np.float64]
    sentences: Numbers
    documents: Numbers


class ReadTags(NamedTuple):
    """Documents as the kernel compares them, and the value of each with itself (D,)."""

    ranked: Ranked
    own: NDArray[np.float64]


class Positions(NamedTuple):
    """Positions of words in the training sentences, rising for each word: those of word w are
    ``positions[starts[w] : starts[w + 1]]``, counted from 1."""

    starts: Numbers
    positions: Numbers


class TagRank:
    """The mean of two chi-square kernels over absolute and relative tag ranks, averaged over all pairs of sentences.

    Absolute: 1 / log2(1 + p) at position p, averaged if a word occurs more than once. Relative: the share of the
    word's training occurrences with a position above p. A kernel is exp(-d / omega), d the sum of (x - y)^2 / (x + y)
    and omega the mean d between training sentences, of 1,000 evenly spread ones if there are more. The kernel is
    scaled so that a document has 1 with itself.
    """

    def __init__(self, known: Positions, omegas: NDArray[np.float64]) -> None:
        """``omegas`` (2,): the normalisation terms of the absolute and of the relative kernel."""
        self._known = known
        self._omegas = omegas

    @classmethod
    def learn(cls, training: Documents, n_words: int) -> "TagRank":
        """Learn the positions of words and the mean distances of sentences."""
        positions = _positions(training)
        order = np.lexsort((positions, training.words))
        starts = np.searchsorted(training.words[order], np.arange(n_words + 1))
        known = Positions(starts, positions[order])
        return cls(known, _mean_distances(_ranked(training, known)))

    @classmethod
    def open(cls, arrays: dict[str, NDArray]) -> "TagRank":
        """Return the kernel whose ``arrays`` are given."""
        return cls(Positions(arrays["position_starts"], arrays["positions"]), arrays["omegas"])

    @property
    def arrays(self) -> dict[str, NDArray]:
        """The learned values."""
        return {"position_starts": self._known.starts, "positions": self._known.positions, "omegas": self._omegas}

    def read(self, documents: Documents) -> ReadTags:
        """Return the documents as ``compare`` takes them."""
        ranked = _ranked(documents, self._known)
        return ReadTags(ranked, _own(ranked, self._omegas))

    def compare(self, left: ReadTags, right: ReadTags) -> Matrix:
        """Return the kernel of every two documents (n, m), between 0 and 1."""
        return normalised(_sums(left.ranked, right.ranked, self._omegas), left.own, right.own)


def _positions(documents: Documents) -> Numbers:
    starts = documents.sentences[:-1][documents.sentence_of_word]
    return np.arange(len(documents.words)) - starts + 1


def _ranked(documents: Documents, known: Positions) -> Ranked:
    n_words = len(known.starts) - 1
    in_sentences = documents.sentence_of_word * n_words + documents.words
    keys, where = np.unique(in_sentences, return_inverse=True)
    position = np.bincount(where, _positions(documents), len(keys)) / np.bincount(where, minlength=len(keys))
    ids = keys % n_words
    return Ranked(
        ids,
        1 / np.log2(1 + position),
        _share_after(ids, position, known),
        np.searchsorted(keys, np.arange(len(documents.sentences)) * n_words),
        documents.documents,
    )


def _mean_distances(sentences: Ranked) -> NDArray[np.float64]:
    last = len(sentences.sentences) - 2
    means = _means(sentences, np.unique(np.linspace(0, last, MOST_MEASURED).astype(np.int64)))
    means[means == 0] = 1  # all sentences are equal, and any value is right
    return means


@njit(cache=True)
def _share_after(ids, position, known):
    shares = np.zeros(len(ids))
    for number in range(len(ids)):
        positions = known.positions[known.starts[ids[number]] : known.starts[ids[number] + 1]]
        if len(positions):
            shares[number] = np.sum(positions > position[number]) / len(positions)
    return shares


@njit(cache=True)
def _distances(left, s, right, t):
    """Return both chi-square distances of sentences s and t: words are merged; a word of only one adds its rank."""
    absolute = 0.0
    relative = 0.0
    a = left.sentences[s]
    b = right.sentences[t]
    a_stop = left.sentences[s + 1]
    b_stop = right.sentences[t + 1]
    while a < a_stop or b < b_stop:
        if b == b_stop or (a < a_stop and left.ids[a] < right.ids[b]):
            absolute += left.absolute[a]
            relative += left.relative[a]
            a += 1
        elif a == a_stop or right.ids[b] < left.ids[a]:
            absolute += right.absolute[b]
            relative += right.relative[b]
            b += 1
        else:
            absolute += _chi_square(left.absolute[a], right.absolute[b])
            relative += _chi_square(left.relative[a], right.relative[b])
            a += 1
            b += 1
    return absolute, relative


@njit(cache=True)
def _chi_square(x, y):
    return (x - y) ** 2 / (x + y) if x + y > 0 else 0.0


@njit(cache=True)
def _means(sentences, some):
    absolute = 0.0
    relative = 0.0
    for s in some:
        for t in some:
            distances = _distances(sentences, s, sentences, t)
            absolute += distances[0]
            relative += distances[1]
    return np.array([absolute, relative]) / len(some) ** 2


@njit(cache=True)
def _sum(left, i, right, j, omegas):
    """Return the kernel summed over the pairs of sentences of two documents; sentences without words match nothing."""
    total = 0.0
    for s in range(left.documents[i], left.documents[i + 1]):
        for t in range(right.documents[j], right.documents[j + 1]):
            if left.sentences[s] < left.sentences[s + 1] and right.sentences[t] < right.sentences[t + 1]:
                absolute, relative = _distances(left, s, right, t)
                total += 0.5 * (np.exp(-absolute / omegas[0]) + np.exp(-relative / omegas[1]))
    return total


@njit(cache=True, parallel=True)
def _sums(left, right, omegas):
    sums = np.empty((len(left.documents) - 1, len(right.documents) - 1))
    for i in prange(sums.shape[0]):
        for j in range(sums.shape[1]):
            sums[i, j] = _sum(left, i, right, j, omegas)
    return sums


@njit(cache=True, parallel=True)
def _own(documents, omegas):
    own = np.empty(len(documents.documents) - 1)
    for i in prange(len(own)):
        own[i] = _sum(documents, i, documents, i, omegas)
    return own
