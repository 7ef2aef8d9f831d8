"""Hubs: items that stand in far too many queries' lists. How strong they are, and searches that tame them.

Similarities are float arrays, rows = queries, columns = items. Pure arrays, after *Improved Text-Image Matching by
Mitigating Visual Semantic Hubs* (the hubness paper).
"""

from mitl.hubness.counts import DEPTHS, hs_sum, k_occurrence, skewness

__all__ = ["DEPTHS", "hs_sum", "k_occurrence", "skewness"]
