"""Annotators for tests that do not compare embeddings by one inner product; they count what they encode."""

import zlib

import numpy as np

from counterpart_annotators.base import ComparingAnnotator, EmbeddingAnnotator

OPTIONS: dict = {}
CHECKPOINT = "none"
PREPROCESSING = "seeded by key"
K, DIM = 2, 4

encoded: list[str] = []


def open_annotator(annotator, device):
    return Distances() if annotator.name == "distances" else Several()


class Several(EmbeddingAnnotator):
    """K embeddings an item, drawn from its key."""

    looks_at_pictures = False

    def encode_images(self, images):
        return self._drawn([f"image {image.key}" for image in images])

    def encode_captions(self, captions):
        return self._drawn([f"caption {caption.key}" for caption in captions])

    def _drawn(self, keys):
        encoded.extend(keys)
        rows = [np.random.default_rng(zlib.crc32(key.encode())).normal(size=(K, DIM)) for key in keys]
        return np.stack(rows).astype(np.float32)


class Distances(Several, ComparingAnnotator):
    """Scores a pair by minus the mean distance of its embeddings."""

    def compare(self, images, captions):
        apart = images[:, None, :, None] - captions[None, :, None, :]
        return -np.linalg.norm(apart, axis=-1).mean((2, 3)).astype(np.float32)
