"""How alike two words are: by their company, by aligned captions, and by a taxonomy (Hodosh et al. 2013, section 3.5).

Words are represented by vectors, and the cosines of these are the word kernels. The first two are learned from the
captions of a collection. The paper learns company from the British National Corpus too, which is not public: the
captions of an image, read as one text, are the wider company here.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from counterpart_annotators.classical.documents import Documents, Numbers

Similarity = NDArray[np.float32]
FEWEST = 5  # occurrences that the distributional similarity needs, and a noun in alignments
FEWEST_VERBS = 25
NOUN_SHARE = 0.5
VERB_SHARE = 0.25
LEAST_COMPANY = 0.01  # smaller similarities count as 0
LEAST_ALIGNED = 0.05  # smaller ones count as 0
ROUNDS = 5  # of expectation and maximisation, of each model
COMPANIES = {"none": (), "caption": ("caption",), "image": ("image",), "both": ("caption", "image")}
"""Texts in which the company of a word is counted: its caption, all captions of its image, or the mean of both."""


def similarities(training: Documents, *, company: str = "caption", align: bool = True) -> Similarity:
    """Return the word kernel of Tri5Sem or a part of it (table 6): the larger of the chosen similarities (section
    3.5.6).

    Args:
        company: one of COMPANIES, of the distributional similarity.
        align: whether the alignment-based similarity counts.

    Returns:
        (n, n) for the n words that occur five times or more, which must have the ids below n, as in ``vocabulary_of``;
        (0, 0) without any similarity. Memory: about 20 bytes an entry for each.
    """
    n = int(np.count_nonzero(np.bincount(training.words) >= FEWEST))
    frequent = training.only(training.words < n)
    around = [distributional(frequent, n, context) for context in COMPANIES[company]]
    chosen = [np.mean(around, axis=0, dtype=np.float32)] if around else []
    if align:
        chosen.append(alignment_based(frequent, n))
    return np.maximum.reduce(chosen) if chosen else np.empty((0, 0), dtype=np.float32)


def distributional(training: Documents, n_words: int, context: str = "caption") -> Similarity:
    """Return the cosines of words' positive pointwise mutual information, max(0, log2 P(w, v) / (P(w) P(v))), where P
    is the share of sentences (context ``caption``) or documents (``image``), for words that occur in at least five of
    them, over such words."""
    texts = training.each_sentence() if context == "caption" else training
    present = texts.counts(n_words).astype(bool).astype(np.float64).tocsc()
    frequent = np.flatnonzero(np.diff(present.indptr) >= FEWEST)
    present = present[:, frequent]
    share = np.diff(present.indptr) / present.shape[0]
    together = (present.T @ present).tocoo()
    ratio = together.data / present.shape[0] / (share[together.row] * share[together.col])
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
    """Learn IBM models 1 and 2 over all ordered pairs of captions of a document: P(v | w), (V, V), row w and column v.

    Every word of one caption is aligned to a word of the other, or to the empty word. Five rounds of expectation and
    maximisation of model 1, starting from equal probabilities, then five of model 2, in which the place of a word among
    m is aligned to each of l places with a probability of its own. Memory: about 80 bytes a pair of words of two
    captions.
    """
    found = _alignable(training, n_words)
    links, link_of = np.unique(found.sources * n_words + found.targets, return_inverse=True)
    source_of = links // n_words
    places, place_of = np.unique(found.places, return_inverse=True)
    group_of = np.unique(places // found.longest, return_inverse=True)[1]
    probability = np.ones(len(links))
    alignment = np.ones(len(places))
    for turn in range(2 * ROUNDS):
        weight = probability[link_of] * alignment[place_of]
        expected = weight / np.bincount(found.tokens, weight)[found.tokens]
        counts = np.bincount(link_of, expected, len(links))
        probability = counts / np.bincount(source_of, counts, n_words + 1)[source_of]
        if turn >= ROUNDS:
            aligned = np.bincount(place_of, expected, len(places))
            alignment = aligned / np.bincount(group_of, aligned)[group_of]
    table = sparse.coo_array((probability, (source_of, links % n_words)), shape=(n_words + 1, n_words))
    return table.tocsr()[:n_words]


class Alignable(NamedTuple):
    """All candidate alignments of words in two captions.

    ``sources`` and ``targets``: the words; source V is the empty word. ``tokens``: the number of the target's
    occurrence. ``places``: codes of the lengths of both captions, the target's place, and the source's, which is below
    ``longest``.
    """

    sources: Numbers
    targets: Numbers
    tokens: Numbers
    places: Numbers
    longest: int


def _alignable(training: Documents, n_words: int) -> Alignable:
    lengths = np.diff(training.sentences)
    longest = int(lengths.max(initial=0)) + 1
    document = training.document_of_sentence
    words_of_document = np.bincount(document, lengths, len(training))[document]
    captions_of_document = np.diff(training.documents)[document]
    # Each word of a caption meets all words of the others of its document, and the empty word once with each.
    meetings = int((lengths * (words_of_document - lengths + captions_of_document - 1)).sum())
    found = np.empty((4, meetings), dtype=np.int64)
    _fill(found, training.words, training.sentences, training.documents, n_words, longest)
    sources, targets, tokens, places = found
    return Alignable(sources, targets, tokens, places, longest)


@njit(cache=True)
def _fill(found, words, sentences, documents, empty, longest):
    at = 0
    token = 0
    for d in range(len(documents) - 1):
        for s in range(documents[d], documents[d + 1]):
            n = sentences[s + 1] - sentences[s]
            for t in range(documents[d], documents[d + 1]):
                m = sentences[t + 1] - sentences[t]
                for j in range(m if s != t else 0):
                    for i in range(n + 1):
                        found[0, at] = words[sentences[s] + i] if i < n else empty
                        found[1, at] = words[sentences[t] + j]
                        found[2, at] = token
                        found[3, at] = ((n * longest + m) * longest + j) * longest + i
                        at += 1
                    token += 1


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


def taxonomic(counts: Numbers, senses: Numbers, ancestors: sparse.csr_array) -> Similarity:
    """Return Lin's similarity (section 3.5.2): the cosines of words' vectors over the hypernyms of their first sense,
    with the entry 2 log P(h) / (log P(s) + log P(h)) for the hypernym h of sense s.

    P of a sense is the share of the occurrences whose word has the sense or a descendant of it. The taxonomy, WordNet
    in the paper, is the caller's.

    Args:
        counts: (n,) occurrences of each word.
        senses: (n,) its sense, or -1 for a word without one, which is like itself alone.
        ancestors: (S, S), whether sense h (column) is s (row) itself or a hypernym of it.
    """
    known = np.flatnonzero(senses >= 0)
    reached = ancestors[senses[known]].tocsr().astype(np.float64)
    share = (counts[known] @ reached) / counts[known].sum()
    information = -np.log(share, out=np.zeros_like(share), where=share > 0)
    rows = np.repeat(np.arange(len(known)), np.diff(reached.indptr))
    own = information[senses[known]][rows]
    above = information[reached.indices]
    reached.data = np.divide(2 * above, own + above, out=np.zeros_like(above), where=own + above > 0)
    return _spread(_cosines(reached), known, len(counts), 0.0)


def most_alike(similarity: Similarity, words: Sequence[str], word: str, n: int = 5) -> list[tuple[str, float]]:
    """Return the ``n`` words most similar to a word, but for itself, with their similarity above 0; equal ones in the
    order of ``words`` (figure 3).

    Raises ValueError for a word that ``similarity``, of the first words, does not have.
    """
    known = list(words[: len(similarity)])
    if word not in known:
        raise ValueError(f"{word!r} is not one of the {len(known):,} words that have similarities.")
    row = np.array(similarity[known.index(word)], dtype=np.float64)
    row[known.index(word)] = 0
    return [(known[place], float(row[place])) for place in np.argsort(-row, kind="stable")[:n] if row[place] > 0]
