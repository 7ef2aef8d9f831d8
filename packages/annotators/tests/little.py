"""The smallest learner: a linear map of either side's drawn features, with dropout, over images and captions that are
in no database."""

import zlib
from functools import cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from counterpart_annotators.base import EmbeddingAnnotator
from counterpart_annotators.checkpoints import Checkpoints
from counterpart_annotators.losses import triplet_sum
from counterpart_annotators.plain import PlainCaption, PlainImage
from counterpart_annotators.progress import Progress, silent
from counterpart_annotators.training.learners import Batch, Trained, TrainingPlan, TrainingSet
from counterpart_annotators.training.loop import fit, repeatable

WIDTH, DIM = 24, 8
SETTINGS = {"epochs": 6, "batch": 8, "rate": 0.03, "decay": "none"}


def make_examples(n: int = 20, *, start: int = 0, validation: TrainingSet | None = None) -> TrainingSet:
    """n images with two captions each."""
    images = [PlainImage(str(i), sha256=str(i)) for i in range(start, start + n)]
    captions = [PlainCaption(str(i), f"{i // 2}") for i in range(2 * start, 2 * (start + n))]
    pairs = np.array([(place // 2, place) for place in range(2 * n)])
    return TrainingSet(images, captions, pairs, np.ones(2 * n, dtype=np.float32), validation)


def features(keys: list[str], side: int) -> Tensor:
    """What an image and its captions have in common, and something of each side's own."""
    return torch.stack([_feature(key, side) for key in keys])


@cache
def _feature(key: str, side: int) -> Tensor:
    common, own = (np.random.default_rng([zlib.crc32(key.encode()), of]).normal(size=WIDTH) for of in (0, side))
    return torch.tensor(common + 0.5 * own, dtype=torch.float32)


class LittleAnnotator(EmbeddingAnnotator):
    looks_at_pictures = False

    def __init__(self, network: nn.ModuleDict) -> None:
        self._network = network

    def encode_images(self, images):
        return self._encoded("images", [image.key for image in images], 1)

    def encode_captions(self, captions):
        return self._encoded("captions", [caption.text for caption in captions], 2)

    def _encoded(self, name: str, keys: list[str], side: int):
        with torch.inference_mode():
            return functional.normalize(self._network[name](features(keys, side)), dim=1).numpy()


class LittleLearner:
    def __init__(self) -> None:
        self.network = nn.ModuleDict({"images": nn.Linear(WIDTH, DIM), "captions": nn.Linear(WIDTH, DIM)})
        self.batches: list[Batch] = []

    def loss(self, batch: Batch) -> Tensor:
        self.batches.append(batch)
        images = features([image.key for image in batch.images], 1)
        captions = features([caption.text for caption in batch.captions], 2)
        rows = functional.normalize(self.network["images"](functional.dropout(images, 0.2)), dim=1)
        columns = functional.normalize(self.network["captions"](captions), dim=1)
        return triplet_sum((rows @ columns.T).masked_fill(torch.from_numpy(batch.known), -torch.inf))

    def annotator(self) -> LittleAnnotator:
        return LittleAnnotator(self.network)


def make_plan(folder: Path, *, seed: int = 0, late: int = 0, report=lambda epoch: None, **settings) -> TrainingPlan:
    return TrainingPlan({**SETTINGS, **settings}, "sum", seed, "cpu", Checkpoints(folder), report, late=late)


def train(
    folder: Path, *, examples: TrainingSet | None = None, progress: Progress = silent, learner=None, **plan
) -> Trained:
    made = make_plan(folder, **plan)
    with repeatable(made.seed):
        learner = learner or LittleLearner()
    return fit(learner, examples or make_examples(validation=make_examples(6, start=100)), made, progress)
