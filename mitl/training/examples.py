"""Training examples of a collection: the known pairs of its training split, and a part of them for validation."""

from collections.abc import Iterable
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from corpus.matches import known_pairs
from corpus.models import Caption, Collection, Image
from counterpart_annotators.training.learners import TrainingSet
from mitl.hosting.plain_rows import plain_captions, plain_images
from mitl.search.tuning import SPLIT

BEST_GRADE = 1
WORST_POSITIVE_GRADE = 2
LESSER_WEIGHT = 0.5  # ECCV Caption, eq. E.4
HELD_OUT = 0.1
FEWEST_HELD_OUT = 2

Rows = NDArray[np.object_]
Places = NDArray[np.int64]


class Validation(StrEnum):
    """What a training is validated on: the images of the split ``val``, if there are any; a random tenth of the
    training images; nothing."""

    SPLIT = "split"
    HELD_OUT = "held-out"
    NONE = "none"


def read_examples(
    collection: Collection, source: str, *, validation: Validation, seed: int, gallery: bool = False
) -> TrainingSet:
    """Return the pairs of a source among the images of the training splits, or among all if no image has a split.

    Images and captions without a pair are left out; images that have no caption either, before a tenth is held out. Of
    a source with levels, level 1 weighs 1 and level 2 half. A caption belongs to the same part as its own image; a pair
    across training and validation is dropped. With ``gallery``, the pairs are those among all images, and the pairs
    that people rejected come with them.

    Raises CounterpartError for an unknown source, no pairs, or too few images to hold out a tenth.
    """
    images, captions = _rows(collection, gallery)
    pairs, weights = _weighted_pairs(collection, source)
    images = images[np.isin(_ids(images), [*(caption.image_id for caption in captions), *pairs[:, 0].tolist()])]
    held_out = _held_out(images, validation, seed)
    validated = _examples(images[held_out], captions, pairs, weights)
    rejected = known_pairs(collection, source, min_grade=WORST_POSITIVE_GRADE + 1) if gallery else None
    learned = _examples(images[~held_out], captions, pairs, weights, validated, rejected)
    if learned is None:
        raise CounterpartError(
            f"The source {source!r} has no pairs among the {(~held_out).sum()} training images; pass --matches with"
            " another source."
        )
    return learned


def _rows(collection: Collection, gallery: bool) -> tuple[Rows, Rows]:
    """Return the images of the training splits, or with the ``gallery`` all, and their captions, by rising id."""
    training = collection.images.training()
    images = collection.images.all() if gallery or not training.exists() else training
    captions = collection.captions.filter(image__in=images)
    return _array(images.order_by("pk")), _array(captions.order_by("pk"))


def _weighted_pairs(collection: Collection, source: str) -> tuple[Places, NDArray[np.float32]]:
    """Return a source's positive pairs of ids (P, 2), and their weights."""
    pairs = known_pairs(collection, source, max_grade=WORST_POSITIVE_GRADE)
    best = set(map(tuple, known_pairs(collection, source, max_grade=BEST_GRADE).tolist()))
    weights = [1.0 if tuple(pair) in best else LESSER_WEIGHT for pair in pairs.tolist()]
    return pairs, np.array(weights, dtype=np.float32)


def _held_out(images: Rows, validation: Validation, seed: int) -> NDArray[np.bool_]:
    """Return which images are for validation."""
    if validation == Validation.SPLIT:
        return np.array([image.split == SPLIT for image in images], dtype=np.bool_)
    held = np.zeros(len(images), dtype=np.bool_)
    if validation == Validation.HELD_OUT:
        n = round(HELD_OUT * len(images))
        if n < FEWEST_HELD_OUT:
            raise CounterpartError(
                f"A tenth of {len(images)} training images is too few to validate on; pass --validation none."
            )
        held[np.random.default_rng(seed).choice(len(images), n, replace=False)] = True
    return held


def _examples(
    images: Rows,
    captions: Rows,
    pairs: Places,
    weights: NDArray[np.float32],
    validation: TrainingSet | None = None,
    rejected: Places | None = None,
) -> TrainingSet | None:
    """Return the pairs among these images and their captions, or None if there are none."""
    image_ids = _ids(images)
    captions = captions[np.isin([caption.image_id for caption in captions], image_ids)]

    def inside(found: Places) -> NDArray[np.bool_]:
        return np.asarray(np.isin(found[:, 0], image_ids) & np.isin(found[:, 1], _ids(captions)))

    kept = inside(pairs)
    if not kept.any():
        return None
    others = np.zeros((0, 2), np.int64) if rejected is None else rejected[inside(rejected)]
    sides = [np.unique(side, return_inverse=True) for side in np.concatenate([pairs[kept], others]).T]
    places = np.stack([side for _, side in sides], axis=1)
    return TrainingSet(
        images=plain_images(images[np.isin(image_ids, sides[0][0])]),
        captions=plain_captions(captions[np.isin(_ids(captions), sides[1][0])], {row.pk: row.key for row in images}),
        pairs=places[: kept.sum()],
        weights=weights[kept],
        validation=validation,
        rejected=places[kept.sum() :],
    )


def _array(rows: Iterable[Image | Caption]) -> Rows:
    found = list(rows)
    return np.fromiter(found, dtype=object, count=len(found))


def _ids(rows: Rows) -> NDArray[np.int64]:
    return np.array([row.pk for row in rows], dtype=np.int64)
