"""Weights of HAL's log-sum-exp form from a memory bank: how crowded it is around a pair beyond its batch."""

from dataclasses import dataclass

from torch import Tensor

from mitl.losses.hinges import diagonal_of, square_of


@dataclass(frozen=True)
class Crowd:
    """How the published code weighs: how many neighbours in the bank are read, the sharpness and threshold for
    positives and for negatives."""

    k: int = 250
    positive_scale: float = 40.0
    negative_scale: float = 40.0
    positive_threshold: float = 0.2
    negative_threshold: float = 0.1


@dataclass(frozen=True)
class HubWeights:
    """W (B, B), zero on the diagonal, and w (B,); neither has a gradient."""

    negatives: Tensor
    positives: Tensor


def bank_weights(similarity: Tensor, images_to_bank: Tensor, captions_to_bank: Tensor, crowd: Crowd) -> HubWeights:
    """Return the weights of a batch's pairs.

    Args:
        similarity: (B, B), the batch's own.
        images_to_bank: (B, M), its images with the bank's captions. The bank holds nothing of the batch itself.
        captions_to_bank: (B, M), its captions with the bank's images.
        crowd: its ``k`` is cut to the size of the *batch* where that is smaller, as in the code.

    Raises:
        ValueError: for a bank smaller than k.
    """
    square = square_of(similarity).detach()
    k = min(crowd.k, len(square))
    if images_to_bank.shape[1] < k or captions_to_bank.shape[1] < k:
        raise ValueError(f"A memory bank of {images_to_bank.shape[1]} has no {k} neighbours.")
    taus, thetas = (side.detach().topk(k, dim=1).values for side in (images_to_bank, captions_to_bank))
    return HubWeights(_of_negatives(square, taus, thetas, crowd), _of_positives(square.diagonal(), taus, thetas, crowd))


def _of_negatives(square: Tensor, taus: Tensor, thetas: Tensor, crowd: Crowd) -> Tensor:
    """Return A / (A + own), A being the crowd around image i and around caption t; the threshold stands outside
    the scale here, as in the code."""
    around_images, around_captions = (
        (crowd.negative_scale * side - crowd.negative_threshold).exp().sum(1) for side in (taus, thetas)
    )
    around = around_images[:, None] + around_captions
    own = (crowd.negative_scale * square.diagonal()).exp()
    return (around / (around + own[:, None] + own)).masked_fill(diagonal_of(square), 0)


def _of_positives(own: Tensor, taus: Tensor, thetas: Tensor, crowd: Crowd) -> Tensor:
    def sharpened(side: Tensor) -> Tensor:
        return (crowd.positive_scale * (side - crowd.positive_threshold)).exp()

    positive = sharpened(own)
    return 1 - positive / (positive + sharpened(taus).sum(1) + sharpened(thetas).sum(1))
