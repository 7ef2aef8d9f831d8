"""Triplet hinge losses: every positive must exceed its negatives by a margin, in both directions; summed."""

import torch
from torch import Tensor

MARGIN = 0.2


def triplet_sum(similarity: Tensor, margin: float = MARGIN) -> Tensor:
    """SUM: every negative counts.

    Sum over images i and captions t' != t of [margin - s(i, t) + s(i, t')]+, and the same over captions and
    images (hubness paper, eq. 2).

    >>> triplet_sum(torch.tensor([[0.9, 0.8], [0.1, 0.5]]))
    tensor(0.6000)
    """
    rows, columns = violations(similarity, margin)
    return rows.sum() + columns.sum()


def triplet_max(similarity: Tensor, margin: float = MARGIN) -> Tensor:
    """MAX: only the hardest negative of each query counts, in each direction (hubness paper, eq. 3).

    >>> triplet_max(torch.tensor([[0.9, 0.8], [0.1, 0.5]]))
    tensor(0.6000)
    """
    rows, columns = violations(similarity, margin)
    return rows.amax(1).sum() + columns.amax(0).sum()


def triplet_semi_hard(similarity: Tensor, margin: float = MARGIN) -> Tensor:
    """Semi-hard: for each query the largest negative strictly below its positive counts.

    If no negative is below the positive, the smallest one counts. The papers name this mining without defining it;
    the definition is ours, for both directions, with hinges and a sum as in MAX.

    >>> triplet_semi_hard(torch.tensor([[0.9, 0.8], [0.1, 0.5]]))
    tensor(0.6000)
    """
    square = square_of(similarity)
    return _semi_hard(square, margin) + _semi_hard(square.T, margin)


def square_of(similarity: Tensor) -> Tensor:
    """Return a batch's similarities as a tensor. Raises ValueError for a matrix that is not square."""
    square = torch.as_tensor(similarity)
    if square.ndim != 2 or square.shape[0] != square.shape[1]:
        raise ValueError(f"A batch's similarities must be a square matrix, not of shape {tuple(square.shape)}.")
    return square


def violations(similarity: Tensor, margin: float) -> tuple[Tensor, Tensor]:
    """Return the margin violations of every negative against its row's and its column's positive: H and V.

    Both are (B, B), never negative, zero on the diagonal and for entries that are left out.
    """
    square = square_of(similarity)
    positives = square.diagonal()
    diagonal = diagonal_of(square)
    rows = (margin + square - positives[:, None]).clamp(min=0).masked_fill(diagonal, 0)
    columns = (margin + square - positives[None, :]).clamp(min=0).masked_fill(diagonal, 0)
    return rows, columns


def _semi_hard(similarity: Tensor, margin: float) -> Tensor:
    positives = similarity.diagonal()
    negative = ~diagonal_of(similarity) & (similarity > -torch.inf)
    below = negative & (similarity < positives[:, None])
    largest_below = similarity.masked_fill(~below, -torch.inf).amax(1)
    smallest = similarity.masked_fill(~negative, torch.inf).amin(1)
    chosen = torch.where(below.any(1), largest_below, smallest)
    return (margin + chosen - positives).masked_fill(chosen.isinf(), 0).clamp(min=0).sum()


def diagonal_of(square: Tensor) -> Tensor:
    """Return a mask (B, B), bool, that is True for the positives."""
    return torch.eye(len(square), dtype=torch.bool, device=square.device)
