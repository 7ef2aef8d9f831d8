"""Machines over networks that read picture and caption together, and learn to find a picture's caption among others."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.progress import Progress
from corpus.models import Caption, Image
from mitl.annotators.base import CrossEncoder, JointScores
from mitl.annotators.transformer.opening import kept_model, new_model, trained_model
from mitl.losses import matching
from mitl.models import Annotator
from mitl.nn.preparation import TrainingViews, prepared
from mitl.training.learners import Batch, Plan, Trained, TrainingSet
from mitl.transformer_models.family import Family
from mitl.transformer_models.model import Model
from mitl.transformer_models.pairing import Pairing, fill_up, see_all

Places = NDArray[np.int64]


class JointMachine(CrossEncoder):
    """Cross-encoder over such a network, ``batch_size`` pairs a pass."""

    def __init__(self, model: Model, pairing: Pairing, batch_size: int) -> None:
        self.batch_size = batch_size
        self._model, self._pairing = model, pairing

    def ready(self, images: Sequence[Image], captions: Sequence[Caption]) -> "PairsOfGallery":
        """Make ready to score pairs of a gallery."""
        return PairsOfGallery(self._model, self._pairing, images, captions)


class PairsOfGallery(JointScores):
    """Scores of single pairs. What was seen of the last picture is kept, and so are the captions' ids."""

    def __init__(self, model: Model, pairing: Pairing, images: Sequence[Image], captions: Sequence[Caption]) -> None:
        self._model, self._pairing = model, pairing
        self._images, self._captions = images, captions
        self._last: dict[int, Tensor] = {}
        self._ids: dict[int, list[int]] = {}

    def pairs(self, images: Places, captions: Places) -> NDArray[np.float32]:
        """Score pairs by their places, (n,). Raises CounterpartError for an image without a readable picture."""
        with torch.inference_mode():
            places, whose = np.unique(images, return_inverse=True)
            seen, seen_mask = fill_up(self._seen(places.tolist()))
            ids, mask = self._model.tokeniser.batch(self._ids_of(captions.tolist()))
            device = self._model.device
            scores = self._pairing.score(seen[whose], seen_mask[whose], ids.to(device), mask.to(device))
        return scores.cpu().numpy()

    def _seen(self, places: list[int]) -> list[Tensor]:
        new = [place for place in places if place not in self._last]
        if new:
            pictures = list(prepared([self._images[place] for place in new], self._model.preparation))
            looked = see_all(self._pairing, pictures, self._model.preparation, self._model.device)
            self._last |= zip(new, looked, strict=True)
        seen = [self._last[place] for place in places]
        self._last = {places[-1]: seen[-1]}
        return seen

    def _ids_of(self, places: list[int]) -> list[list[int]]:
        new = [place for place in dict.fromkeys(places) if place not in self._ids]
        self._ids |= zip(new, self._model.tokeniser.ids_of([self._captions[p].text for p in new]), strict=True)
        return [self._ids[place] for place in places]


class PairsLearner:
    """Learns to give the true caption the highest of 1 + n scores; the n others are drawn from the batch.

    Kim, Son and Kim (2021) fine-tune ViLT in this way, with n = 15.
    """

    def __init__(
        self, model: Model, pairing: Pairing, *, negatives: int, batch_size: int, smallest_crop: float
    ) -> None:
        self.network = model.network
        self._model, self._pairing = model, pairing
        self._negatives, self._batch_size = negatives, batch_size
        self._pictures = TrainingViews(model.preparation, smallest_crop)

    def machine(self) -> JointMachine:
        """Return the machine over the network as it stands."""
        return JointMachine(self._model, self._pairing, self._batch_size)

    def loss(self, batch: Batch) -> Tensor:
        """Return the mean cross-entropy. Captions known to match the picture besides are none of the others."""
        model = self._model
        seen, seen_mask = fill_up(
            see_all(self._pairing, self._pictures.of(batch.images), model.preparation, model.device)
        )
        ids, mask = model.tokeniser.batch(model.tokeniser.ids_of([caption.text for caption in batch.captions]))
        captions, allowed = draw_captions(torch.from_numpy(batch.known), self._negatives)
        images = torch.arange(len(captions)).repeat_interleave(captions.shape[1])
        chosen = captions.flatten()
        scores = self._pairing.score(
            seen[images], seen_mask[images], ids[chosen].to(model.device), mask[chosen].to(model.device)
        )
        logits = scores.view(captions.shape).masked_fill(~allowed.to(model.device), -torch.inf)
        return matching(logits)


def opened(family: Family, pairing: type[Pairing], annotator: Annotator, device: str) -> JointMachine:
    """Return the machine with its weights. Raises CounterpartError if it has none yet."""
    model = kept_model(family, annotator, device)
    return JointMachine(model, pairing(model.network), int(annotator.options["batch_size"]))


def trained(family: Family, pairing: type[Pairing], examples: TrainingSet, plan: Plan, progress: Progress) -> Trained:
    """Train a network of the plan's sizes from first weights."""
    model = new_model(family, examples, plan)
    learner = PairsLearner(
        model,
        pairing(model.network),
        negatives=int(plan.settings["negatives"]),
        batch_size=int(plan.settings["batch_size"]),
        smallest_crop=float(plan.settings["smallest_crop"]),
    )
    return trained_model(model, learner, examples, plan, progress)


def draw_captions(known: Tensor, negatives: int) -> tuple[Tensor, Tensor]:
    """Draw, for each image of a batch of B pairs, its own caption and ``negatives`` others, fewer in a small batch.

    Args:
        known: (B, B), bool: captions that are known to match the image besides its own; they come last.

    Returns:
        Places of captions, (B, 1 + n), the image's own first, and which of them count: not those that are known.
        Drawn from torch's own generator.
    """
    own = torch.eye(len(known), dtype=torch.bool)
    lots = torch.rand(known.shape).masked_fill(known, -1).masked_fill(own, 2)
    captions = lots.argsort(dim=1, descending=True)[:, : 1 + negatives]
    return captions, ~known.gather(1, captions)
