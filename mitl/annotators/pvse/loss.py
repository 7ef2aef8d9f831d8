"""The loss of PVSE: a hinge over the best of K x K cosines, and two regularisers."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from mitl.losses import violations

Reduction = Literal["mean", "sum"]
MARGIN = 0.1
BANDWIDTH = 0.5


@dataclass(frozen=True)
class Polysemy:
    """Parameters of the loss: margin, hardest negatives only or all, weights of the two regularisers, means over the
    batch or sums."""

    margin: float = MARGIN
    max_violation: bool = True
    diversity: float = 0.1
    mmd: float = 0.01
    reduction: Reduction = "mean"


@dataclass(frozen=True)
class Embedded:
    """One side of a batch: unit rows (B, K, D), and the residuals (B, K, D) of the PIE block."""

    embeddings: Tensor
    residuals: Tensor


def pvse_loss(images: Embedded, captions: Embedded, how: Polysemy = Polysemy(), known: Tensor | None = None) -> Tensor:
    """Return ranking + 0.1 diversity + 0.01 MMD, the last two only if K > 1.

    ``known`` (B, B), bool, are other pairs known to match, which are not negatives.
    """
    similarity = best_cosines(images.embeddings, captions.embeddings)
    if known is not None:
        similarity = similarity.masked_fill(known, -torch.inf)
    loss = ranking(similarity, how.margin, how.max_violation, how.reduction)
    if images.embeddings.shape[1] == 1:
        return loss
    spread = diversity(images.residuals, how.reduction) + diversity(captions.residuals, how.reduction)
    apart = mmd(images.embeddings.flatten(0, 1), captions.embeddings.flatten(0, 1), how.reduction)
    return loss + how.diversity * spread + how.mmd * apart


def best_cosines(images: Tensor, captions: Tensor) -> Tensor:
    """Return the largest of K x K inner products of every image (N, K, D) and caption (M, K, D): (N, M)."""
    return torch.einsum("nkd,mld->nmkl", images, captions).amax((2, 3))


def ranking(
    similarity: Tensor, margin: float = MARGIN, max_violation: bool = True, reduction: Reduction = "mean"
) -> Tensor:
    """Return the hinges over rows plus those over columns.

    ``mean`` is over all B x B entries, the zero diagonal included, or over the B largest with ``max_violation``.
    """
    rows, columns = violations(similarity, margin)
    if max_violation:
        rows, columns = rows.amax(1), columns.amax(0)
    return _reduced(rows, reduction) + _reduced(columns, reduction)


def diversity(residuals: Tensor, reduction: Reduction = "mean") -> Tensor:
    """Return the similarity of an item's K residuals (B, K, D): the Frobenius norm of their cosines off the diagonal,
    divided by K^2."""
    normalised = functional.normalize(residuals, dim=2)
    k = normalised.shape[1]
    cosines = torch.einsum("bkd,bld->bkl", normalised, normalised)
    others = cosines.masked_fill(torch.eye(k, dtype=torch.bool, device=residuals.device), 0)
    return _reduced(torch.linalg.matrix_norm(others) / k**2, reduction)


def mmd(images: Tensor, captions: Tensor, reduction: Reduction = "mean") -> Tensor:
    """Return the maximum mean discrepancy of two sides (N, D) with the kernel exp(-0.5 |x - y|), the norm not squared:
    k(x, x') - 2 k(x, y) + k(y, y') over the N x N places."""
    within = _kernel(images, images) + _kernel(captions, captions)
    return _reduced(within - 2 * _kernel(images, captions), reduction)


def _kernel(one: Tensor, other: Tensor) -> Tensor:
    # Distances by a matrix product lose half of their digits near 0, as on the diagonal.
    distances = torch.cdist(one, other, compute_mode="donot_use_mm_for_euclid_dist")
    return (-BANDWIDTH * distances).exp()


def _reduced(values: Tensor, reduction: Reduction) -> Tensor:
    return values.mean() if reduction == "mean" else values.sum()
