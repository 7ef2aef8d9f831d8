"""Vectors scaled to length 1."""

from torch import Tensor


def unit(vectors: Tensor) -> Tensor:
    """Divide each row by its Euclidean length, without an epsilon: a row of zeros becomes NaN."""
    return vectors / vectors.norm(dim=-1, keepdim=True)
