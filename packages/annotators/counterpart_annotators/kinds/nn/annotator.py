"""Nearest neighbours, and the pictures and captions that ``kcca`` reads in the same way."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from counterpart_annotators.base import Adopted, Arrays, ListAnnotator, StoredAnnotator
from counterpart_annotators.classical.documents import Documents
from counterpart_annotators.classical.texts import Text, learn_text
from counterpart_annotators.classical.visual_words import (
    LEVELS,
    PICTURES,
    WORDS,
    Picture,
    Signatures,
    intersections,
    learn_words,
    signature,
)
from counterpart_annotators.options import Settings
from counterpart_annotators.plain import TO_CAPTIONS, PlainCaption, PlainImage
from counterpart_annotators.progress import Progress, silent, tracked
from counterpart_annotators.training.learners import Trained, TrainingPlan, TrainingSet
from counterpart_metrics.errors import CounterpartError, counted

MOST_PLACES = 1000  # of ranked lists


def adopt(path: Path, settings: Settings) -> Adopted:
    """Refuse a file that ``export_annotator`` did not write: there are no published files."""
    raise CounterpartError(f"{path} is not an exported annotator of this kind; export one, or train it here.")


class PictureReader:
    """Reads pictures as histograms (N, D) of learned visual words."""

    def __init__(self, settings: Settings, arrays: Arrays) -> None:
        """``arrays`` contain ``colour_words``, ``texture_words`` and ``sift_words``."""
        self._longest = int(settings["picture"])
        self._levels = LEVELS[str(settings["image"])]
        self._words = {feature: arrays[f"{feature}_words"] for feature in WORDS}

    def read(self, images: Sequence[PlainImage], progress: Progress = silent) -> Signatures:
        """Raises CounterpartError for an image without a readable picture."""
        pictures = tracked(_pictures(images, self._longest), "reading pictures", progress, total=len(images), every=20)
        return np.stack([signature(picture, self._words, self._levels) for picture in pictures])


def learn_picture_words(images: Sequence[PlainImage], settings: Settings, seed: int, progress: Progress) -> Arrays:
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


def _pictures(images: Sequence[PlainImage], longest: int) -> Iterator[Picture]:
    for image in images:
        picture = image.open()
        picture.thumbnail((longest, longest))
        yield np.asarray(picture)


CAPTIONS = "training"

__all__ = ["NearestNeighbours", "adopt", "architecture", "open_annotator", "train"]


class NearestNeighbours(ListAnnotator):
    """Ranks by the nearest neighbour. Of equally near neighbours and of equal scores the first comes first."""

    def __init__(self, settings: Settings, arrays: Arrays) -> None:
        """``arrays`` are those of ``train``."""
        self._pictures = PictureReader(settings, arrays)
        self._text = Text(str(settings["text"]), arrays)
        self._signatures = arrays["signatures"]
        self._documents = Documents.from_arrays(arrays, CAPTIONS)

    def lists_of(
        self, direction: str, queries: Sequence[PlainImage | PlainCaption], items: Sequence[PlainImage | PlainCaption]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Rank at most 1,000 items per query. Raises CounterpartError for an image without a readable picture."""
        if direction == TO_CAPTIONS:
            scores = self._captions_for(cast(Sequence[PlainImage], queries), cast(Sequence[PlainCaption], items))
        else:
            scores = self._images_for(cast(Sequence[PlainCaption], queries), cast(Sequence[PlainImage], items))
        places = np.argsort(-scores, axis=1, kind="stable")[:, :MOST_PLACES]
        return places, np.take_along_axis(scores, places, 1).astype(np.float32)

    def _captions_for(self, queries: Sequence[PlainImage], items: Sequence[PlainCaption]) -> NDArray[np.floating]:
        neighbours = np.argmax(intersections(self._pictures.read(queries), self._signatures), axis=1)
        kernel = self._text.kernel
        different, place = np.unique(neighbours, return_inverse=True)
        return kernel.compare(kernel.read(self._documents.pick(different)), kernel.read(self._read(items)))[place]

    def _images_for(self, queries: Sequence[PlainCaption], items: Sequence[PlainImage]) -> NDArray[np.floating]:
        kernel = self._text.kernel
        similarity = kernel.compare(kernel.read(self._read(queries)), kernel.read(self._documents))
        different, place = np.unique(np.argmax(similarity, axis=1), return_inverse=True)
        return intersections(self._signatures[different], self._pictures.read(items))[place]

    def _read(self, captions: Sequence[PlainCaption]) -> Documents:
        return self._text.documents([caption.text] for caption in captions)


def open_annotator(stored: StoredAnnotator, device: str) -> NearestNeighbours:
    """Load the annotator."""
    return NearestNeighbours(stored.options, stored.arrays)


def train(examples: TrainingSet, plan: TrainingPlan, progress: Progress) -> Trained:
    """Store the training images as histograms, and the words of their captions.

    Memory: 4 bytes per number of a picture's histograms. Raises CounterpartError for images of the gallery: there each
    would be its own neighbour, and match a query caption with that very caption.
    """
    searched = sum(image.searched for image in examples.images)
    if searched:
        raise CounterpartError(
            f"{counted(searched, 'training image is', 'training images are')} in the gallery, where each would be its "
            "own nearest neighbour. Import the collection with splits, or choose another kind."
        )
    texts = captions_by_image(examples)
    arrays = learn_picture_words(examples.images, plan.settings, plan.seed, progress)
    signatures = PictureReader(plan.settings, arrays).read(examples.images, progress)
    arrays |= learn_text(str(plan.settings["text"]), texts, str(plan.settings["idf"]))
    documents = Text(str(plan.settings["text"]), arrays).documents(texts)
    arrays |= {"signatures": signatures, **documents.to_arrays(CAPTIONS)}
    return Trained(arrays, {"words": len(arrays["words"])})


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Describe the system for the annotator's page."""
    n_images, n_numbers = arrays["signatures"].shape
    return {
        "neighbours": counted(n_images, "training image"),
        "picture": f"{settings['image']} in {n_numbers:,} dimensions",
        "captions": f"{settings['text']} over {len(arrays['words']):,} stems",
        "score": "similarity to the nearest training image, or to its captions",
    }
