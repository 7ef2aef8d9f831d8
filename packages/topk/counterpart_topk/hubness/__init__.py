"""Hubs: items in far too many queries' lists. Measures of hubness, and corrections against it.

Similarities are float arrays, rows = queries, columns = items. Pure arrays, after *Improved Text-Image Matching by
Mitigating Visual Semantic Hubs* (the hubness paper).
"""

from counterpart_topk.hubness.corrections import (
    DEPTHS,
    Csls,
    LogInvertedSoftmax,
    csls,
    hs_sum,
    inverted_softmax,
    k_occurrence,
    skewness,
)
from counterpart_topk.hubness.matching import relaxed_greedy_matching, scored_matching
from counterpart_topk.hubness.score_blocks import MEMORY, Blocks, Computed, Matrix, Products, Transposed

__all__ = [
    "DEPTHS",
    "MEMORY",
    "Blocks",
    "Computed",
    "Csls",
    "LogInvertedSoftmax",
    "Matrix",
    "Products",
    "Transposed",
    "csls",
    "hs_sum",
    "inverted_softmax",
    "k_occurrence",
    "relaxed_greedy_matching",
    "scored_matching",
    "skewness",
]
