"""The images of active learning: those to learn from, with one caption each, and those to measure retrieval on."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.text import counted
from corpus.matches import known_pairs
from corpus.models import Collection, Image, Match
from counterpart_annotators.training.learners import TrainingSet
from mitl.hosting.plain_rows import plain_captions, plain_images
from mitl.search.tuning import SPLIT
from mitl.training.examples import WORST_POSITIVE_GRADE, Validation, read_examples

TEST = "test"


def read_lessons(collection: Collection, measured: str) -> TrainingSet:
    """Return the training images, each with the first of its captions: row i of the pairs is (i, i).

    One caption an image, as in the paper. The images of the split ``val``, with all captions, choose the best epoch
    unless that is the split on which retrieval is ``measured``. Raises CounterpartError where no image has a caption.
    """
    found = read_examples(collection, Match.ORIGINAL, validation=Validation.SPLIT, seed=0)
    by_image = found.pairs[np.lexsort((found.pairs[:, 1], found.pairs[:, 0]))]
    _, first = np.unique(by_image[:, 0], return_index=True)
    captions = [found.captions[place] for place in by_image[first, 1]]
    validation = None if measured == SPLIT else found.validation
    return one_caption_each(replace(found, captions=captions, validation=validation), np.arange(len(found.images)))


def one_caption_each(lessons: TrainingSet, paired: NDArray[np.int64]) -> TrainingSet:
    """Return the images at these places, and the captions at the same places."""
    places = np.arange(len(paired))
    return TrainingSet(
        images=[lessons.images[place] for place in paired],
        captions=[lessons.captions[place] for place in paired],
        pairs=np.stack([places, places], axis=1),
        weights=np.ones(len(paired), dtype=np.float32),
        validation=lessons.validation,
    )


def split_to_measure(collection: Collection, split: str) -> str:
    """Return the split, or the one of test and val that there is.

    Raises CounterpartError where it has no image, and for a split that is learned from.
    """
    if split != SPLIT and split in Image.TRAINING_SPLITS:
        raise CounterpartError(f"The images of the split {split} are learned from; pass --split with another split.")
    for name in [split] if split else [TEST, SPLIT]:
        if collection.images.filter(split=name).exists():
            return name
    raise CounterpartError(
        f"{collection} has no images in the split {split or 'test or val'}, on which retrieval is measured. Import it"
        " with its splits, or pass --split with one that it has."
    )


def read_measured(collection: Collection, split: str, positives: str) -> TrainingSet:
    """Return all images and captions of a split with the matches of a source; of a source with levels, 1 and 2.

    Raises CounterpartError for an unknown source, and for one without matches among them.
    """
    images = list(collection.images.filter(split=split).order_by("pk"))
    captions = list(collection.captions.filter(image__split=split).order_by("pk"))
    ids = [np.array([row.pk for row in rows], dtype=np.int64) for rows in (images, captions)]
    pairs = known_pairs(collection, positives, max_grade=WORST_POSITIVE_GRADE)
    pairs = pairs[np.isin(pairs[:, 0], ids[0]) & np.isin(pairs[:, 1], ids[1])]
    if not len(pairs):
        raise CounterpartError(
            f"The source {positives!r} has no matches among the {counted(len(images), 'image')} of the split {split};"
            " pass --positives with another source, or --split with another split."
        )
    places = np.stack([np.searchsorted(side, column) for side, column in zip(ids, pairs.T, strict=True)], axis=1)
    return TrainingSet(
        plain_images(images),
        plain_captions(captions, {image.pk: image.key for image in images}),
        places,
        np.ones(len(pairs), dtype=np.float32),
    )
