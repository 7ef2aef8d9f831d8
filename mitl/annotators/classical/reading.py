"""Read images and captions of a collection as the classical kernels take them."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from core.progress import Progress, silent, tracked
from corpus.models import Image
from corpus.pictures import open_picture
from mitl.annotators.base import Arrays, Settings
from mitl.classical.visual_words import LEVELS, PICTURES, WORDS, Picture, learn_words, signature
from mitl.training.learners import TrainingSet

Signatures = NDArray[np.float32]


class PictureReader:
    """Reads pictures as signatures (N, D) over learned visual words."""

    def __init__(self, settings: Settings, arrays: Arrays) -> None:
        """``arrays`` hold ``colour_words``, ``texture_words`` and ``sift_words``."""
        self._longest, self._levels = int(settings["picture"]), LEVELS[str(settings["image"])]
        self._words = {feature: arrays[f"{feature}_words"] for feature in WORDS}

    def read(self, images: Sequence[Image], progress: Progress = silent) -> Signatures:
        """Raises CounterpartError for an image without a readable picture."""
        pictures = tracked(_pictures(images, self._longest), "reading pictures", progress, total=len(images), every=20)
        return np.stack([signature(picture, self._words, self._levels) for picture in pictures])


def learn_picture_words(images: Sequence[Image], settings: Settings, seed: int, progress: Progress) -> Arrays:
    """Learn visual words from at most 200 of the images, by name as ``PictureReader`` takes them."""
    some = np.random.default_rng(seed).permutation(len(images))[:PICTURES]
    chosen = [images[place] for place in np.sort(some)]
    pictures = tracked(
        _pictures(chosen, int(settings["picture"])), "sampling pictures", progress, total=len(chosen), every=20
    )
    sizes = {feature: int(settings[f"{feature}_words"]) for feature in WORDS}
    return {f"{feature}_words": words for feature, words in learn_words(pictures, sizes, seed).items()}


def captions_by_image(examples: TrainingSet) -> list[list[str]]:
    """Return the texts of all captions that are known to match each image, whatever their weight."""
    texts: list[list[str]] = [[] for _ in examples.images]
    for image, caption in sorted(map(tuple, examples.pairs.tolist())):
        texts[image].append(examples.captions[caption].text)
    return texts


def _pictures(images: Sequence[Image], longest: int) -> Iterator[Picture]:
    for image in images:
        picture = open_picture(image)
        picture.thumbnail((longest, longest))
        yield np.asarray(picture)
