"""Where a network's pictures come from, for evaluation and for training."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from torch import Tensor

from corpus.models import Image
from mitl.annotators.base import Settings
from mitl.nn.imagenet import TrainingViews, evaluation_batches


class Source(Protocol):
    """What a network gets to see of images."""

    looks_at_pictures: bool

    def batches(self, images: Sequence[Image]) -> Iterator[Tensor]:
        """Yield what the network is fed for images, some at a time, in their order."""

    def drawn(self, images: Sequence[Image], rng: np.random.Generator) -> Tensor:
        """Return what the network is fed for images in training, drawn at random where views are."""


class Pictures:
    """The pictures themselves."""

    looks_at_pictures = True

    def __init__(self, settings: Settings, *, erasing: float = 0.0) -> None:
        self._side = int(settings["picture"])
        self._drawn = TrainingViews(self._side, smallest_crop=float(settings["smallest_crop"]), erasing=erasing)

    def batches(self, images: Sequence[Image]) -> Iterator[Tensor]:
        return evaluation_batches(images, self._side)

    def drawn(self, images: Sequence[Image], rng: np.random.Generator) -> Tensor:
        return self._drawn.batch(images, rng)
