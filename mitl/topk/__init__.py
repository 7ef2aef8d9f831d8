"""Exact top-k of similarities, both directions from one computation of every tile, in bounded memory."""

from mitl.topk.scores import best_products, bidirectional_topk_of_scores, topk_of_scores
from mitl.topk.searching import Strip, TopK, bidirectional_topk, join_strips, topk_of_products, topk_of_strip

__all__ = [
    "Strip",
    "TopK",
    "best_products",
    "bidirectional_topk",
    "bidirectional_topk_of_scores",
    "join_strips",
    "topk_of_products",
    "topk_of_scores",
    "topk_of_strip",
]
