"""Pictures for networks trained on ImageNet: square views, scaled by that set's mean and deviation.

A view is float32 (3, side, side), channels red, green, blue. Pictures are decoded in several threads, as Pillow
releases Python's lock.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from threading import Lock
from typing import Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image as Pillow
from torch import Tensor

from counterpart_annotators.plain import PlainImage

Decoded = TypeVar("Decoded")

THREADS = min(8, os.cpu_count() or 1)
CACHE_BYTES = 512 * 2**20


class KeptPictures(Generic[Decoded]):
    """A cache of decoded pictures of at most ``limit`` bytes: a small collection is decoded once, and of a large one
    what does not fit is decoded each time. Threads may share it."""

    def __init__(
        self, read: Callable[[PlainImage], Decoded], size: Callable[[Decoded], int], limit: int = CACHE_BYTES
    ) -> None:
        """``read`` decodes an image, ``size`` returns the bytes of the result."""
        self._read = read
        self._size = size
        self._room = limit
        self._kept: dict[str, Decoded] = {}
        self._lock = Lock()

    def of(self, image: PlainImage) -> Decoded:
        """Return the decoded picture. Raises what ``read`` raises."""
        kept = self._kept.get(image.key)
        return self._keep(image, self._read(image)) if kept is None else kept

    def _keep(self, image: PlainImage, picture: Decoded) -> Decoded:
        size = self._size(picture)
        with self._lock:
            if size <= self._room and image.key not in self._kept:
                self._room -= size
                self._kept[image.key] = picture
        return picture


View = NDArray[np.float32]
Box = tuple[int, int, int, int]

MEAN = np.array((0.485, 0.456, 0.406), np.float32)
DEVIATION = np.array((0.229, 0.224, 0.225), np.float32)
SIDE = 224
SHORTER_SIDE = 256
SMALLEST_CROP = 0.08
CROP_RATIOS = (3 / 4, 4 / 3)
ERASED_SHARES = (0.02, 0.33)
ERASED_RATIOS = (0.3, 3.3)
TRIES = 10
BATCH = 32


def evaluation_view(picture: Pillow.Image, side: int = SIDE, shorter: int | None = None) -> View:
    """Resize the shorter side of a picture to ``shorter`` pixels, bilinear with antialiasing, and crop the centre.

    ``shorter`` is 256 for a side of 224, and in that proportion for others.
    """
    shorter = shorter or round(side * SHORTER_SIDE / SIDE)
    width, height = picture.size
    across = shorter
    down = shorter
    if width <= height:
        down = int(shorter * height / width)
    else:
        across = int(shorter * width / height)
    small = picture.resize((across, down), Pillow.Resampling.BILINEAR)
    left = round((across - side) / 2)
    top = round((down - side) / 2)
    return _normalised(small.crop((left, top, left + side, top + side)))


def evaluation_batches(images: Sequence[PlainImage], side: int = SIDE, batch: int = BATCH) -> Iterator[Tensor]:
    """Yield the images' evaluation views, (at most ``batch``, 3, side, side), in their order.

    The next pictures are decoded while the last are in use. Raises CounterpartError for an image without a
    readable picture.
    """
    with ThreadPoolExecutor(THREADS) as threads:
        views = threads.map(lambda image: evaluation_view(image.open(), side), images)
        while some := list(islice(views, batch)):
            yield torch.from_numpy(np.stack(some))


class TrainingViews:
    """Random views of pictures for training: random crops, randomly mirrored, randomly with a rectangle erased.

    Decoded pictures are cached, up to ``limit`` bytes; the cache changes no view.
    """

    def __init__(
        self,
        side: int = SIDE,
        *,
        smallest_crop: float = SMALLEST_CROP,
        erasing: float = 0.0,
        limit: int = CACHE_BYTES,
    ) -> None:
        """``smallest_crop`` is the smallest share of a picture in a view; ``erasing`` the probability of an erased
        rectangle."""
        self._side = side
        self._smallest_crop = smallest_crop
        self._erasing = erasing
        self._pictures = KeptPictures(
            lambda image: image.open(), lambda picture: picture.width * picture.height * 3, limit
        )

    def batch(self, images: Sequence[PlainImage], rng: np.random.Generator) -> Tensor:
        """Return one view an image, (B, 3, side, side). Raises CounterpartError for one without a readable picture."""
        seeds = rng.integers(2**63, size=len(images))
        with ThreadPoolExecutor(THREADS) as threads:
            views = list(threads.map(self._view, images, seeds))
        return torch.from_numpy(np.stack(views))

    def _view(self, image: PlainImage, seed: int) -> View:
        rng = np.random.default_rng(seed)
        picture = self._pictures.of(image)
        part = picture.crop(_crop(*picture.size, self._smallest_crop, rng))
        view = _normalised(part.resize((self._side, self._side), Pillow.Resampling.BILINEAR))
        if rng.random() < 0.5:
            view = np.ascontiguousarray(view[:, :, ::-1])
        if rng.random() < self._erasing:
            left, top, right, bottom = _rectangle(self._side, self._side, ERASED_SHARES, ERASED_RATIOS, rng) or [0] * 4
            view[:, top:bottom, left:right] = 0
        return view


def _crop(width: int, height: int, smallest: float, rng: np.random.Generator) -> Box:
    """Draw a crop of a picture; if none fits, crop the centre to the widest or narrowest ratio."""
    drawn = _rectangle(width, height, (smallest, 1.0), CROP_RATIOS, rng)
    if drawn:
        return drawn
    ratio = min(max(width / height, CROP_RATIOS[0]), CROP_RATIOS[1])
    across = min(width, round(height * ratio))
    down = min(height, round(width / ratio))
    left = (width - across) // 2
    top = (height - down) // 2
    return left, top, left + across, top + down


def _rectangle(
    width: int, height: int, shares: tuple[float, float], ratios: tuple[float, float], rng: np.random.Generator
) -> Box | None:
    """Draw a rectangle: uniform in its share of the area and in the logarithm of its ratio; None if none fits."""
    for _ in range(TRIES):
        area = width * height * rng.uniform(*shares)
        ratio = np.exp(rng.uniform(*np.log(ratios)))
        across = round(np.sqrt(area * ratio))
        down = round(np.sqrt(area / ratio))
        if 0 < across <= width and 0 < down <= height:
            left = int(rng.integers(width - across + 1))
            top = int(rng.integers(height - down + 1))
            return left, top, left + across, top + down
    return None


def _normalised(picture: Pillow.Image) -> View:
    values = np.asarray(picture, np.float32) / 255
    return np.ascontiguousarray(((values - MEAN) / DEVIATION).transpose(2, 0, 1))
