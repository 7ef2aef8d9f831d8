"""Pictures as vectors that a network made elsewhere, one an image, in a folder as ``mitl.nn.regions`` reads it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from core.errors import CounterpartError
from corpus.models import Image
from mitl.annotators.base import Arrays, Settings
from mitl.nn import regions


def survey(settings: Settings, length: int | None = None) -> Arrays:
    """Read all of the folder that the settings name; return what tells later whether it is still the same.

    With a trunk there is none, and nothing is returned. Raises CounterpartError for a folder too many or too few, one
    that cannot be read, and vectors that are not of ``length``.
    """
    trunk, named = str(settings["trunk"]), str(settings["vectors"])
    if trunk != "none" and not named:
        return {}
    if trunk != "none":
        raise CounterpartError(f"The trunk {trunk} reads pictures themselves; leave the option vectors out.")
    if not named:
        raise CounterpartError("Without a trunk, pictures come as vectors; pass --option vectors=FOLDER.")
    folder = Path(named)
    surveyed = regions.survey(folder, axes=("numbers",))
    (found,) = regions.Regions(folder, surveyed).shape
    if length not in (None, found):
        raise CounterpartError(f"{folder} has vectors of {found:,} numbers, and these weights take {length:,}.")
    return surveyed


class Vectors:
    """Source of vectors; ``length`` is how many numbers each has."""

    looks_at_pictures = False

    def __init__(self, settings: Settings, surveyed: Arrays) -> None:
        self._regions = regions.Regions(Path(str(settings["vectors"])), surveyed)
        (self.length,) = self._regions.shape

    def batches(self, images: Sequence[Image]) -> Iterator[Tensor]:
        yield torch.from_numpy(self._regions.of(images))

    def drawn(self, images: Sequence[Image], rng: np.random.Generator) -> Tensor:
        return next(self.batches(images))
