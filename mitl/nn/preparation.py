"""Preparation"""

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from math import sqrt
from typing import Any, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image as Pillow
from torch import Tensor

from core.errors import CounterpartError
from corpus.models import Image
from corpus.pictures import open_picture
from mitl.nn.imagenet import CACHE_BYTES, THREADS, KeptPictures

Colours = tuple[float, float, float]
Pixels = NDArray[np.uint8]

CLIP_MEAN: Colours = (0.48145466, 0.4578275, 0.40821073)
CLIP_DEVIATION: Colours = (0.26862954, 0.26130258, 0.27577711)
HALVES: Colours = (0.5, 0.5, 0.5)
# Detectors take 800 by 1333 pixels at most; ViLT keeps that shape (Kim, Son and Kim 2021).
LONGEST_TO_SHORTEST = 1333 / 800


@dataclass(frozen=True)
class Preparation:
    """What is done to a picture.

    Attributes:
        side: of the square, or of the shorter side, in pixels.
        fit: ``crop`` resizes the shorter side and cuts the square out of the middle; ``stretch`` resizes to the
            square; ``whole`` resizes the shorter side, or less where the longer would pass 1333 / 800 of it, and
            both down to multiples of ``step``.
        mean, deviation: of the three colours, 0 to 1.
    """

    side: int
    fit: Literal["crop", "stretch", "whole"]
    mean: Colours
    deviation: Colours
    step: int = 1
    resample: int = Pillow.Resampling.BICUBIC

    def pixels(self, picture: Pillow.Image) -> Pixels:
        """Return an RGB picture resized and cut, (H, W, 3)."""
        size = self._size(*picture.size)
        resized = picture.resize(size, Pillow.Resampling(self.resample))
        if self.fit == "crop":
            left, top = (round((length - self.side) / 2) for length in size)
            resized = resized.crop((left, top, left + self.side, top + self.side))
        return np.asarray(resized)

    def values(self, pixels: Pixels, device: str) -> Tensor:
        """Return pictures of one size, (B, H, W, 3), as what the network sees on ``device``: (B, 3, H, W)."""
        seen = torch.from_numpy(pixels).to(device).permute(0, 3, 1, 2).float()
        mean, deviation = (torch.tensor(part, device=device)[:, None, None] for part in (self.mean, self.deviation))
        return seen.div_(255).sub_(mean).div_(deviation)

    def sized(self, side: int, step: int) -> Self:
        """Return this for pictures of another side, and patches of ``step`` pixels where the whole picture is seen."""
        return replace(self, side=side, step=step if self.fit == "whole" else 1)

    def adjusted(self, told: Mapping[str, Any]) -> Self:
        """Return this, but with what a folder's ``preprocessor_config.json`` tells.

        Colours, filter, and the shorter side of whole pictures; the side of a square is the network's own.
        """
        size = told.get("size") if self.fit == "whole" else None
        found = {
            "side": size.get("shortest_edge") if isinstance(size, dict) else size,
            "mean": told.get("image_mean"),
            "deviation": told.get("image_std"),
            "resample": told.get("resample"),
        }
        return replace(self, **{name: _plain(value) for name, value in found.items() if value is not None})

    def to_json(self) -> str:
        """Return all of it as text, to be kept with the weights."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what ``to_json`` wrote."""
        return cls(**{name: _plain(value) for name, value in json.loads(text).items()})

    def _size(self, width: int, height: int) -> tuple[int, int]:
        """Return the size to resize to."""
        if self.fit == "stretch":
            return self.side, self.side
        scale = self.side / min(width, height)
        if self.fit == "crop":
            # The longer side is cut to a whole number, never rounded, as torchvision does.
            return max(self.side, int(self.side * width / height)), max(self.side, int(self.side * height / width))
        longest = int(LONGEST_TO_SHORTEST * self.side)
        if max(width, height) * scale > longest:
            scale = longest / max(width, height)
        return tuple(max(self.step, int(length * scale + 0.5) // self.step * self.step) for length in (width, height))  # type: ignore[return-value]


def _plain(value: Any) -> Any:
    """Lists of colours become tuples, so that equal preparations are equal."""
    if isinstance(value, list):
        if len(value) != 3:
            raise CounterpartError(f"A picture has three colours, but {value} tells {len(value)} numbers.")
        return tuple(value)
    return value


def prepared(images: Sequence[Image], preparation: Preparation) -> Iterator[Pixels]:
    """Yield the images' pictures in their order. Raises CounterpartError for one without a readable picture."""
    with ThreadPoolExecutor(THREADS) as threads:
        yield from threads.map(lambda image: preparation.pixels(open_picture(image)), images)


class TrainingPictures:
    """Views of pictures for training: a part of each by lot, of its own proportions, mirrored half of the times.

    Prepared pictures are kept up to ``limit`` bytes. What is kept changes no view.
    """

    def __init__(self, preparation: Preparation, smallest_crop: float, *, limit: int = CACHE_BYTES) -> None:
        """``smallest_crop`` is the least share of a picture that a view shows; at 1 views are whole."""
        self._smallest_crop = smallest_crop
        self._pictures = KeptPictures(
            lambda image: preparation.pixels(open_picture(image)), lambda pixels: pixels.nbytes, limit
        )

    def of(self, images: Sequence[Image]) -> list[Pixels]:
        """Return one view an image, drawn from torch's own generator."""
        seeds = torch.randint(2**62, (len(images),)).tolist()
        with ThreadPoolExecutor(THREADS) as threads:
            return list(threads.map(self._view, images, seeds))

    def _view(self, image: Image, seed: int) -> Pixels:
        whole = self._pictures.of(image)
        if self._smallest_crop == 1:
            return whole
        rng = np.random.default_rng(seed)
        picture = Pillow.fromarray(whole)
        share = sqrt(rng.uniform(self._smallest_crop, 1))
        left, top = rng.uniform(size=2) * (1 - share) * picture.size
        box = (left, top, left + share * picture.width, top + share * picture.height)
        view = np.asarray(picture.resize(picture.size, Pillow.Resampling.BICUBIC, box=box))
        return np.ascontiguousarray(view[:, ::-1]) if rng.random() < 0.5 else view
