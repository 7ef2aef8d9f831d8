"""Annotators whose network reads a picture and a caption together (ViLT, BLIP), and learns to find a picture's caption
among others. The network works in two steps, the first of them once per picture.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from counterpart_annotators.base import CrossEncoder, JointScores, StoredAnnotator
from counterpart_annotators.losses import matching
from counterpart_annotators.nn.families import Family, Model, new_model, open_model, train_model
from counterpart_annotators.nn.preparation import Pixels, Preparation, TrainingViews, prepared
from counterpart_annotators.plain import PlainCaption, PlainImage
from counterpart_annotators.progress import Progress
from counterpart_annotators.training.learners import Batch, Trained, TrainingPlan, TrainingSet

Places = NDArray[np.int64]


class Pairing(Protocol):
    """How the networks of one family read pictures and score pairs, with and without gradients."""

    def __init__(self, network: nn.Module) -> None: ...

    def see(self, values: Tensor) -> Tensor:
        """Return features of B prepared pictures of one size, whatever the caption: (B, P, D)."""

    def score(self, seen: Tensor, seen_mask: Tensor, ids: Tensor, mask: Tensor) -> Tensor:
        """Score B pairs, (B,): features of pictures (B, P, D), ids of captions (B, L), and masks, 0 at padding."""


class JointEncoder(CrossEncoder):
    """Scores ``batch_size`` pairs per pass."""

    def __init__(self, model: Model, pairing: Pairing, batch_size: int) -> None:
        self.batch_size = batch_size
        self._model = model
        self._pairing = pairing

    def ready(self, images: Sequence[PlainImage], captions: Sequence[PlainCaption]) -> "PairsOfGallery":
        """Prepare to score pairs of a gallery."""
        return PairsOfGallery(self._model, self._pairing, images, captions)


class PairsOfGallery(JointScores):
    """Scores of single pairs. The features of the last picture are kept, and the ids of all captions."""

    def __init__(
        self, model: Model, pairing: Pairing, images: Sequence[PlainImage], captions: Sequence[PlainCaption]
    ) -> None:
        self._model = model
        self._pairing = pairing
        self._images = images
        self._captions = captions
        self._last: dict[int, Tensor] = {}
        self._ids: dict[int, list[int]] = {}

    def pairs(self, images: Places, captions: Places) -> NDArray[np.float32]:
        """Score pairs by their places, (n,). Raises CounterpartError for an image without a readable picture."""
        with torch.inference_mode():
            places, whose = np.unique(images, return_inverse=True)
            seen, seen_mask = pad(self._seen(places.tolist()))
            ids, mask = self._model.tokeniser.batch(self._ids_of(captions.tolist()))
            device = self._model.device
            scores = self._pairing.score(seen[whose], seen_mask[whose], ids.to(device), mask.to(device))
        return scores.cpu().numpy()

    def _seen(self, places: list[int]) -> list[Tensor]:
        new = [place for place in places if place not in self._last]
        if new:
            pictures = list(prepared([self._images[place] for place in new], self._model.preparation))
            features = see_all(self._pairing, pictures, self._model.preparation, self._model.device)
            self._last |= zip(new, features, strict=True)
        seen = [self._last[place] for place in places]
        self._last = {places[-1]: seen[-1]}
        return seen

    def _ids_of(self, places: list[int]) -> list[list[int]]:
        new = [place for place in dict.fromkeys(places) if place not in self._ids]
        self._ids |= zip(new, self._model.tokeniser.ids_of([self._captions[p].text for p in new]), strict=True)
        return [self._ids[place] for place in places]


class PairsLearner:
    """Learns to give the true caption the highest of 1 + n scores; the n negatives are drawn from the batch.

    Kim, Son and Kim (2021) fine-tune ViLT in this way, with n = 15.
    """

    def __init__(self, model: Model, pairing: Pairing, plan: TrainingPlan) -> None:
        self.network = model.network
        self._model = model
        self._pairing = pairing
        self._negatives = int(plan.settings["negatives"])
        self._batch_size = int(plan.settings["batch_size"])
        self._pictures = TrainingViews(model.preparation, float(plan.settings["smallest_crop"]))

    def annotator(self) -> JointEncoder:
        """Return the annotator with the network's present weights."""
        return JointEncoder(self._model, self._pairing, self._batch_size)

    def loss(self, batch: Batch) -> Tensor:
        """Return the mean cross-entropy. Other captions known to match a picture are not negatives."""
        model = self._model
        seen, seen_mask = pad(see_all(self._pairing, self._pictures.of(batch.images), model.preparation, model.device))
        ids, mask = model.tokeniser.batch(model.tokeniser.ids_of([caption.text for caption in batch.captions]))
        captions, allowed = draw_captions(torch.from_numpy(batch.known), self._negatives)
        images = torch.arange(len(captions)).repeat_interleave(captions.shape[1])
        chosen = captions.flatten()
        scores = self._pairing.score(
            seen[images], seen_mask[images], ids[chosen].to(model.device), mask[chosen].to(model.device)
        )
        logits = scores.view(captions.shape).masked_fill(~allowed.to(model.device), -torch.inf)
        return matching(logits)


def open_pairs(family: Family, pairing: type[Pairing], stored: StoredAnnotator, device: str) -> JointEncoder:
    """Load the annotator."""
    model = open_model(family, stored, device)
    return JointEncoder(model, pairing(model.network), int(stored.options["batch_size"]))


def train_pairs(
    family: Family, pairing: type[Pairing], examples: TrainingSet, plan: TrainingPlan, progress: Progress
) -> Trained:
    """Train a network of the settings' sizes from initial weights."""
    model = new_model(family, examples, plan)
    return train_model(model, PairsLearner(model, pairing(model.network), plan), examples, plan, progress)


def see_all(pairing: Pairing, pictures: Sequence[Pixels], preparation: Preparation, device: str) -> list[Tensor]:
    """Return the features of every picture, (P, D) each; pictures of one size are batched."""
    seen: dict[int, Tensor] = {}
    for shape in {picture.shape: None for picture in pictures}:
        alike = [number for number, picture in enumerate(pictures) if picture.shape == shape]
        values = preparation.values(np.stack([pictures[number] for number in alike]), device)
        seen |= zip(alike, pairing.see(values), strict=True)
    return [seen[number] for number in range(len(pictures))]


def pad(seen: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Return the features of pictures padded to the largest, (B, P, D), and a mask, 0 at padding, (B, P)."""
    lengths = torch.tensor([len(features) for features in seen], device=seen[0].device)
    mask = torch.arange(int(lengths.max()), device=lengths.device) < lengths[:, None]
    return pad_sequence(list(seen), batch_first=True), mask.long()


def draw_captions(known: Tensor, negatives: int) -> tuple[Tensor, Tensor]:
    """Draw, for each image of a batch of B pairs, its own caption and ``negatives`` others, fewer in a small batch.

    Args:
        known: (B, B), bool: other captions known to match the image; they are drawn last.

    Returns:
        Places of captions, (B, 1 + n), the image's own first, and which of them count: not the known ones.
        Drawn with torch's generator.
    """
    own = torch.eye(len(known), dtype=torch.bool)
    lots = torch.rand(known.shape).masked_fill(known, -1).masked_fill(own, 2)
    captions = lots.argsort(dim=1, descending=True)[:, : 1 + negatives]
    return captions, ~known.gather(1, captions)
