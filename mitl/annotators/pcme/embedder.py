"""The machine over PCME's network: samples of every item, compared by their match probability."""

import hashlib
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from corpus.models import Caption, Image
from mitl.annotators.base import ComparingAnnotator, Embeddings, Settings
from mitl.annotators.recurrent.embedder import Embedder
from mitl.annotators.recurrent.pictures import Source
from mitl.networks.pcme import PCME, sum_of_products
from mitl.nn.vocabularies import Vocabulary

MOST_DISTANCES = 2**23  # computed at once, 4 bytes each and a few times over


class ProbabilisticEmbedder(Embedder, ComparingAnnotator):
    """Comparing annotator: K samples of every item's distribution, and the mean match probability of their pairs.

    An item's noise follows from the seed and what the item is, so that its samples depend neither on how items are
    taken together nor on their order, and equal items are equal.
    """

    def __init__(self, network: PCME, vocabulary: Vocabulary, source: Source, device: str, settings: Settings) -> None:
        super().__init__(network, vocabulary, source, device)
        self._scored_by = sum_of_products if settings["score"] == "matmul" else network.criterion
        self._samples, self._seed = int(settings["samples"]), int(settings["samples_seed"])

    def encode_images(self, images: Sequence[Image]) -> Embeddings:
        """Return samples (N, K, D). Raises CounterpartError for an image without a readable picture."""
        return self._drawn(super().encode_images(images), [f"image {image.sha256 or image.key}" for image in images])

    def encode_captions(self, captions: Sequence[Caption]) -> Embeddings:
        """Return samples (M, K, D)."""
        return self._drawn(super().encode_captions(captions), [f"caption {caption.text}" for caption in captions])

    def compare(self, images: Embeddings, captions: Embeddings) -> NDArray[np.float32]:
        """Return the scores (n, m) of samples (n, K, D) and (m, K, D), in blocks of bounded memory."""
        side = max(1, int((MOST_DISTANCES / (images.shape[1] * captions.shape[1])) ** 0.5))
        scores = np.empty((len(images), len(captions)), dtype=np.float32)
        with torch.inference_mode():
            columns = [torch.from_numpy(captions[c : c + side]).to(self._device) for c in range(0, len(captions), side)]
            for row in range(0, len(images), side):
                rows = torch.from_numpy(images[row : row + side]).to(self._device)
                blocks = [self._scored_by(rows, block).cpu().numpy() for block in columns]
                np.concatenate(blocks, axis=1, out=scores[row : row + side])
        return scores

    def uncertainty_of_images(self, images: Sequence[Image]) -> NDArray[np.float32]:
        """Return how wide each image's distribution is, (N,): the geometric mean of sigma over the dimensions."""
        return _width(super().encode_images(images))

    def uncertainty_of_captions(self, captions: Sequence[Caption]) -> NDArray[np.float32]:
        """Return the same of captions, (M,)."""
        return _width(super().encode_captions(captions))

    def _drawn(self, distributions: Embeddings, items: list[str]) -> Embeddings:
        mean, log_sigma = distributions[:, :1], distributions[:, 1:]
        shape = self._samples, distributions.shape[2]
        noise = np.stack([_noise(f"{self._seed} {item}", shape) for item in items])
        return mean + noise * np.exp(log_sigma)


def _width(distributions: Embeddings) -> NDArray[np.float32]:
    width: NDArray[np.float32] = np.exp(distributions[:, 1].mean(1))
    return width


def _noise(item: str, shape: tuple[int, int]) -> NDArray[np.float32]:
    """Return standard normal numbers that are always the same for one item."""
    seed = int.from_bytes(hashlib.sha256(item.encode()).digest())
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
