"""The truncated string kernel: word sequences of up to three words that two captions share, with gaps allowed.

Sections 3.4.3 and 3.5.1. A sequence of length l matches wherever its words occur in this order; a pair of matches
weighs 0.5^(2 l), and gaps cost nothing. With lexical similarities, two sequences match as well as their words, one by
one.

These similarities are learned from the captions of a collection (sections 3.5.3 to 3.5.6): distributional, and by
alignment of captions. The paper's third source, the British National Corpus, is not available here. Words are
represented by vectors, and the cosines of these are the word kernels.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray
from scipy import sparse

from counterpart_annotators.classical.documents import Documents, Numbers, normalised

Similarity = NDArray[np.float32]
FEWEST = 5  # occurrences that the distributional similarity needs, and a noun in alignments
FEWEST_VERBS = 25
NOUN_SHARE = 0.5
VERB_SHARE = 0.25
LEAST_COMPANY = 0.01  # smaller similarities count as 0
LEAST_ALIGNED = 0.05  # smaller ones count as 0
ROUNDS = 5  # of expectation and maximisation


def similarities(training: Documents) -> Similarity:
    """Return the word kernel of Tri5Sem, the larger of both similarities: (n, n) for the n words that occur five times
    or more, which must have the ids below n, as in ``vocabulary_of``. Memory: about 20 bytes an entry."""
    n = int(np.count_nonzero(np.bincount(training.words) >= FEWEST))
    frequent = training.only(training.words < n)
    return np.maximum(distributional(frequent, n), alignment_based(frequent, n))


def distributional(training: Documents, n_words: int) -> Similarity:
    """Return the cosines of words' positive pointwise mutual information, max(0, log2 P(w, v) / (P(w) P(v))), where P
    is the share of sentences, for words that occur in at least five of them, over such words."""
    sentences = training.each_sentence().counts(n_words).astype(bool).astype(np.float64).tocsc()
    frequent = np.flatnonzero(np.diff(sentences.indptr) >= FEWEST)
    sentences = sentences[:, frequent]
    share = np.diff(sentences.indptr) / sentences.shape[0]
    together = (sentences.T @ sentences).tocoo()
    ratio = together.data / sentences.shape[0] / (share[together.row] * share[together.col])
    together.data = np.maximum(0.0, np.log2(ratio))
    return _spread(_cosines(together.tocsr()), frequent, n_words, LEAST_COMPANY)


def alignment_based(training: Documents, n_words: int) -> Similarity:
    """Return the cosines of words' translation probabilities, learned by aligning the captions of each document.

    Nouns and verbs are aligned separately: entry v of word w's vector is Pn(v|w) Pn(w) + Pv(v|w) Pv(w), where Pn(w) and
    Pv(w) are the shares of its occurrences as noun and verb. Without a tagger, words with a participle's ending are
    verbs and all others nouns. Words that are nouns at least five times and half the time are aligned as nouns, those
    that are verbs at least 25 times and a quarter of the time as verbs.
    """
    verbs = np.bincount(training.words[training.verbs], minlength=n_words)
    every = np.bincount(training.words, minlength=n_words)
    share = np.divide(verbs, every, out=np.zeros(n_words), where=every > 0)
    as_noun = (every - verbs >= FEWEST) & (1 - share >= NOUN_SHARE)
    as_verb = (verbs >= FEWEST_VERBS) & (share >= VERB_SHARE)
    nouns = translations(training.only(~training.verbs & as_noun[training.words]), n_words)
    actions = translations(training.only(training.verbs & as_verb[training.words]), n_words)
    vectors = sparse.diags_array(1 - share) @ nouns + sparse.diags_array(share) @ actions
    known = np.flatnonzero(as_noun | as_verb)
    return _spread(_cosines(vectors.tocsr()[known]), known, n_words, LEAST_ALIGNED)


def translations(training: Documents, n_words: int) -> sparse.csr_array:
    """Learn IBM model 1 over all ordered pairs of captions of a document: P(v | w), (V, V), row w and column v.

    Every word of one caption is aligned to a word of the other, or to the empty word. Five rounds of expectation and
    maximisation, starting from equal probabilities. Memory: about 60 bytes a pair of words of two captions.
    """
    sources, targets, tokens = _alignable(training, n_words)
    links, link_of = np.unique(sources * n_words + targets, return_inverse=True)
    source_of = links // n_words
    probability = np.ones(len(links))
    for _ in range(ROUNDS):
        weight = probability[link_of]
        expected = weight / np.bincount(tokens, weight)[tokens]
        counts = np.bincount(link_of, expected, len(links))
        probability = counts / np.bincount(source_of, counts, n_words + 1)[source_of]
    table = sparse.coo_array((probability, (source_of, links % n_words)), shape=(n_words + 1, n_words))
    return table.tocsr()[:n_words]


def _alignable(training: Documents, n_words: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return all candidate alignments of words in two captions: source words, target words, and the number of the
    target's occurrence. Source ``n_words`` is the empty word."""
    nothing = np.empty(0, dtype=np.int64)
    sources = [nothing]
    targets = [nothing]
    tokens = [nothing]
    started = 0
    for source, target in _caption_pairs(training):
        candidates = np.append(source, n_words)
        sources.append(np.tile(candidates, len(target)))
        targets.append(np.repeat(target, len(candidates)))
        tokens.append(np.repeat(np.arange(started, started + len(target)), len(candidates)))
        started += len(target)
    return np.concatenate(sources), np.concatenate(targets), np.concatenate(tokens)


def _caption_pairs(training: Documents) -> Iterator[tuple[Numbers, Numbers]]:
    for start, stop in zip(training.documents, training.documents[1:], strict=False):
        captions = [training.words[slice(*training.sentences[s : s + 2])] for s in range(start, stop)]
        yield from (
            (source, target)
            for i, source in enumerate(captions)
            for j, target in enumerate(captions)
            if i != j and len(target)
        )


def _cosines(vectors: sparse.csr_array) -> NDArray[np.float64]:
    norms = np.sqrt(vectors.multiply(vectors).sum(axis=1))
    norms[norms == 0] = 1
    unit = sparse.diags_array(1 / norms) @ vectors
    return (unit @ unit.T).toarray()


def _spread(cosines: NDArray[np.float64], known: Numbers, n_words: int, least: float) -> Similarity:
    """Return the cosines of the known words among all words, without those below ``least``; every word has 1 with
    itself."""
    similarity = np.eye(n_words, dtype=np.float32)
    similarity[np.ix_(known, known)] = np.where(cosines < least, 0, cosines)
    similarity[known, known] = 1
    return similarity


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
