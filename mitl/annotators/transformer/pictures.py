"""Images of a collection as prepared pictures, several decoded at a time while the network works."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import sqrt

import numpy as np
import torch
from PIL import Image as Pillow

from corpus.models import Image
from corpus.pictures import open_picture
from mitl.preprocessing.keeping import CACHE_BYTES, THREADS, KeptPictures
from mitl.transformer_models.pictures import Pixels, Preparation


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
