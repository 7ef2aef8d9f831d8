"""The parts of a training: examples, a plan, the batches of an epoch, a learner with its loss, and the result.

An annotator's module builds a ``Learner`` and passes it to ``counterpart_annotators.training.loop.fit``, which does
what is the same for all annotators: the order of examples, the optimiser, validation, early stopping, and resuming
after a crash.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from counterpart_annotators.base import Arrays, OpenAnnotator
from counterpart_annotators.checkpoints import Checkpoints
from counterpart_annotators.options import Settings
from counterpart_annotators.plain import PlainCaption, PlainImage

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True)
class TrainingSet:
    """Training examples: images, captions and the known pairs, as places (P, 2) in both.

    ``weights`` (P,) are above 0 and at most 1: 1 for level 1 and for sources without levels, 0.5 for level 2 (ECCV
    Caption, eq. E.4). ``rejected`` (N, 2): pairs that people judged to be no match.
    """

    images: list[PlainImage]
    captions: list[PlainCaption]
    pairs: NDArray[np.int64]
    weights: NDArray[np.float32]
    validation: "TrainingSet | None" = None
    rejected: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 2), np.int64))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of pictures, texts and pairs, of the validation split too: equal sets train equal weights."""
        texts = "\n".join([*(image.sha256 for image in self.images), *(caption.text for caption in self.captions)])
        validation = self.validation.digest if self.validation else ""
        return hashlib.sha256(
            texts.encode()
            + self.pairs.tobytes()
            + self.weights.tobytes()
            + validation.encode()
            + self.rejected.tobytes()
        ).hexdigest()


@dataclass(frozen=True)
class Epoch:
    """One pass over the examples: its number from 1, the mean loss of its batches, seconds, and the figures of the
    validation split by name (R@1, R@5, R@10 of both directions in percent, rsum); empty without such a split."""

    number: int
    loss: float
    seconds: float
    validation: dict[str, float]


def in_order(recalls: Mapping[str, float]) -> dict[str, float]:
    """Return recalls in the order of their measurement; PostgreSQL does not keep the order of names."""
    return {name: recalls[name] for name in sorted(recalls, key=_place)}


def _place(name: str) -> tuple[bool, str, int]:
    direction, _, depth = name.partition(" R@")
    return not depth, direction, int(depth.split()[0]) if depth else 0


@dataclass(frozen=True)
class TrainingPlan:
    """How to train: the annotator's settings, the name of the loss, the seed, the device; where unfinished work is
    kept; a function that is called with every finished epoch; and one that returns the weights of another annotator by
    its name, None for an unknown name. ``late``: how many of the last epochs are validated; 0: all."""

    settings: Settings
    loss: str
    seed: int
    device: str
    kept: Checkpoints
    report: Callable[[Epoch], None] = lambda epoch: None
    weights_of: Callable[[str], Arrays | None] = lambda name: None
    late: int = 0


@dataclass(frozen=True)
class Batch:
    """B known pairs: image b belongs to caption b; no image and no caption occurs twice.

    ``known`` (B, B), bool, marks the other pairs known to match, which are not negatives; its diagonal is False.
    Weights have acted when the batch was drawn (``Batches``): all pairs of a batch count alike.
    """

    images: Sequence[PlainImage]
    captions: Sequence[PlainCaption]
    known: NDArray[np.bool_]


class Learner(Protocol):
    """A network that learns, with its loss."""

    network: "nn.Module"

    def loss(self, batch: Batch) -> "Tensor":
        """Return the loss of a batch, a scalar with a gradient. The network is in training mode."""

    def annotator(self) -> OpenAnnotator:
        """Return the annotator with the network's present weights, to be measured on the validation split."""


@dataclass(frozen=True)
class Trained:
    """The weights to store, by name, and figures of the training."""

    arrays: Arrays
    figures: dict[str, object] = field(default_factory=dict)


# Number of batches' worth of pairs that are searched for one that fits. Without a limit, a caption with very many
# images would be skipped again and again.
LOOK_AHEAD = 8

Pairs = list[tuple[int, int]]


class Batches:
    """Batches of one set of examples, each of at most ``size`` pairs and at least two.

    Weights act by sampling: of pairs that weigh half as much as the heaviest ones, a random half takes part in an
    epoch. So a pair has its weight on average in every loss, and no learner needs to know it. An epoch in which no two
    of the sampled pairs fit into one batch takes all pairs.
    """

    def __init__(self, examples: TrainingSet, size: int) -> None:
        self._examples = examples
        self._size = size

    def of_epoch(self, seed: int, number: int) -> Iterator[Batch]:
        """Yield the batches of the epoch of this number; the same seed and number give the same ones."""
        rng = np.random.default_rng([seed, number])
        pairs = self._examples.pairs
        weights = self._examples.weights
        drawn = pairs[rng.permutation(np.flatnonzero(rng.random(len(weights)) < weights / weights.max()))]
        any_fit = next(disjoint(drawn, self._size), None) is not None
        if not any_fit:
            drawn = rng.permutation(pairs)
        for batch in disjoint(drawn, self._size):
            yield self._batch(*batch.T)

    def _batch(self, images: NDArray[np.int64], captions: NDArray[np.int64]) -> Batch:
        known = self._known[images][:, captions].toarray()
        np.fill_diagonal(known, val=False)
        return Batch(
            images=[self._examples.images[place] for place in images],
            captions=[self._examples.captions[place] for place in captions],
            known=known,
        )

    @cached_property
    def _known(self) -> sparse.csr_array:
        ones = np.ones(len(self._examples.pairs), dtype=np.bool_)
        shape = len(self._examples.images), len(self._examples.captions)
        return sparse.csr_array((ones, self._examples.pairs.T), shape=shape)


def disjoint(pairs: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
    """Divide pairs (P, 2), in their order, into batches in which nothing occurs twice; what does not fit comes in the
    next one. A single pair that is left over is dropped: it has no negatives."""
    waiting = deque(map(tuple, pairs.tolist()))
    while waiting:
        batch, postponed = _next_batch(waiting, size)
        waiting.extendleft(reversed(postponed))
        if len(batch) > 1:
            yield np.array(batch)


def _next_batch(waiting: deque[tuple[int, int]], size: int) -> tuple[Pairs, Pairs]:
    batch: Pairs = []
    postponed: Pairs = []
    images: set[int] = set()
    captions: set[int] = set()
    while waiting and len(batch) < size and len(postponed) < LOOK_AHEAD * size:
        image, caption = waiting.popleft()
        if image in images or caption in captions:
            postponed.append((image, caption))
        else:
            batch.append((image, caption))
            images.add(image)
            captions.add(caption)
    return batch, postponed
