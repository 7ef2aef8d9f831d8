"""Pictures for transformers: resized by Pillow on 8-bit values, then scaled in batches on the device."""

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

from counterpart_annotators.nn.imagenet import CACHE_BYTES, THREADS, KeptPictures
from counterpart_annotators.plain import PlainImage
from counterpart_metrics.errors import CounterpartError

Colours = tuple[float, float, float]
Pixels = NDArray[np.uint8]

CLIP_MEAN: Colours = (0.48145466, 0.4578275, 0.40821073)
CLIP_DEVIATION: Colours = (0.26862954, 0.26130258, 0.27577711)
HALVES: Colours = (0.5, 0.5, 0.5)
# ViLT keeps the proportion of detectors' largest pictures, 800 by 1333 (Kim, Son and Kim 2021).
LONGEST_TO_SHORTEST = 1333 / 800


@dataclass(frozen=True)
class Preparation:
    """The preprocessing of a picture.

    Attributes:
        side: of the square, or of the shorter side, in pixels.
        fit: ``crop`` resizes the shorter side and crops the central square; ``stretch`` resizes to the square;
            ``whole`` resizes the shorter side, or the longer to 1333 / 800 of ``side`` where that is smaller, and
            rounds both down to multiples of ``step``.
        mean, deviation: of the three colours, 0 to 1.
    """

    side: int
    fit: Literal["crop", "stretch", "whole"]
    mean: Colours
    deviation: Colours
    step: int = 1
    resample: int = Pillow.Resampling.BICUBIC

    def pixels(self, picture: Pillow.Image) -> Pixels:
        """Return an RGB picture resized and cropped, (H, W, 3)."""
        size = self._size(*picture.size)
        resized = picture.resize(size, Pillow.Resampling(self.resample))
        if self.fit == "crop":
            left, top = (round((length - self.side) / 2) for length in size)
            resized = resized.crop((left, top, left + self.side, top + self.side))
        return np.asarray(resized)

    def values(self, pixels: Pixels, device: str) -> Tensor:
        """Return pictures of one size, (B, H, W, 3), as the network's input on ``device``: (B, 3, H, W)."""
        seen = torch.from_numpy(pixels).to(device).permute(0, 3, 1, 2).float()
        mean, deviation = (torch.tensor(part, device=device)[:, None, None] for part in (self.mean, self.deviation))
        return seen.div_(255).sub_(mean).div_(deviation)

    def sized(self, side: int, step: int) -> Self:
        """Return the same with another side, and patches of ``step`` pixels if whole pictures are read."""
        return replace(self, side=side, step=step if self.fit == "whole" else 1)

    def adjusted(self, config: Mapping[str, Any]) -> Self:
        """Return the same with the colours, the filter, and the shorter side of whole pictures that a folder's
        ``preprocessor_config.json`` names; the side of a square is the network's.
        """
        size = config.get("size") if self.fit == "whole" else None
        changes = {
            "side": size.get("shortest_edge") if isinstance(size, dict) else size,
            "mean": config.get("image_mean"),
            "deviation": config.get("image_std"),
            "resample": config.get("resample"),
        }
        return replace(self, **{name: _plain(value) for name, value in changes.items() if value is not None})

    def to_json(self) -> str:
        """Return it as text, to be stored with the weights."""
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
            # The longer side is truncated to a whole number, as in torchvision.
            return max(self.side, int(self.side * width / height)), max(self.side, int(self.side * height / width))
        longest = int(LONGEST_TO_SHORTEST * self.side)
        if max(width, height) * scale > longest:
            scale = longest / max(width, height)
        return tuple(max(self.step, int(length * scale + 0.5) // self.step * self.step) for length in (width, height))  # type: ignore[return-value]


def _plain(value: Any) -> Any:
    """Return lists of colours as tuples, so that equal preparations compare equal."""
    if isinstance(value, list):
        if len(value) != 3:
            raise CounterpartError(f"A picture has three colours, but {value} has {len(value)} numbers.")
        return tuple(value)
    return value


def prepared(images: Sequence[PlainImage], preparation: Preparation) -> Iterator[Pixels]:
    """Yield the prepared pictures of images, in their order. Raises CounterpartError for one without a readable
    picture."""
    with ThreadPoolExecutor(THREADS) as threads:
        yield from threads.map(lambda image: preparation.pixels(image.open()), images)


class TrainingViews:
    """Random views of pictures for training: random crops of the picture's proportions, half of them mirrored.

    Prepared pictures are cached, up to ``limit`` bytes; the cache changes no view.
    """

    def __init__(self, preparation: Preparation, smallest_crop: float, *, limit: int = CACHE_BYTES) -> None:
        """``smallest_crop`` is the smallest share of a picture in a view; 1 crops nothing."""
        self._smallest_crop = smallest_crop
        self._pictures = KeptPictures(
            lambda image: preparation.pixels(image.open()), lambda pixels: pixels.nbytes, limit
        )

    def of(self, images: Sequence[PlainImage]) -> list[Pixels]:
        """Return one view an image, drawn with torch's generator."""
        seeds = torch.randint(2**62, (len(images),)).tolist()
        with ThreadPoolExecutor(THREADS) as threads:
            return list(threads.map(self._view, images, seeds))

    def _view(self, image: PlainImage, seed: int) -> Pixels:
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
