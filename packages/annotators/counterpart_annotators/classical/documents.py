"""Texts as numbers: documents of one or more sentences, each a sequence of word ids; kernels over their bags."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from counterpart_annotators.bags import common_weights, unit_rows
from counterpart_annotators.words import content_words, tagged_words

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Documents:
    """D documents of S sentences of T words.

    Document d consists of the sentences ``documents[d]`` to ``documents[d + 1]``, sentence s of the words
    ``sentences[s]`` to ``sentences[s + 1]`` in ``words`` (T,); ``verbs`` (T,) marks words that look like verbs.
    """

    words: Numbers
    verbs: NDArray[np.bool_]
    sentences: Numbers
    documents: Numbers

    def __len__(self) -> int:
        return len(self.documents) - 1

    @property
    def document_of_sentence(self) -> Numbers:
        """The document of each sentence, (S,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.documents))

    @property
    def sentence_of_word(self) -> Numbers:
        """The sentence of each word, (T,)."""
        return np.repeat(np.arange(len(self.sentences) - 1), np.diff(self.sentences))

    def pick(self, places: Sequence[int] | Numbers) -> "Documents":
        """Return the documents at ``places``, in that order."""
        sentences = _runs(self.documents, np.asarray(places, dtype=np.int64))
        words = _runs(self.sentences, sentences)
        return Documents(
            self.words[words],
            self.verbs[words],
            _ends(np.diff(self.sentences)[sentences]),
            _ends(np.diff(self.documents)[places]),
        )

    def first_sentences(self) -> "Documents":
        """Return the documents cut to their first sentence; every document must have one."""
        firsts = self.documents[:-1]
        words = _runs(self.sentences, firsts)
        ends = _ends(np.diff(self.sentences)[firsts])
        return Documents(self.words[words], self.verbs[words], ends, np.arange(len(self) + 1))

    def only(self, wanted: NDArray[np.bool_]) -> "Documents":
        """Return the documents without the words that are not ``wanted`` (T,)."""
        before = _ends(wanted.astype(np.int64))
        return Documents(self.words[wanted], self.verbs[wanted], before[self.sentences], self.documents)

    def each_sentence(self) -> "Documents":
        """Return every sentence as a separate document."""
        return Documents(self.words, self.verbs, self.sentences, np.arange(len(self.sentences)))

    def to_arrays(self, prefix: str) -> dict[str, NDArray]:
        """Return the arrays that ``from_arrays`` takes, named ``prefix`` and their own name."""
        return {f"{prefix}_{part.name}": getattr(self, part.name) for part in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray], prefix: str) -> "Documents":
        """Return the documents that ``to_arrays`` returned with this prefix."""
        return cls(*(arrays[f"{prefix}_{part.name}"] for part in fields(cls)))

    def counts(self, n_words: int) -> sparse.csr_array:
        """Return how often each document has each word: (D, n_words)."""
        rows = self.document_of_sentence[self.sentence_of_word]
        ones = np.ones(len(rows))
        return sparse.coo_array((ones, (rows, self.words)), shape=(len(self), n_words)).tocsr()


def read_documents(texts: Iterable[Sequence[str]], places: Mapping[str, int]) -> Documents:
    """Read documents, each given as its sentences; words without a place are left out."""
    words: list[int] = []
    verbs: list[bool] = []
    sentence_lengths: list[int] = []
    document_lengths: list[int] = []
    for sentences in texts:
        document_lengths.append(len(sentences))
        for sentence in sentences:
            known = [(places[stem], verb) for stem, verb in tagged_words(sentence) if stem in places]
            words += [word for word, _ in known]
            verbs += [verb for _, verb in known]
            sentence_lengths.append(len(known))
    lengths = (np.array(each, dtype=np.int64) for each in (sentence_lengths, document_lengths))
    return Documents(np.array(words, dtype=np.int64), np.array(verbs, dtype=bool), *map(_ends, lengths))


def vocabulary_of(texts: Iterable[Sequence[str]]) -> list[str]:
    """Return the stems of all content words of all sentences, the frequent ones first, equally frequent ones sorted."""
    counts = Counter(stem for sentences in texts for sentence in sentences for stem in content_words(sentence))
    return sorted(counts, key=lambda stem: (-counts[stem], stem))


def inverse_document_frequencies(documents: Documents, n_words: int) -> NDArray[np.float64]:
    """Return each word's IDF, log(D / (D(w) + 1)), and 0 where that is negative, for a word of all documents (section
    3.1).

    D(w) is the number of documents (images) in whose captions the word occurs.
    """
    document_counts = np.diff(documents.counts(n_words).tocsc().indptr)
    return np.maximum(0.0, np.log(len(documents) / (document_counts + 1)))


def _ends(lengths: Numbers) -> Numbers:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _runs(starts: Numbers, places: Numbers) -> Numbers:
    """Return the numbers ``starts[p]`` to ``starts[p + 1]`` of every place p, concatenated."""
    runs = [np.arange(starts[place], starts[place + 1]) for place in places]
    return np.concatenate([np.empty(0, dtype=np.int64), *runs])


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
        both = common_weights(left.counts, right.counts, self._weights)
        sums = left.totals[:, None] + right.totals[None, :]
        return np.divide(2 * both, sums, out=np.zeros_like(both), where=sums > 0)
