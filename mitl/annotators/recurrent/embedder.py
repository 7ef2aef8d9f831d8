"""The machine over a network with two halves: one row a picture, one a caption."""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from corpus.models import Caption, Image
from mitl.annotators.base import EmbeddingAnnotator, Embeddings
from mitl.annotators.recurrent.pictures import Source
from mitl.nn.layers import TwoHalves
from mitl.nn.vocabularies import Vocabulary


class Embedder(EmbeddingAnnotator):
    """Embedding annotator over a network with two halves, which stays in evaluation mode once it was asked.

    ``spelled`` is what is done to a caption before its words are told apart.
    """

    def __init__(
        self,
        network: TwoHalves,
        vocabulary: Vocabulary,
        source: Source,
        device: str,
        *,
        spelled: Callable[[str], str] = str,
    ) -> None:
        self.looks_at_pictures = source.looks_at_pictures
        self._network, self._vocabulary, self._source = network, vocabulary, source
        self._device, self._spelled = device, spelled

    def encode_images(self, images: Sequence[Image]) -> Embeddings:
        """Return (N, D) or (N, K, D). Raises CounterpartError for an image without a readable picture."""
        self._network.eval()
        with torch.inference_mode():
            batches = self._source.batches(images)
            parts = [self._network.embed_pictures(batch.to(self._device)).cpu().numpy() for batch in batches]
        return np.concatenate(parts)

    def encode_captions(self, captions: Sequence[Caption]) -> Embeddings:
        """Return (M, D) or (M, K, D)."""
        token_ids, lengths = self._vocabulary.batch([self._spelled(caption.text) for caption in captions])
        self._network.eval()
        with torch.inference_mode():
            return self._network.embed_captions(token_ids.to(self._device), lengths).cpu().numpy()
