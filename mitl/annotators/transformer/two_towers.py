"""Machines over two towers: they embed images and captions, and learn to tell the pairs of a batch apart."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from math import log
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from core.progress import Progress
from corpus.models import Caption, Image
from mitl.annotators.base import EmbeddingAnnotator, Embeddings
from mitl.annotators.transformer.opening import kept_model, new_model, trained_model
from mitl.losses import LOSSES, contrastive, sigmoid_contrastive
from mitl.models import Annotator
from mitl.nn.preparation import TrainingViews, prepared
from mitl.training.learners import Batch, Plan, Trained, TrainingSet
from mitl.transformer_models.family import Family
from mitl.transformer_models.model import Model
from mitl.transformer_models.towers import embed_pictures, embed_texts

BATCH = 32
# Radford et al. (2021), section 2.5: a larger scale made training unstable.
LARGEST_SCALE = 100.0

Part = TypeVar("Part")


class TwoTowers(EmbeddingAnnotator):
    """Embedding annotator over a network of two towers; its embeddings are unit vectors, (N, D)."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def encode_images(self, images: Sequence[Image]) -> Embeddings:
        """Raises CounterpartError for an image without a readable picture."""
        parts = [
            self._numbers(embed_pictures, self._model.preparation.values(np.stack(pixels), self._model.device))
            for pixels in _parts(prepared(images, self._model.preparation), BATCH)
        ]
        return np.concatenate(parts)

    def encode_captions(self, captions: Sequence[Caption]) -> Embeddings:
        """Captions of like length go through the network together, which leaves little to fill up."""
        rows = self._model.tokeniser.ids_of([caption.text for caption in captions])
        order = np.argsort([len(row) for row in rows], kind="stable")
        parts = [self._captions([rows[place] for place in places]) for places in _parts(order, BATCH)]
        return np.concatenate(parts)[np.argsort(order)]

    def _captions(self, rows: Sequence[Sequence[int]]) -> Embeddings:
        ids, _ = self._model.tokeniser.batch(rows)
        return self._numbers(embed_texts, ids.to(self._model.device))

    def _numbers(self, embed: Callable[[nn.Module, Tensor], Tensor], given: Tensor) -> NDArray[np.float32]:
        with torch.inference_mode():
            return embed(self._model.network, given).cpu().numpy()


class TowersLearner:
    """Learns from one batch's similarities, image by caption; pairs known to match besides are no negatives."""

    def __init__(self, model: Model, loss: str, smallest_crop: float) -> None:
        self.network: Any = model.network
        self._model, self._loss = model, loss
        self._pictures = TrainingViews(model.preparation, smallest_crop)

    def machine(self) -> TwoTowers:
        """Return the machine over the network as it stands."""
        return TwoTowers(self._model)

    def loss(self, batch: Batch) -> Tensor:
        """Return the loss by the name that the learner was given."""
        similarity = self._similarity(batch)
        if self._loss not in ("contrastive", "sigmoid"):
            return LOSSES[self._loss](similarity)
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


def opened(family: Family, annotator: Annotator, device: str) -> TwoTowers:
    """Return the machine with its weights. Raises CounterpartError if it has none yet."""
    return TwoTowers(kept_model(family, annotator, device))


def trained(family: Family, examples: TrainingSet, plan: Plan, progress: Progress) -> Trained:
    """Train a network of the plan's sizes from first weights."""
    model = new_model(family, examples, plan)
    learner = TowersLearner(model, plan.loss, float(plan.settings["smallest_crop"]))
    return trained_model(model, learner, examples, plan, progress)


def _parts(items: Iterable[Part], size: int) -> Iterator[list[Part]]:
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part
