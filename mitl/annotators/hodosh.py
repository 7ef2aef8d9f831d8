"""What the systems of Hodosh et al. (2013), ``nn`` and ``kcca``, share: how they read pictures and captions."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from core.errors import CounterpartError
from core.progress import Progress, silent, tracked
from corpus.models import Image
from corpus.pictures import open_picture
from mitl.annotators.base import Adopted, Arrays
from mitl.classical.visual_words import LEVELS, PICTURES, WORDS, Picture, Signatures, learn_words, signature
from mitl.options import Settings
from mitl.training.learners import TrainingSet

MOST_PLACES = 1000  # of ranked lists


def adopt(path: Path, settings: Settings) -> Adopted:
    """Refuse a file that ``export_annotator`` did not write: there are no published files."""
    raise CounterpartError(f"{path} is not an exported annotator of this kind; export one, or train it here.")


class PictureReader:
    """Reads pictures as histograms (N, D) of learned visual words."""

    def __init__(self, settings: Settings, arrays: Arrays) -> None:
        """``arrays`` contain ``colour_words``, ``texture_words`` and ``sift_words``."""
        self._longest, self._levels = int(settings["picture"]), LEVELS[str(settings["image"])]
        self._words = {feature: arrays[f"{feature}_words"] for feature in WORDS}

    def read(self, images: Sequence[Image], progress: Progress = silent) -> Signatures:
        """Raises CounterpartError for an image without a readable picture."""
        pictures = tracked(_pictures(images, self._longest), "reading pictures", progress, total=len(images), every=20)
        return np.stack([signature(picture, self._words, self._levels) for picture in pictures])


def learn_picture_words(images: Sequence[Image], settings: Settings, seed: int, progress: Progress) -> Arrays:
    """Learn visual words from at most 200 of the images, named as ``PictureReader`` takes them."""
    sample = np.random.default_rng(seed).permutation(len(images))[:PICTURES]
    chosen = [images[place] for place in np.sort(sample)]
    pictures = tracked(
        _pictures(chosen, int(settings["picture"])), "sampling pictures", progress, total=len(chosen), every=20
    )
    sizes = {feature: int(settings[f"{feature}_words"]) for feature in WORDS}
    return {f"{feature}_words": words for feature, words in learn_words(pictures, sizes, seed).items()}


def captions_by_image(examples: TrainingSet) -> list[list[str]]:
    """Return the texts of all captions known to match each image, whatever their weight."""
    texts: list[list[str]] = [[] for _ in examples.images]
    for image, caption in sorted(map(tuple, examples.pairs.tolist())):
        texts[image].append(examples.captions[caption].text)
    return texts


def _pictures(images: Sequence[Image], longest: int) -> Iterator[Picture]:
    for image in images:
        picture = open_picture(image)
        picture.thumbnail((longest, longest))
        yield np.asarray(picture)
