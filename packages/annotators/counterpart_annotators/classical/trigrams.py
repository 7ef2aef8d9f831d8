"""The truncated string kernel: word sequences of up to three words that two captions share, with gaps allowed.

Sections 3.4.3 and 3.5.1. A sequence of length l matches wherever its words occur in this order; a pair of matches
weighs 0.5^(2 l), and gaps cost nothing. With lexical similarities, two sequences match as well as their words, one by
one.

These similarities are those of ``word_similarities``.
"""

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from counterpart_annotators.classical.documents import Documents, Numbers, normalised

Matrix = NDArray[np.float64]
MATCH = 0.5  # lambda_m; lambda_g, the cost of gaps, is 1


class Sequences(NamedTuple):
    """Words, and the starts of sentences and documents, as in ``Documents``.

    ``previous`` (T,) is the place of the same word's last occurrence in the sentence, or -1.
    """

    words: Numbers
    previous: Numbers
    sentences: Numbers
    documents: Numbers


class ReadSequences(NamedTuple):
    """Documents as the kernel compares them, and the value of each with itself (D,)."""

    sequences: Sequences
    own: NDArray[np.float64]


class TrigramKernel:
    """K(s, s') = the sum over sequences w in s and w' in s', of equal length l up to 3, of m(s, w) m(s', w')
    sigma(w, w') 0.5^(2 l) sqrt(lambda(w) lambda(w')).

    m(s, w) counts the substrings of s that start with the first word of w, end with its last and contain the rest
    between them; sigma is the product of the words' similarities and lambda that of their weights. Documents are
    compared by the sum over their pairs of sentences, scaled so that a document has 1 with itself.

    As sigma and lambda are products over the words, so is all but m: a word pair's part is
    0.25 similarity sqrt(weight weight'), and a pair of sentences is summed without listing its sequences.
    """

    def __init__(self, weights: NDArray[np.float64], similarity: NDArray[np.float32]) -> None:
        """``weights`` (V,): the square root of each word's lambda. ``similarity`` (n, n): of the words below n to each
        other; all others are similar only to themselves."""
        self._weights = weights
        self._similarity = similarity

    def read(self, documents: Documents) -> ReadSequences:
        """Return the documents as ``compare`` takes them."""
        previous = _previous(documents.words, documents.sentences)
        sequences = Sequences(documents.words, previous, documents.sentences, documents.documents)
        return ReadSequences(sequences, _own(sequences, self._weights, self._similarity))

    def compare(self, left: ReadSequences, right: ReadSequences) -> Matrix:
        """Return the kernel of every two documents (n, m)."""
        sums = _sums(left.sequences, right.sequences, self._weights, self._similarity)
        return normalised(sums, left.own, right.own)


@njit(cache=True)
def _previous(words, sentences):
    previous = np.full(len(words), -1)
    for s in range(len(sentences) - 1):
        for place in range(sentences[s], sentences[s + 1]):
            for earlier in range(sentences[s], place):
                if words[earlier] == words[place]:
                    previous[place] = earlier - sentences[s]
    return previous


@njit(cache=True)
def _match(a, b, weights, similarity):
    """Return the factor of two words in a product: their weighted similarity."""
    if a < len(similarity) and b < len(similarity):
        return MATCH * MATCH * similarity[a, b] * weights[a] * weights[b]
    return MATCH * MATCH * weights[a] * weights[b] if a == b else 0.0


@njit(cache=True)
def _fill(matches, left, s, right, t, weights, similarity):
    start = left.sentences[s]
    other_start = right.sentences[t]
    for i in range(left.sentences[s + 1] - start):
        for j in range(right.sentences[t + 1] - other_start):
            matches[i, j] = _match(left.words[start + i], right.words[other_start + j], weights, similarity)


@njit(cache=True)
def _starting_with(i, j, matches, middles, previous, other_previous):
    """Sum over the pairs and triples that start with words i and j, without the factor of these two.

    ``middles[b]``: the sum over middle words, those of the left between i and the current row with those of the right
    between j and b. A middle word that is repeated gives the same sequence again, and counts once.
    """
    total = 0.0
    middles[j + 1 : len(other_previous)] = 0.0
    for a in range(i + 1, len(previous)):
        row = 0.0
        is_new = previous[a] <= i
        for b in range(j + 1, len(other_previous)):
            match = matches[a, b]
            total += match * (1.0 + middles[b])
            middles[b] += row
            if is_new and other_previous[b] <= j:
                row += match
    return total


@njit(cache=True)
def _between(left, s, right, t, weights, similarity, matches, middles):
    """Return the kernel of two sentences. ``matches`` and ``middles`` are work arrays."""
    _fill(matches, left, s, right, t, weights, similarity)
    previous = left.previous[left.sentences[s] : left.sentences[s + 1]]
    other_previous = right.previous[right.sentences[t] : right.sentences[t + 1]]
    total = 0.0
    for i in range(len(previous)):
        for j in range(len(other_previous)):
            if matches[i, j] > 0:
                total += matches[i, j] * (1.0 + _starting_with(i, j, matches, middles, previous, other_previous))
    return total


@njit(cache=True)
def _sum(left, i, right, j, weights, similarity, matches, middles):
    total = 0.0
    for s in range(left.documents[i], left.documents[i + 1]):
        for t in range(right.documents[j], right.documents[j + 1]):
            total += _between(left, s, right, t, weights, similarity, matches, middles)
    return total


@njit(cache=True)
def _longest(sequences):
    longest = 0
    for s in range(len(sequences.sentences) - 1):
        longest = max(longest, sequences.sentences[s + 1] - sequences.sentences[s])
    return longest


@njit(cache=True, parallel=True)
def _sums(left, right, weights, similarity):
    sums = np.empty((len(left.documents) - 1, len(right.documents) - 1))
    rows = _longest(left)
    columns = _longest(right)
    for i in prange(sums.shape[0]):
        matches = np.empty((rows, columns))
        middles = np.empty(columns)
        for j in range(sums.shape[1]):
            sums[i, j] = _sum(left, i, right, j, weights, similarity, matches, middles)
    return sums


@njit(cache=True, parallel=True)
def _own(documents, weights, similarity):
    own = np.empty(len(documents.documents) - 1)
    longest = _longest(documents)
    for i in prange(len(own)):
        matches = np.empty((longest, longest))
        middles = np.empty(longest)
        own[i] = _sum(documents, i, documents, i, weights, similarity, matches, middles)
    return own
