"""What a machine says of the validation split, where the right answers are known."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.progress import Progress, silent
from corpus.matches import known_pairs
from corpus.models import Collection, Image, Match
from mitl.annotators.base import OpenAnnotator
from mitl.hubness.blocks import Blocks

SPLIT = "val"


@dataclass(frozen=True)
class Validation:
    """Scores of the split's images (rows) and captions (columns), and its original pairs as places (P, 2)."""

    blocks: Blocks
    positives: NDArray[np.int64]


def validation_blocks(machine: OpenAnnotator, collection: Collection, *, progress: Progress = silent) -> Validation:
    """Return a machine's scores over the images of split ``val`` and their captions, with the original matches.

    Raises CounterpartError where the collection has no such split, or it has no pairs, or the machine has no scores.
    """
    images = list(collection.images.filter(split=SPLIT).only("collection", "key", "file", "sha256"))
    captions = list(collection.captions.filter(image__split=SPLIT).only("collection", "key", "text", "image_id"))
    if not images or not captions:
        raise CounterpartError(
            f"{collection} has {len(images)} images and {len(captions)} captions in the split {SPLIT!r}, on which"
            f" settings are chosen; its splits are: {_splits(collection)}. Import that split too, or set them yourself."
        )
    return Validation(
        machine.scores(images, captions, progress=progress),
        _places_of_pairs(
            known_pairs(collection, Match.ORIGINAL), [row.pk for row in images], [row.pk for row in captions]
        ),
    )


def _places_of_pairs(pairs: NDArray[np.int64], images: list[int], captions: list[int]) -> NDArray[np.int64]:
    """Turn pairs of ids into places, leaving out pairs that are not of these images and captions (rising ids)."""
    inside = pairs[np.isin(pairs[:, 0], images) & np.isin(pairs[:, 1], captions)]
    return np.stack([np.searchsorted(images, inside[:, 0]), np.searchsorted(captions, inside[:, 1])], axis=1)


def _splits(collection: Collection) -> str:
    splits = Image.objects.filter(collection=collection).order_by("split").values_list("split", flat=True).distinct()
    return ", ".join(split or "none" for split in splits) or "none yet"
