"""Training losses over one batch: triplet hinges, the hubness-aware loss (HAL), contrastive losses.

A loss over ``similarity`` (B, B), float, reads rows as images and columns as captions; pair b is at [b, b].
All entries off the diagonal are negatives; an entry of -inf is left out (another known match, say). It returns a scalar
tensor and raises ValueError for a matrix that is not square. ``LOSSES`` holds those that need nothing else, by their
names in ``train_annotator``; all are summed over both directions of the batch, except ``hal-logsumexp``, a mean. The
losses of PVSE and PCME are in their annotators' modules.

HAL weighs a negative by its number of near queries. It has two forms: eq. 4 of the hubness paper, and the log-sum-exp
of the code that its authors published later.
"""

from collections.abc import Callable
from functools import partial
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from counterpart_annotators.options import Settings

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


SCALE = 30.0
THRESHOLD = 0.3
NEIGHBOURS = 3
BASES = {"sum": triplet_sum, "max": triplet_max}


def hubness_aware(
    similarity: Tensor,
    k: int = NEIGHBOURS,
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


def log_sum_exp(similarity: Tensor, scale: float = SCALE, threshold: float = THRESHOLD) -> Tensor:
    """Return the loss of the code published as HAL, its local part, without a memory bank.

    With Z the similarities and zeros on the diagonal, and E = exp(scale * (Z - threshold)): mean over b of
    log(1 + sum of column b of E) / scale + log(1 + sum of row b of E) / scale - log(1 + relu(s(b, b))). The sums
    include the diagonal, as in the code.
    """
    square = square_of(similarity)
    pushed = scale * (square.masked_fill(diagonal_of(square), 0) - threshold)
    with_one = torch.cat([pushed.logsumexp(0), pushed.logsumexp(1)])
    logs = functional.softplus(with_one).sum() / (scale * len(square))
    return logs - torch.log1p(functional.relu(square.diagonal())).mean()


def _hubness(square: Tensor, k: int) -> Tensor:
    """Return each row's mean over its k largest negatives, or over as many as there are; 0 without negatives."""
    negatives = square.masked_fill(diagonal_of(square), -torch.inf)
    nearest = negatives.topk(min(k, len(square)), dim=1).values
    present = nearest > -torch.inf
    return nearest.masked_fill(~present, 0).sum(1) / present.sum(1).clamp(min=1)


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


LOSSES: dict[str, Callable[..., Tensor]] = {
    "sum": triplet_sum,
    "max": triplet_max,
    "semi-hard": triplet_semi_hard,
    "hal": hubness_aware,
    "hal-max": partial(hubness_aware, base="max"),
    "hal-logsumexp": partial(hubness_aware, form="logsumexp"),
}
OF_NEIGHBOURS = ("hal", "hal-max")


def named_loss(name: str, settings: Settings) -> Callable[[Tensor], Tensor]:
    """Return a loss of ``LOSSES``; HAL's k is the setting ``neighbours``, 3 where an older annotator has none."""
    if name in OF_NEIGHBOURS:
        return partial(LOSSES[name], k=int(settings.get("neighbours", NEIGHBOURS)))
    return LOSSES[name]
