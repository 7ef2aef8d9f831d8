"""The text kernels of the paper by name, learned from the captions of a training set."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from counterpart_annotators.classical.documents import (
    BagOfWords,
    Documents,
    WeightedF1,
    inverse_document_frequencies,
    read_documents,
    vocabulary_of,
)
from counterpart_annotators.classical.tag_rank import TagRank
from counterpart_annotators.classical.trigrams import TrigramKernel
from counterpart_annotators.classical.word_similarities import COMPANIES, similarities

Arrays = dict[str, NDArray]
# Weight of a word: 1, the root of its IDF, its IDF; "usual" is the paper's choice for the kernel.
IDF = ("usual", "none", "root", "full")
USUAL_IDF = {"tri5sem": "root", "f1": "full"}
# Which words are alike, for string kernels: by aligned captions, and by their company.
ALIGN = ("usual", "no", "yes")
COMPANY = ("usual", *COMPANIES)
USUAL_PARTS = {"tri5": ("no", "none"), "tri5sem": ("yes", "caption")}
WEIGHTS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "none": np.ones_like,
    "root": np.sqrt,
    "full": np.positive,
}


class TextKernel(Protocol):
    """A similarity of documents, each read once."""

    def read(self, documents: Documents) -> Any:
        """Return documents as ``compare`` takes them."""

    def compare(self, left: Any, right: Any) -> NDArray[np.float64]:
        """Return the similarity of every two documents: (n, m), from 0 to 1; a document has 1 with itself."""


def learn_text(
    kind: str, texts: Sequence[Sequence[str]], idf: str = "usual", *, align: str = "usual", company: str = "usual"
) -> Arrays:
    """Learn a text kernel from the captions of N training images: ``texts`` (N,), one or more captions each.

    Args:
        kind: ``bow1``, ``bow5`` or ``f1`` (bags of words), ``tagrank``, ``tri5`` or ``tri5sem`` (string kernels).
        idf: one of IDF: a word counts 1, the square root of its IDF, or its IDF. TagRank has its own weights.
        align: one of ALIGN, whether words that describe the same thing in two captions are alike.
        company: one of COMPANY, whether words are alike that occur in the same captions, or with the same images.

    ``tri5`` with idf none or root, and all of the others, gives the sixteen cells of table 6. Only string kernels have
    similarities of words.
    """
    words = vocabulary_of(texts)
    documents = read_documents(texts, _places(words))
    weigh = WEIGHTS[USUAL_IDF.get(kind, "none") if idf == "usual" else idf]
    arrays: Arrays = {
        "words": np.array(words, dtype=np.str_),
        "word_weights": weigh(inverse_document_frequencies(documents, len(words))),
    }
    if kind == "tagrank":
        arrays |= TagRank.learn(documents, len(words)).arrays
    if kind in USUAL_PARTS:
        usual_align, usual_company = USUAL_PARTS[kind]
        alike = similarities(
            documents,
            company=usual_company if company == "usual" else company,
            align=(usual_align if align == "usual" else align) == "yes",
        )
        if alike.size:
            arrays["similarity"] = alike
    return arrays


class Text:
    """A learned text kernel and the words that it knows."""

    def __init__(self, kind: str, arrays: Arrays) -> None:
        """``arrays`` are what ``learn_text`` returned for this ``kind``."""
        self._places = _places(arrays["words"].tolist())
        self._weights = arrays["word_weights"]
        self._only_first = kind == "bow1"
        self.kernel = _kernel(kind, arrays)

    def documents(self, texts: Iterable[Sequence[str]]) -> Documents:
        """Read documents, each its sentences. BoW1 reads only the first sentence of each."""
        documents = read_documents(texts, self._places)
        return documents.first_sentences() if self._only_first else documents

    def has_weight(self, documents: Documents) -> NDArray[np.bool_]:
        """Return which documents have a word with a weight above 0: (D,)."""
        return documents.counts(len(self._weights)) @ self._weights > 0


def _kernel(kind: str, arrays: Arrays) -> TextKernel:
    if kind == "tagrank":
        return TagRank.open(arrays)
    if kind == "f1":
        return WeightedF1(arrays["word_weights"])
    if kind in USUAL_PARTS:
        return TrigramKernel(arrays["word_weights"], arrays.get("similarity", np.empty((0, 0), dtype=np.float32)))
    return BagOfWords(arrays["word_weights"])


def _places(words: Sequence[str]) -> dict[str, int]:
    return {word: place for place, word in enumerate(words)}
