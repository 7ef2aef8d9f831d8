"""Training losses over one batch.

A loss over ``similarity`` (B, B), float, reads rows as images and columns as captions; pair b stands at [b, b].
Everything off the diagonal is a negative; an entry of -inf is left out (a further known match, say). It returns a
scalar tensor and raises ValueError for a matrix that is not square. ``LOSSES`` holds those that need nothing more,
by the names that ``train_annotator`` knows; all of them are summed over both directions of the batch but
``hal-logsumexp``, which is a mean. PVSE's loss stands in ``pvse``, PCME's in ``pcme``.
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
