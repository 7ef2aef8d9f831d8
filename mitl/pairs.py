"""Which pairs a search needs the scores of: each once, an image's together. Pure arrays of places in a gallery."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]


class SampledPairs:
    """Every pair of N images and M captions with a sampled image or a sampled caption; by image, then caption.

    They are counted through but never stand in memory together: it takes 16 bytes an image.
    """

    def __init__(self, shape: tuple[int, int], images: Places, captions: Places) -> None:
        """``images`` and ``captions`` are the places of the sampled ones in a gallery of this ``shape`` (N, M)."""
        self._sampled = np.zeros(shape[0], dtype=np.bool_)
        self._sampled[images] = True
        self._captions = np.sort(captions)
        self._counts = np.where(self._sampled, shape[1], len(captions))
        self._ends = np.cumsum(self._counts)

    def __len__(self) -> int:
        return int(self._ends[-1])

    def part(self, start: int, stop: int) -> tuple[Places, Places]:
        """Return the images and the captions of pairs number ``start`` to ``stop`` (left out, or the end)."""
        numbers = np.arange(start, min(stop, len(self)))
        images = np.searchsorted(self._ends, numbers, side="right")
        captions = numbers - self._ends[images] + self._counts[images]
        few = ~self._sampled[images]
        captions[few] = self._captions[captions[few]]
        return images, captions


class ListedPairs:
    """The pairs that stand in some lists; by image, then caption. Takes 8 bytes a pair."""

    def __init__(self, n_captions: int, lists: Sequence[tuple[Places, Places]]) -> None:
        """``lists`` are images and captions that broadcast to a shape; where one is -1 there is no pair."""
        self._n_captions = n_captions
        named = [self._numbers(images, captions)[(images >= 0) & (captions >= 0)] for images, captions in lists]
        self._pairs = np.unique(np.concatenate(named))

    def __len__(self) -> int:
        return len(self._pairs)

    def part(self, start: int, stop: int) -> tuple[Places, Places]:
        """Return the images and the captions of pairs number ``start`` to ``stop`` (left out, or the end)."""
        images, captions = np.divmod(self._pairs[start:stop], self._n_captions)
        return images, captions

    def _numbers(self, images: Places, captions: Places) -> Places:
        return images * self._n_captions + captions


Pairs = SampledPairs | ListedPairs
