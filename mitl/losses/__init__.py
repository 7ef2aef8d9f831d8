"""Training losses over one batch.

A loss over ``similarity`` (B, B), float, reads rows as images and columns as captions; pair b stands at [b, b].
All entries off the diagonal are negatives; an entry of -inf is left out (another known match, say). It returns a scalar
tensor and raises ValueError for a matrix that is not square. ``LOSSES`` holds those that need nothing else, by their
names in ``train_annotator``; all are summed over both directions of the batch, except ``hal-logsumexp``, a mean. The
losses of PVSE and PCME are in their annotators' modules.
"""

from collections.abc import Callable
from functools import partial

from torch import Tensor

from mitl.losses.contrastive import contrastive, matching, sigmoid_contrastive
from mitl.losses.hal import hubness_aware
from mitl.losses.triplet import MARGIN, triplet_max, triplet_semi_hard, triplet_sum

__all__ = [
    "LOSSES",
    "MARGIN",
    "contrastive",
    "hubness_aware",
    "matching",
    "sigmoid_contrastive",
    "triplet_max",
    "triplet_semi_hard",
    "triplet_sum",
]

LOSSES: dict[str, Callable[[Tensor], Tensor]] = {
    "sum": triplet_sum,
    "max": triplet_max,
    "semi-hard": triplet_semi_hard,
    "hal": hubness_aware,
    "hal-max": partial(hubness_aware, base="max"),
    "hal-logsumexp": partial(hubness_aware, form="logsumexp"),
}
