"""Annotators with two transformers (CLIP, SigLIP): they embed pictures and captions as unit vectors, and learn to
distinguish the pairs of a batch.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from math import log
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import normalize

from counterpart_annotators.base import Arrays, EmbeddingAnnotator, StoredAnnotator
from counterpart_annotators.encoding import Embeddings
from counterpart_annotators.losses import contrastive, named_loss, sigmoid_contrastive
from counterpart_annotators.nn.families import Family, Model, describe_towers, new_model, open_model, train_model
from counterpart_annotators.nn.preparation import TrainingViews, prepared
from counterpart_annotators.options import Settings
from counterpart_annotators.plain import PlainCaption, PlainImage
from counterpart_annotators.progress import Progress
from counterpart_annotators.training.learners import Batch, Trained, TrainingPlan, TrainingSet

BATCH = 32
# Radford et al. (2021), section 2.5: a larger scale made training unstable.
LARGEST_SCALE = 100.0

Part = TypeVar("Part")


class TwoTowers(EmbeddingAnnotator):
    """Embeds with a network of two transformers; embeddings are unit vectors, (N, D)."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def encode_images(self, images: Sequence[PlainImage]) -> Embeddings:
        """Raises CounterpartError for an image without a readable picture."""
        parts = [
            self._embedded(embed_pictures, self._model.preparation.values(np.stack(pixels), self._model.device))
            for pixels in _parts(prepared(images, self._model.preparation), BATCH)
        ]
        return np.concatenate(parts)

    def encode_captions(self, captions: Sequence[PlainCaption]) -> Embeddings:
        """Captions of similar length are batched together, which needs little padding."""
        rows = self._model.tokeniser.ids_of([caption.text for caption in captions])
        order = np.argsort([len(row) for row in rows], kind="stable")
        parts = [self._captions([rows[place] for place in places]) for places in _parts(order, BATCH)]
        return np.concatenate(parts)[np.argsort(order)]

    def _captions(self, rows: Sequence[Sequence[int]]) -> Embeddings:
        ids, _ = self._model.tokeniser.batch(rows)
        return self._embedded(embed_texts, ids.to(self._model.device))

    def _embedded(self, embed: Callable[[nn.Module, Tensor], Tensor], batch: Tensor) -> NDArray[np.float32]:
        with torch.inference_mode():
            return embed(self._model.network, batch).cpu().numpy()


class TowersLearner:
    """Learns from the similarities of a batch, image by caption; other pairs known to match are not negatives."""

    def __init__(self, model: Model, plan: TrainingPlan) -> None:
        self.network: Any = model.network
        self._model = model
        self._loss = plan.loss
        self._settings = plan.settings
        self._pictures = TrainingViews(model.preparation, float(plan.settings["smallest_crop"]))

    def annotator(self) -> TwoTowers:
        """Return the annotator with the network's present weights."""
        return TwoTowers(self._model)

    def loss(self, batch: Batch) -> Tensor:
        """Return the named loss."""
        similarity = self._similarity(batch)
        if self._loss not in ("contrastive", "sigmoid"):
            return named_loss(self._loss, self._settings)(similarity)
        scale = self.network.logit_scale.clamp(max=log(LARGEST_SCALE)).exp()
        if self._loss == "contrastive":
            return contrastive(similarity, scale)
        return sigmoid_contrastive(similarity, scale, self.network.logit_bias)

    def _similarity(self, batch: Batch) -> Tensor:
        model = self._model
        pixels = np.stack(self._pictures.of(batch.images))
        ids, _ = model.tokeniser.batch(model.tokeniser.ids_of([caption.text for caption in batch.captions]))
        images = embed_pictures(self.network, model.preparation.values(pixels, model.device))
        captions = embed_texts(self.network, ids.to(model.device))
        known = torch.from_numpy(batch.known).to(model.device)
        return (images @ captions.T).masked_fill(known, -torch.inf)


def open_towers(family: Family, stored: StoredAnnotator, device: str) -> TwoTowers:
    """Load the annotator."""
    return TwoTowers(open_model(family, stored, device))


def train_towers(family: Family, examples: TrainingSet, plan: TrainingPlan, progress: Progress) -> Trained:
    """Train a network of the settings' sizes from initial weights."""
    model = new_model(family, examples, plan)
    return train_model(model, TowersLearner(model, plan), examples, plan, progress)


def describe_embedding(embed: str, settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Describe the network for the annotator's page; the setting ``embed`` is the length of an embedding."""
    pieces = len(arrays["network.text_model.embeddings.token_embedding.weight"])
    towers = describe_towers(settings, pieces)
    return towers | {"embedding": f"{settings[embed]} dimensions, L2-normalised", "score": "cosine"}


def embed_pictures(network: Any, values: Tensor) -> Tensor:
    """Embed prepared pictures (B, 3, H, W) as unit vectors (B, D)."""
    return normalize(network.get_image_features(pixel_values=values).pooler_output, dim=1)


def embed_texts(network: Any, ids: Tensor) -> Tensor:
    """Embed rows of ids (B, L) as unit vectors (B, D).

    Without a mask: CLIP does not read beyond the end token, and SigLIP reads the padding as in training.
    """
    return normalize(network.get_text_features(input_ids=ids).pooler_output, dim=1)


def _parts(items: Iterable[Part], size: int) -> Iterator[list[Part]]:
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part
