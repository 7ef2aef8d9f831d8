"""A tiny collection that can be learned, in no database: plain pictures of six colours, each called by its colour's
name; and annotators that learn it."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image as Pillow

from counterpart_annotators.base import Arrays, EmbeddingAnnotator, StoredAnnotator
from counterpart_annotators.checkpoints import Checkpoints
from counterpart_annotators.options import Value
from counterpart_annotators.plain import PlainCaption, PlainImage
from counterpart_annotators.progress import silent
from counterpart_annotators.training.learners import TrainingPlan, TrainingSet
from pretrained import module_of, settings_of

COLOURS = ("red", "green", "blue", "yellow", "black", "white")
SMALL: dict[str, Value] = {"trunk": "small", "picture": 32, "word": 16, "embed": 32, "rarest": 1, "frozen": "nothing"}
QUICK: dict[str, Value] = {"batch": 12, "rate": 2e-3, "decay": "none", "smallest_crop": 0.5}
TRAIN_EACH = 4


@dataclass(frozen=True)
class Drawn(PlainImage):
    """A picture of one colour, which ``file`` names."""

    size: tuple[int, int] = (48, 36)

    def open(self) -> Pillow.Image:
        return Pillow.new("RGB", self.size, self.file) if self.file else super().open()


def images_and_captions(*numbers: int) -> tuple[list[PlainImage], list[PlainCaption]]:
    """A picture of each colour and number, and two captions each."""
    images: list[PlainImage] = []
    captions = []
    for colour in COLOURS:
        for number in numbers:
            key = f"{colour}{number}"
            images.append(Drawn(key, colour, sha256=key, size=(48 + number, 36)))
            for place, text in enumerate((f"a {colour} square", f"all of it is {colour}")):
                captions.append(PlainCaption(f"{key}-{place}", text, key))
    return images, captions


def gallery() -> tuple[list[PlainImage], list[PlainCaption]]:
    """One picture of each colour that was not trained on, and their captions."""
    return images_and_captions(TRAIN_EACH)


def training_set(each: int = TRAIN_EACH) -> TrainingSet:
    """Pictures to learn from; every caption belongs to every picture of its colour."""
    return all_of_a_colour(*images_and_captions(*range(each)))


def all_of_a_colour(images: list[PlainImage], captions: list[PlainCaption]) -> TrainingSet:
    colours = [np.array([colour_of(row.key) for row in rows]) for rows in (images, captions)]
    pairs = np.argwhere(colours[0][:, None] == colours[1])
    return TrainingSet(images, captions, pairs, np.ones(len(pairs), np.float32))


def colour_of(key: str) -> str:
    return next(colour for colour in COLOURS if key.startswith(colour))


def trained_arrays(
    kind: str, *, loss: str = "", seed: int = 0, each: int = TRAIN_EACH, lent: Any = None, **changed: Value
) -> Arrays:
    """The weights that a kind learns; ``lent`` are those of the annotator that it starts from."""
    with TemporaryDirectory() as folder:
        plan = TrainingPlan(
            settings_of(kind, **changed), loss, seed, "cpu", Checkpoints(Path(folder)), weights_of=lambda name: lent
        )
        arrays: Arrays = module_of(kind).train(training_set(each), plan, silent).arrays
    return arrays


learned_once = cache(trained_arrays)
"""What a kind learns, trained once for all tests."""


def opened(kind: str, arrays: Arrays, **changed: Value) -> Any:
    """An annotator with these weights."""
    return module_of(kind).open_annotator(StoredAnnotator("annotator", settings_of(kind, **changed), arrays), "cpu")


def colours_found(annotator: EmbeddingAnnotator) -> float:
    """Share of pictures whose best caption names their colour; a sixth is chance."""
    images, captions = gallery()
    rows, columns = annotator.encode_images(images), annotator.encode_captions(captions)
    compare = annotator.comparison(rows, columns)
    scores = compare(rows, columns) if compare else rows @ columns.T
    best = [captions[place] for place in scores.argmax(1)]
    return float(np.mean([colour_of(a.key) == colour_of(b.key) for a, b in zip(images, best, strict=True)]))
