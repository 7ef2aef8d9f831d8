"""Exact top-k of similarities, both directions from one computation of every tile, in bounded memory."""

from mitl.topk.exact import (
    TopK,
    best_products,
    bidirectional_topk,
    bidirectional_topk_of_scores,
    topk_of_products,
    topk_of_scores,
)

__all__ = [
    "TopK",
    "best_products",
    "bidirectional_topk",
    "bidirectional_topk_of_scores",
    "topk_of_products",
    "topk_of_scores",
]
