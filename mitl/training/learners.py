"""What training is made of: examples, a plan, a learner that knows its loss, and what comes out.

A machine's module builds a ``Learner`` and hands it to ``mitl.training.loop.fit``, which owns everything that is the
same for all machines: the order of examples, the optimiser, validation, early stopping, and going on after a crash.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from corpus.models import Caption, Image
from mitl.annotators.base import Arrays, OpenAnnotator, Settings
from mitl.checkpoints import Checkpoints

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True)
class TrainingSet:
    """What a machine learns from: images, captions and the pairs known between them, as places (P, 2) in both.

    ``weights`` (P,) is how much a pair counts, above 0 and at most 1: 1 for level 1 and for sources without levels,
    0.5 for level 2 (ECCV Caption, eq. E.4).
    """

    images: list[Image]
    captions: list[Caption]
    pairs: NDArray[np.int64]
    weights: NDArray[np.float32]
    validation: "TrainingSet | None" = None

    @cached_property
    def digest(self) -> str:
        """SHA-256 over pictures, texts, pairs and the same of the validation split: equal sets train equal weights."""
        texts = "\n".join([*(image.sha256 for image in self.images), *(caption.text for caption in self.captions)])
        then = self.validation.digest if self.validation else ""
        return hashlib.sha256(
            texts.encode() + self.pairs.tobytes() + self.weights.tobytes() + then.encode()
        ).hexdigest()


@dataclass(frozen=True)
class Epoch:
    """One pass over the examples: its number from 1, the mean loss of its batches, seconds, and what was measured on
    the validation split by name (R@1, R@5, R@10 of both directions in percent, rsum); empty without such a split."""

    number: int
    loss: float
    seconds: float
    validation: dict[str, float]


def in_order(recalls: Mapping[str, float]) -> dict[str, float]:
    """Return recalls in the order in which they are measured; PostgreSQL keeps names in an order of its own."""
    return {name: recalls[name] for name in sorted(recalls, key=_place)}


def _place(name: str) -> tuple[bool, str, int]:
    direction, _, depth = name.partition(" R@")
    return not depth, direction, int(depth.split()[0]) if depth else 0


@dataclass(frozen=True)
class Plan:
    """How to train: a machine's settings, the loss by name, the seed, the device; where unfinished work is kept; who
    is told of every finished epoch."""

    settings: Settings
    loss: str
    seed: int
    device: str
    kept: Checkpoints
    report: Callable[[Epoch], None] = lambda epoch: None


@dataclass(frozen=True)
class Batch:
    """B known pairs: image b belongs to caption b, and no image and no caption stands in it twice.

    ``known`` (B, B), bool, tells which other pairs are known to match too: they are no negatives. Its diagonal is
    False. Pairs come into batches by their weights (``mitl.training.batches``), so that here all count alike.
    """

    images: Sequence[Image]
    captions: Sequence[Caption]
    known: NDArray[np.bool_]


class Learner(Protocol):
    """A network that learns, and what one batch costs it."""

    network: "nn.Module"

    def loss(self, batch: Batch) -> "Tensor":
        """Return the batch's loss, a scalar with a gradient. The network is in training mode."""

    def machine(self) -> OpenAnnotator:
        """Return the machine over the network as it stands, to be measured on the validation split."""


@dataclass(frozen=True)
class Trained:
    """The weights to keep, by name, and figures of the training to be written down."""

    arrays: Arrays
    figures: dict[str, object] = field(default_factory=dict)
