"""Choose a re-ranking's settings for one annotator on the validation split, where the right answers are known."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import CounterpartError
from core.progress import Progress, silent
from core.text import counted
from corpus.matches import known_pairs
from corpus.models import Collection, Match
from counterpart_annotators.base import OpenAnnotator
from counterpart_topk.hubness.chosen_steps import Choice, choose, variations
from counterpart_topk.hubness.reranking import Steps
from counterpart_topk.hubness.score_blocks import Blocks
from mitl.hosting.plain_rows import plain_captions, plain_images

SPLIT = "val"


def choose_steps(opened: OpenAnnotator, collection: Collection, steps: Steps, *, progress: Progress = silent) -> Choice:
    """Return what was tried in place of ``steps``, from the plain search on, and the trial with the highest R@1.

    Raises CounterpartError as ``validation_blocks`` does, ValueError as ``choose`` does.
    """
    blocks, positives = validation_blocks(opened, collection, progress=progress)
    return choose(blocks, positives, variations(steps, blocks.shape), progress=progress)


def validation_blocks(
    opened: OpenAnnotator, collection: Collection, *, progress: Progress = silent
) -> tuple[Blocks, NDArray[np.int64]]:
    """Return an annotator's scores over the images of split ``val`` (rows) and their captions (columns), and the
    original matches as places (P, 2).

    Raises CounterpartError where the collection has no such split, or the annotator has no scores.
    """
    images = list(collection.images.filter(split=SPLIT).only("collection", "key", "file", "sha256", "split"))
    captions = list(collection.captions.filter(image__split=SPLIT).only("collection", "key", "text", "image_id"))
    if not images or not captions:
        splits = collection.images.order_by("split").values_list("split", flat=True).distinct()
        named = ", ".join(split or "none" for split in splits) or "none yet"
        raise CounterpartError(
            f"{collection} has {counted(len(images), 'image')} and {counted(len(captions), 'caption')} in the split "
            f"{SPLIT!r}, on which settings are chosen; its splits are: {named}. Import that split too, "
            "or pass the settings instead of --tune."
        )
    keys = {image.pk: image.key for image in images}
    scores = opened.scores(plain_images(images), plain_captions(captions, keys), progress=progress)
    known = known_pairs(collection, Match.ORIGINAL)
    return scores, places_of_pairs(known, [row.pk for row in images], [row.pk for row in captions])


def places_of_pairs(pairs: NDArray[np.int64], images: ArrayLike, captions: ArrayLike) -> NDArray[np.int64]:
    """Turn pairs of ids into places, leaving out pairs that are not of these images and captions (rising ids)."""
    inside = pairs[np.isin(pairs[:, 0], images) & np.isin(pairs[:, 1], captions)]
    return np.stack([np.searchsorted(images, inside[:, 0]), np.searchsorted(captions, inside[:, 1])], axis=1)
