"""Small annotators trained on the coloured collection, without commands or jobs."""

import numpy as np
from django.conf import settings

from core.files import write_arrays
from corpus.models import Caption, Collection, Image
from mitl.annotators import kind_of, module_of
from mitl.annotators.base import Arrays, EmbeddingAnnotator
from mitl.checkpoints import Checkpoints
from mitl.models import Annotator
from mitl.options import Value
from mitl.training.learners import TrainingPlan, TrainingSet
from tests.mitl.pictured import COLOURS

SMALL: dict[str, Value] = {"trunk": "small", "picture": 32, "word": 16, "embed": 32, "rarest": 1, "frozen": "nothing"}
QUICK: dict[str, Value] = {"batch": 12, "rate": 2e-3, "decay": "none", "smallest_crop": 0.5}


def settings_of(kind: str, **changed: Value) -> dict[str, Value]:
    """A kind's defaults, and what is changed of them."""
    return {name: option.initial for name, option in kind_of(kind).options.items()} | changed


def training_set(collection: Collection) -> TrainingSet:
    """The training split; every caption belongs to every picture of its colour."""
    images = list(collection.images.filter(split="train").order_by("pk"))
    captions = list(collection.captions.filter(image__in=images).order_by("pk"))
    colours = [np.array([colour_of(row.key) for row in rows]) for rows in (images, captions)]
    pairs = np.argwhere(colours[0][:, None] == colours[1])
    return TrainingSet(images, captions, pairs, np.ones(len(pairs), np.float32))


def trained_arrays(kind: str, collection: Collection, *, loss: str, seed: int = 0, **changed: Value) -> Arrays:
    """The weights that a kind learns on the training split."""
    kept = Checkpoints(settings.VAR_DIR / f"{kind}-{seed}")
    plan = TrainingPlan(settings_of(kind, **changed), loss, seed, "cpu", kept)
    arrays: Arrays = module_of(kind).train(training_set(collection), plan, lambda step, done, total: None).arrays
    kept.clear()
    return arrays


_LEARNED: dict[tuple[object, ...], Arrays] = {}


def learned_once(kind: str, collection: Collection, *, loss: str, **changed: Value) -> Arrays:
    """What a kind learns of coloured pictures, trained once for all tests: equal collections teach the same."""
    key = (kind, loss, collection.images.count(), *sorted(changed.items()))
    if key not in _LEARNED:
        _LEARNED[key] = trained_arrays(kind, collection, loss=loss, **changed)
    return _LEARNED[key]


def annotator_of(kind: str, arrays: Arrays, name: str = "annotator", **changed: Value) -> Annotator:
    """A row over weights, in no database."""
    weights = write_arrays(f"annotators/{name}", **arrays)
    return Annotator(
        name=name, kind=kind, options=settings_of(kind, **changed), checkpoint=weights.path, checksum=weights.sha256
    )


def gallery(collection: Collection) -> tuple[list[Image], list[Caption]]:
    """One picture of each colour, none of them trained on, and their captions."""
    images = list(collection.images.filter(split="test").order_by("pk"))
    return images, list(collection.captions.filter(image__in=images).order_by("pk"))


def colour_of(key: str) -> str:
    return next(colour for colour in COLOURS if key.startswith(colour))


def colours_found(annotator: EmbeddingAnnotator, collection: Collection) -> float:
    """Share of pictures whose best caption names their colour; a sixth is chance."""
    images, captions = gallery(collection)
    rows, columns = annotator.encode_images(images), annotator.encode_captions(captions)
    compare = annotator.comparison(rows, columns)
    scores = compare(rows, columns) if compare else rows @ columns.T
    best = [captions[place] for place in scores.argmax(1)]
    return float(np.mean([colour_of(a.key) == colour_of(b.key) for a, b in zip(images, best, strict=True)]))
