"""Sparse bags of weighted words or phrases."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from counterpart_annotators.words import words_of


def phrases_of(text: str, longest: int) -> list[str]:
    """Return all runs of 1 to ``longest`` words."""
    words = words_of(text, singles=True)
    return [
        " ".join(words[start : start + length])
        for length in range(1, longest + 1)
        for start in range(len(words) - length + 1)
    ]


def bags(texts: Sequence[str], places: Mapping[str, int], longest: int = 1) -> sparse.csr_array:
    """Count the known phrases of each text: float32 (texts, len(places)); phrases without a place are left out."""
    columns: list[int] = []
    counts: list[int] = []
    ends = [0]
    for text in texts:
        known = Counter(places[phrase] for phrase in phrases_of(text, longest) if phrase in places)
        columns.extend(known.keys())
        counts.extend(known.values())
        ends.append(len(columns))
    data = np.array(counts, dtype=np.float32), np.array(columns, dtype=np.int32), np.array(ends, dtype=np.int32)
    return sparse.csr_array(data, shape=(len(texts), len(places)))


def vocabulary(texts: Sequence[str], longest: int = 1, at_least: int = 1) -> dict[str, int]:
    """Give every phrase of ``at_least`` of the texts a place, in the order of the alphabet."""
    used = Counter(phrase for text in texts for phrase in set(phrases_of(text, longest)))
    return {phrase: place for place, phrase in enumerate(sorted(p for p, n in used.items() if n >= at_least))}


def inverse_frequencies(counts: sparse.csr_array) -> NDArray[np.float32]:
    """Return the IDF of each column, ln(1 + texts / texts that have it)."""
    used = np.bincount(counts.indices, minlength=counts.shape[1])
    return np.log1p(counts.shape[0] / np.maximum(used, 1)).astype(np.float32)


def lengths(vectors: sparse.csr_array) -> NDArray[np.float32]:
    """Return the Euclidean length of each row."""
    return np.sqrt(vectors.multiply(vectors).sum(axis=1))


def unit_rows(vectors: sparse.csr_array) -> sparse.csr_array:
    """Scale each row to length 1; rows of zeros stay."""
    norms = lengths(vectors)
    norms[norms == 0] = 1
    return (sparse.diags_array(1 / norms) @ vectors).tocsr()
