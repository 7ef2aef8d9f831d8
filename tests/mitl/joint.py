"""A cross-encoder for tests: a small bilinear network that notes every batch it is asked for."""

import zlib

import numpy as np
import torch

from corpus.models import Collection
from counterpart_annotators.base import CrossEncoder, JointScores
from mitl.hosting.plain_rows import plain_captions, plain_images

CROSS_ENCODER = True
OPTIONS: dict = {}
CHECKPOINT = "none"
DIM = 5

# What it was asked, in order; and what happens at a batch of some number.
batches: list[tuple[list[int], list[int]]] = []
at_batch: dict[int, object] = {}


def open_annotator(annotator, device):
    return Bilinear(int(annotator.options.get("batch", 4)), coarse=bool(annotator.options.get("coarse", False)))


def forget():
    batches.clear()
    at_batch.clear()


def asked() -> list[tuple[int, int]]:
    """The pairs that were asked for, in order."""
    return [pair for images, captions in batches for pair in zip(images, captions, strict=True)]


def features(keys: list[str]) -> torch.Tensor:
    return torch.stack(
        [torch.randn(DIM, generator=torch.Generator().manual_seed(zlib.crc32(key.encode()))) for key in keys]
    )


class Bilinear(CrossEncoder, JointScores):
    """``coarse`` rounds the scores to whole numbers, so that many are equal."""

    looks_at_pictures = False

    def __init__(self, batch_size: int, *, coarse: bool) -> None:
        self.batch_size, self._coarse = batch_size, coarse
        self._weights = torch.randn(DIM, DIM, generator=torch.Generator().manual_seed(1))

    def ready(self, images, captions):
        self._images = features([f"image {image.key}" for image in images])
        self._captions = features([f"caption {caption.key}" for caption in captions])
        return self

    def pairs(self, images, captions):
        batches.append((images.tolist(), captions.tolist()))
        happening = at_batch.get(len(batches))
        scores = self.score(self._images[images], self._captions[captions])
        return happening(scores) if happening else scores

    def score(self, images, captions):
        scores = ((images @ self._weights) * captions).sum(1).numpy()
        return np.round(scores) if self._coarse else scores


def brute_force(collection: Collection, *, coarse: bool = False) -> np.ndarray:
    """All scores, an image a row, one pair at a time."""
    annotator = Bilinear(1, coarse=coarse).ready(
        plain_images(collection.images.order_by("pk")), plain_captions(collection.captions.order_by("pk"), {})
    )
    shape = len(annotator._images), len(annotator._captions)
    return np.array(
        [
            [annotator.score(annotator._images[[i]], annotator._captions[[c]])[0] for c in range(shape[1])]
            for i in range(shape[0])
        ]
    )
