"""The loss of PVSE: a hinge over the best of K x K cosines, and two regularisers."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from counterpart_annotators.losses import violations

MARGIN = 0.1
BANDWIDTH = 0.5
DIVERSITY = 0.1  # weight of the diversity loss
MMD = 0.01  # weight of the maximum mean discrepancy


@dataclass(frozen=True)
class Embedded:
    """One side of a batch: unit rows (B, K, D), and the residuals (B, K, D) of the PIE block."""

    embeddings: Tensor
    residuals: Tensor


def pvse_loss(images: Embedded, captions: Embedded, known: Tensor | None = None) -> Tensor:
    """Return ranking + 0.1 diversity + 0.01 MMD, the last two only if K > 1: the authors' settings for COCO.

    ``known`` (B, B), bool, are other pairs known to match, which are not negatives.
    """
    similarity = best_cosines(images.embeddings, captions.embeddings)
    if known is not None:
        similarity = similarity.masked_fill(known, -torch.inf)
    loss = ranking(similarity)
    if images.embeddings.shape[1] == 1:
        return loss
    spread = diversity(images.residuals) + diversity(captions.residuals)
    apart = mmd(images.embeddings.flatten(0, 1), captions.embeddings.flatten(0, 1))
    return loss + DIVERSITY * spread + MMD * apart


def best_cosines(images: Tensor, captions: Tensor) -> Tensor:
    """Return the largest of K x K inner products of every image (N, K, D) and caption (M, K, D): (N, M)."""
    return torch.einsum("nkd,mld->nmkl", images, captions).amax((2, 3))


def ranking(similarity: Tensor) -> Tensor:
    """Return the mean hinge of the hardest negative of each row, plus that of each column."""
    rows, columns = violations(similarity, MARGIN)
    return rows.amax(1).mean() + columns.amax(0).mean()


def diversity(residuals: Tensor) -> Tensor:
    """Return the similarity of an item's K residuals (B, K, D): the Frobenius norm of their cosines off the diagonal,
    divided by K^2."""
    normalised = functional.normalize(residuals, dim=2)
    k = normalised.shape[1]
    cosines = torch.einsum("bkd,bld->bkl", normalised, normalised)
    others = cosines.masked_fill(torch.eye(k, dtype=torch.bool, device=residuals.device), 0)
    return (torch.linalg.matrix_norm(others) / k**2).mean()


def mmd(images: Tensor, captions: Tensor) -> Tensor:
    """Return the maximum mean discrepancy of two sides (N, D) with the kernel exp(-0.5 |x - y|), the norm not squared:
    k(x, x') - 2 k(x, y) + k(y, y') over the N x N places."""
    within = _kernel(images, images) + _kernel(captions, captions)
    return (within - 2 * _kernel(images, captions)).mean()


def _kernel(one: Tensor, other: Tensor) -> Tensor:
    # Distances by a matrix product lose half of their digits near 0, as on the diagonal.
    distances = torch.cdist(one, other, compute_mode="donot_use_mm_for_euclid_dist")
    return (-BANDWIDTH * distances).exp()
