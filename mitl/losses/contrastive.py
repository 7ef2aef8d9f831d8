"""Contrastive losses: softmax over the batch, sigmoid of every pair, and one true pair among others."""

import torch
from torch import Tensor
from torch.nn import functional

from mitl.losses.triplet import diagonal_of, square_of


def contrastive(similarity: Tensor, scale: Tensor | float = 1 / 0.07) -> Tensor:
    """InfoNCE as CLIP has it: mean cross-entropy of every query's softmax over the batch, both directions averaged.

    Radford et al. (2021), "Learning transferable visual models from natural language supervision", figure 3.
    ``scale`` multiplies the similarities; it may be learned.

    >>> contrastive(torch.tensor([[0.9, 0.8], [0.1, 0.5]]), scale=1.0)
    tensor(0.5957)
    """
    logits = _scaled(similarity, scale)
    own = torch.arange(len(logits), device=logits.device)
    return (functional.cross_entropy(logits, own) + functional.cross_entropy(logits.T, own)) / 2


def sigmoid_contrastive(similarity: Tensor, scale: Tensor | float = 10.0, bias: Tensor | float = -10.0) -> Tensor:
    """SigLIP's loss: every pair of the batch is a binary decision; summed over pairs, divided by B.

    Zhai et al. (2023), "Sigmoid loss for language image pre-training", eq. 1: -log sigmoid(z (scale s + bias)) with
    z = 1 for a positive and -1 for a negative. ``scale`` and ``bias`` may be learned.

    >>> sigmoid_contrastive(torch.tensor([[0.9, 0.8], [0.1, 0.5]]), scale=1.0, bias=0.0)
    tensor(1.3654)
    """
    logits = _scaled(similarity, scale)
    sign = torch.where(diagonal_of(logits), 1.0, -1.0)
    left_out = logits == -torch.inf
    losses = -functional.logsigmoid(sign * (logits.masked_fill(left_out, 0) + bias))
    return losses.masked_fill(left_out, 0).sum() / len(logits)


def matching(logits: Tensor) -> Tensor:
    """Mean cross-entropy of the true pair among others: ``logits`` (B, 1 + n), the true pair first.

    ViLT is fine-tuned with it (n = 15). An entry of -inf is left out.

    >>> matching(torch.tensor([[0.0, 0.0, -torch.inf]]))
    tensor(0.6931)
    """
    return functional.cross_entropy(logits, torch.zeros(len(logits), dtype=torch.long, device=logits.device))


def _scaled(similarity: Tensor, scale: Tensor | float) -> Tensor:
    """Return scale times similarity; entries of -inf stay, and pass no gradient to the scale."""
    square = square_of(similarity)
    left_out = square == -torch.inf
    return (square.masked_fill(left_out, 0) * scale).masked_fill(left_out, -torch.inf)
