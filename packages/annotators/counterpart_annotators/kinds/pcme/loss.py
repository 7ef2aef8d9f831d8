"""The loss of PCME: soft contrastive over samples, and two regularisers."""

from dataclasses import dataclass
from math import log

import torch
from torch import Tensor
from torch.nn import functional

from counterpart_annotators.kinds.pcme.distributions import exact_distances

MOST_VECTORS = 128


@dataclass(frozen=True)
class Sampled:
    """One side of a batch: K samples per item (B, K, D) and the logarithms of their deviations (B, D)."""

    samples: Tensor
    log_sigma: Tensor


@dataclass(frozen=True)
class Regularisers:
    """Weights of the KL term and of the uniformity term; by default those published for COCO."""

    vib_beta: float = 1e-5
    uniformity: float = 0.0


def pcme_loss(
    images: Sampled,
    captions: Sampled,
    shift: Tensor,
    negative_scale: Tensor,
    weights: Regularisers = Regularisers(),
    known: Tensor | None = None,
) -> Tensor:
    """Return the soft contrastive loss of both directions plus the regularisers with a weight.

    ``shift`` and ``negative_scale`` (1,) are learned. ``known`` (B, B), bool, are other pairs known to match, which
    are left out of the contrastive loss.
    """
    loss = soft_contrastive(images.samples, captions.samples, shift, negative_scale, known)
    if weights.vib_beta:
        loss = loss + weights.vib_beta * (divergence(images) + divergence(captions))
    if weights.uniformity:
        vectors = torch.cat([images.samples.flatten(0, 1), captions.samples.flatten(0, 1)])
        loss = loss + weights.uniformity * uniformity(vectors)
    return loss


def soft_contrastive(
    images: Tensor, captions: Tensor, shift: Tensor, negative_scale: Tensor, known: Tensor | None = None
) -> Tensor:
    """Return the negative log-likelihood of all B^2 decisions, match or no match, summed over both directions, whose
    values are equal.

    A pair of samples matches with probability sigmoid(2 s), s = shift - negative_scale * distance; a pair of items with
    the mean over its K x K pairs of samples.
    """
    scores = shift - negative_scale * exact_distances(images, captions)
    b = len(scores)
    k = images.shape[1]
    sign = torch.where(torch.eye(b, dtype=torch.bool, device=scores.device), 1.0, -1.0)
    log_likelihoods = functional.logsigmoid(2 * sign[:, :, None] * scores.flatten(2))
    losses = log(k * captions.shape[1]) - log_likelihoods.logsumexp(2)
    return 2 * (losses if known is None else losses.masked_fill(known, 0)).sum()


def divergence(side: Sampled) -> Tensor:
    """Return the KL divergence from the standard normal, summed over batch and dimensions, with the samples' mean."""
    mean = side.samples.mean(1)
    log_sigma = side.log_sigma
    return -0.5 * (1 + log_sigma - mean.square() - log_sigma.exp()).sum()


def uniformity(vectors: Tensor) -> Tensor:
    """Return the log of the mean of exp(-2 |u - v|^2) over all pairs of two rows of ``vectors`` (N, D).

    Of more than 128 rows, 128 are drawn with replacement from torch's generator.
    """
    if len(vectors) > MOST_VECTORS:
        vectors = vectors[torch.randint(len(vectors), (MOST_VECTORS,), device=vectors.device)]
    return (-2 * torch.pdist(vectors).square()).exp().mean().log()
