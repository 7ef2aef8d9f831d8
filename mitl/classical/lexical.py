"""Lexical similarity, learned from the captions of a collection: distributional, and by alignment of captions.

Sections 3.5.3 to 3.5.6. The paper's third source, the British National Corpus, is not available here. Words are
represented by vectors, and the cosines of these are the word kernels.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mitl.classical.documents import Documents, Numbers

Similarity = NDArray[np.float32]
FEWEST = 5  # occurrences that the distributional similarity needs, and a noun in alignments
FEWEST_VERBS = 25
NOUN_SHARE, VERB_SHARE = 0.5, 0.25
LEAST_COMPANY, LEAST_ALIGNED = 0.01, 0.05  # smaller similarities count as 0
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
    sources, targets, tokens = [nothing], [nothing], [nothing]
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
