"""HAL, the hubness-aware loss: negatives with many near queries weigh more.

Two forms: eq. 4 of the hubness paper, and the log-sum-exp of the code that its authors published later, which can also
take weights from a memory bank, beyond the batch.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from mitl.losses.triplet import MARGIN, diagonal_of, square_of, triplet_max, triplet_sum


@dataclass(frozen=True)
class BankParameters:
    """Parameters of the memory bank's weights: the number of neighbours, the scale and threshold for positives and for
    negatives."""

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


def bank_weights(
    similarity: Tensor, images_to_bank: Tensor, captions_to_bank: Tensor, parameters: BankParameters
) -> HubWeights:
    """Return the weights of a batch's pairs.

    Args:
        similarity: (B, B), the batch's own.
        images_to_bank: (B, M), its images with the bank's captions. The bank contains nothing of the batch.
        captions_to_bank: (B, M), its captions with the bank's images.
        parameters: ``k`` is cut to the size of the *batch* if that is smaller, as in the published code.

    Raises:
        ValueError: for a bank smaller than k.
    """
    square = square_of(similarity).detach()
    k = min(parameters.k, len(square))
    if images_to_bank.shape[1] < k or captions_to_bank.shape[1] < k:
        raise ValueError(f"A memory bank of {images_to_bank.shape[1]} has fewer than {k} neighbours.")
    taus, thetas = (side.detach().topk(k, dim=1).values for side in (images_to_bank, captions_to_bank))
    return HubWeights(
        _of_negatives(square, taus, thetas, parameters), _of_positives(square.diagonal(), taus, thetas, parameters)
    )


def _of_negatives(square: Tensor, taus: Tensor, thetas: Tensor, parameters: BankParameters) -> Tensor:
    """Return A / (A + own), A being summed over the neighbours of image i and caption t; the threshold is outside the
    scale, as in the published code."""
    around_images, around_captions = (
        (parameters.negative_scale * side - parameters.negative_threshold).exp().sum(1) for side in (taus, thetas)
    )
    around = around_images[:, None] + around_captions
    own = (parameters.negative_scale * square.diagonal()).exp()
    return (around / (around + own[:, None] + own)).masked_fill(diagonal_of(square), 0)


def _of_positives(own: Tensor, taus: Tensor, thetas: Tensor, parameters: BankParameters) -> Tensor:
    def sharpened(side: Tensor) -> Tensor:
        return (parameters.positive_scale * (side - parameters.positive_threshold)).exp()

    positive = sharpened(own)
    return 1 - positive / (positive + sharpened(taus).sum(1) + sharpened(thetas).sum(1))


SCALE, THRESHOLD = 30.0, 0.3
BASES = {"sum": triplet_sum, "max": triplet_max}


def hubness_aware(
    similarity: Tensor,
    k: int = 3,
    margin: float = MARGIN,
    base: Literal["sum", "max"] = "sum",
    form: Literal["reweighted", "logsumexp"] = "reweighted",
) -> Tensor:
    """HAL over one batch (B, B).

    Args:
        k: number of neighbours that measure the hubness of an item (``reweighted``); at most the number of negatives.
        margin: of the hinges on the reweighted similarities.
        base: the hinges themselves, SUM or MAX.
        form: ``reweighted`` is eq. 4 of the hubness paper and then ``base``, summed; ``logsumexp`` is the published
            code's local loss (``log_sum_exp``), a mean, which ignores the other arguments.

    Raises:
        ValueError: for a matrix that is not square, an unknown base or form, or no neighbours.

    >>> hubness_aware(torch.tensor([[0.9, 0.8], [0.1, 0.5]]), k=1)
    tensor(4.8814)
    """
    if form == "logsumexp":
        return log_sum_exp(similarity)
    if form != "reweighted" or base not in BASES:
        raise ValueError(f"HAL has no base {base!r} in the form {form!r}.")
    return BASES[base](reweighted(similarity, k), margin)


def reweighted(similarity: Tensor, k: int) -> Tensor:
    """Return s'(i, t) = s(i, t) exp(mean of the k largest s(i, .) + mean of the k largest s(., t)) (eq. 4).

    The neighbours are negatives of row i and column t. No gradient flows through the exponential: a positive could
    otherwise grow by moving negatives closer.
    """
    if k < 1:
        raise ValueError(f"HAL needs at least 1 neighbour, not {k}.")
    square = square_of(similarity)
    fixed = square.detach()
    hubness = _hubness(fixed, k)[:, None] + _hubness(fixed.T, k)
    return square * hubness.exp()


def log_sum_exp(
    similarity: Tensor, scale: float = SCALE, threshold: float = THRESHOLD, weights: HubWeights | None = None
) -> Tensor:
    """The loss of the code published as HAL, its local part (specification of the annotators, section 6).

    With Z the similarities and zeros on the diagonal, and E = exp(scale * W * (Z - threshold)): mean over b of
    log(1 + sum of column b of E) / scale + log(1 + sum of row b of E) / scale - log(1 + relu(w_b s(b, b))). The
    sums include the diagonal, as in the code. ``weights`` are W and w, all 1 where there is no memory bank.
    """
    square = square_of(similarity)
    own = weights.positives if weights else 1.0
    pushed = _weighted(square.masked_fill(diagonal_of(square), 0), weights, scale, threshold)
    return _mean_of_logs(pushed, scale) - torch.log1p(functional.relu(own * square.diagonal())).mean()


def log_sum_exp_of_paper(similarity: Tensor, scale: float = SCALE, threshold: float = THRESHOLD) -> Tensor:
    """The same as in its paper, with all weights 1: the sums leave out the diagonal, and the positives, which must be
    above -1, are not clipped at zero."""
    square = square_of(similarity)
    pushed = _weighted(square, None, scale, threshold).masked_fill(diagonal_of(square), -torch.inf)
    return _mean_of_logs(pushed, scale) - torch.log1p(square.diagonal()).mean()


def _hubness(square: Tensor, k: int) -> Tensor:
    """Return each row's mean over its k largest negatives, or over as many as there are; 0 without negatives."""
    negatives = square.masked_fill(diagonal_of(square), -torch.inf)
    nearest = negatives.topk(min(k, len(square)), dim=1).values
    present = nearest > -torch.inf
    return nearest.masked_fill(~present, 0).sum(1) / present.sum(1).clamp(min=1)


def _weighted(square: Tensor, weights: HubWeights | None, scale: float, threshold: float) -> Tensor:
    """Return the exponents; entries that are left out stay at -inf whatever their weight."""
    left_out = square == -torch.inf
    above = square.masked_fill(left_out, 0) - threshold
    return (scale * (weights.negatives * above if weights else above)).masked_fill(left_out, -torch.inf)


def _mean_of_logs(pushed: Tensor, scale: float) -> Tensor:
    """Return the mean of log(1 + sum of exponentials) / scale over rows plus the same over columns."""
    with_one = torch.cat([pushed.logsumexp(0), pushed.logsumexp(1)])
    return functional.softplus(with_one).sum() / (scale * len(pushed))
