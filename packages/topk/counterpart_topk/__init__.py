"""Exact top-k of similarities, both directions from one computation of every tile, in bounded memory."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from counterpart_topk.exact import (
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


def __getattr__(name: str) -> Any:
    """Import torch and the compiled code with the first name that is used: both take seconds."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from counterpart_topk import exact

    return getattr(exact, name)
