"""How alike words are, as the captions of a collection tell: by their company, and by what they stand in for.

Sections 3.5.3 to 3.5.6. The paper's third source, the British National Corpus, is not here. Words are compared as
vectors, and the cosines of these are the word kernels.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mitl.classical.documents import Documents, Numbers

Similarity = NDArray[np.float32]
FEWEST = 5  # occurrences of a word that is compared by its company, or as a noun
FEWEST_VERBS = 25
NOUN_SHARE, VERB_SHARE = 0.5, 0.25
LEAST_COMPANY, LEAST_ALIGNED = 0.01, 0.05  # similarities below are taken for none
ROUNDS = 5  # of expectation and maximisation


def similarities(training: Documents) -> Similarity:
    """Return the word kernel of Tri5Sem, the greater of both similarities: (n, n) for the n words that stand five times
    or more, which must have the ids below n, as ``vocabulary_of`` deals them. Memory: some 20 bytes an entry."""
    n = int(np.count_nonzero(np.bincount(training.words) >= FEWEST))
    frequent = training.only(training.words < n)
    return np.maximum(distributional(frequent, n), alignment_based(frequent, n))


def distributional(training: Documents, n_words: int) -> Similarity:
    """The cosine of words' positive pointwise mutual information, max(0, log2 P(w, v) / (P(w) P(v))), P being the
    share of sentences: of words that stand in five of them, over such words."""
    sentences = training.each_sentence().counts(n_words).astype(bool).astype(np.float64).tocsc()
    frequent = np.flatnonzero(np.diff(sentences.indptr) >= FEWEST)
    sentences = sentences[:, frequent]
    share = np.diff(sentences.indptr) / sentences.shape[0]
    together = (sentences.T @ sentences).tocoo()
    ratio = together.data / sentences.shape[0] / (share[together.row] * share[together.col])
    together.data = np.maximum(0.0, np.log2(ratio))
    return _spread(_cosines(together.tocsr()), frequent, n_words, LEAST_COMPANY)


def alignment_based(training: Documents, n_words: int) -> Similarity:
    """The cosine of words' translation probabilities, learned by aligning the captions of one document.

    Nouns and verbs are aligned apart: Pn(v|w) Pn(w) + Pv(v|w) Pv(w) is entry v of word w's vector, Pn(w) and Pv(w)
    being how often it is the one or the other. Without a tagger, what ends like a participle is a verb and all else a
    noun. Words that are nouns five times and half the time are aligned as nouns, those that are verbs 25 times and a
    quarter of the time as verbs.
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

    Every word of the one caption comes of a word of the other, or of none, which any caption has. Five rounds of
    expectation and maximisation from equal chances. Memory: some 60 bytes a pair of words of two captions.
    """
    sources, targets, tokens = _alignable(training, n_words)
    links, link_of = np.unique(sources * n_words + targets, return_inverse=True)
    source_of = links // n_words
    chance = np.ones(len(links))
    for _ in range(ROUNDS):
        weight = chance[link_of]
        expected = weight / np.bincount(tokens, weight)[tokens]
        counts = np.bincount(link_of, expected, len(links))
        chance = counts / np.bincount(source_of, counts, n_words + 1)[source_of]
    table = sparse.coo_array((chance, (source_of, links % n_words)), shape=(n_words + 1, n_words))
    return table.tocsr()[:n_words]


def _alignable(training: Documents, n_words: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return all words that each word of a caption may come of, in another caption, and the word itself: sources,
    targets, and which occurrence of the target it is. Source ``n_words`` is none."""
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
    """Set the cosines of the known words among all, less what is below ``least``; any word is 1 with itself."""
    similarity = np.eye(n_words, dtype=np.float32)
    similarity[np.ix_(known, known)] = np.where(cosines < least, 0, cosines)
    similarity[known, known] = 1
    return similarity
