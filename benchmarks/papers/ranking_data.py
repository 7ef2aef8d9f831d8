"""Flickr8k's public captions and judgments, as the chapter on Hodosh et al. reads them."""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Flickr8k:
    """The 1,000 test images, each with a caption in the pool, and what people said of pairs.

    Attributes:
        captions: five of each test image, the one in the pool first.
        training: five captions of each other image (7,092).
        experts: the judged pairs, places of image and of caption's image (n, 2).
        expert_scores: (n, 3), 1 to 4.
        crowd: (1000, 1000), share of yes of each image (row) and caption; NaN where no worker was asked.
    """

    captions: list[list[str]]
    training: list[list[str]]
    experts: NDArray[np.int64]
    expert_scores: Floats
    crowd: Floats

    @property
    def pool(self) -> list[str]:
        return [captions[0] for captions in self.captions]

    @property
    def means(self) -> Floats:
        return self.expert_scores.mean(axis=1)

    @property
    def own(self) -> NDArray[np.bool_]:
        """Which judged pairs are an image with its own caption."""
        return self.experts[:, 0] == self.experts[:, 1]

    def expert_table(self) -> Floats:
        """Return the experts' means (1000, 1000), NaN where they were not asked."""
        table = np.full(self.crowd.shape, np.nan)
        table[self.experts[:, 0], self.experts[:, 1]] = self.means
        return table

    def relevant(self) -> NDArray[np.bool_]:
        """Return the pairs that half of the crowd or more found right, and each image's own caption."""
        return (np.nan_to_num(self.crowd) >= 0.5) | np.eye(len(self.crowd), dtype=bool)


@cache
def read_flickr8k(data: Path) -> Flickr8k:
    folder = data / "flickr8k"
    texts: dict[str, list[str]] = {}
    for line in _lines(folder / "Flickr8k.token.txt.gz"):
        name, text = line.split("\t")
        texts.setdefault(name.partition("#")[0], []).append(text)
    images = (folder / "Flickr_8k.testImages.txt").read_text().split()
    place = {image: row for row, image in enumerate(images)}
    asked = [line.split("\t") for line in _lines(folder / "CrowdFlowerAnnotations.txt.gz")]
    numbers = dict(caption.split("#") for _, caption, *_ in asked)
    crowd = np.full((len(images), len(images)), np.nan)
    for image, caption, share, *_ in asked:
        crowd[place[image], place[caption.partition("#")[0]]] = float(share)
    experts = [line.split() for line in (folder / "ExpertAnnotations.txt").read_text().splitlines()]
    return Flickr8k(
        captions=[_pool_first(texts[image], int(numbers[image])) for image in images],
        training=[found for image, found in texts.items() if image not in place],
        experts=np.array([[place[image], place[caption.partition("#")[0]]] for image, caption, *_ in experts]),
        expert_scores=np.array([row[2:] for row in experts], float),
        crowd=crowd,
    )


def _pool_first(captions: list[str], number: int) -> list[str]:
    return [captions[number], *captions[:number], *captions[number + 1 :]]


def _lines(path: Path) -> Sequence[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()
