"""Nearest neighbours among training images and their captions (Hodosh et al., section 3.1, eq. 2)."""

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from core.progress import Progress
from corpus.models import Caption, Image
from mitl.annotators.base import Arrays, ListAnnotator, Settings
from mitl.annotators.classical.options import MOST_PLACES
from mitl.annotators.classical.reading import PictureReader, captions_by_image, learn_picture_words
from mitl.classical.documents import Documents
from mitl.classical.texts import Text, learn_text
from mitl.classical.visual_words import intersections
from mitl.models import Direction
from mitl.training.learners import Plan, Trained, TrainingSet

CAPTIONS = "training"


def remember(examples: TrainingSet, plan: Plan, progress: Progress) -> Trained:
    """Keep what ``NearestNeighbours`` looks among. Memory: 4 bytes a number of a picture's histograms."""
    texts = captions_by_image(examples)
    arrays = learn_picture_words(examples.images, plan.settings, plan.seed, progress)
    signatures = PictureReader(plan.settings, arrays).read(examples.images, progress)
    arrays |= learn_text(str(plan.settings["text"]), texts, str(plan.settings["idf"]))
    documents = Text(str(plan.settings["text"]), arrays).documents(texts)
    arrays |= {"signatures": signatures, **documents.to_arrays(CAPTIONS)}
    return Trained(arrays, {"words": len(arrays["words"])})


class NearestNeighbours(ListAnnotator):
    """List annotator. Of equally near neighbours, and of items of equal score, the first one counts as the nearer."""

    def __init__(self, settings: Settings, arrays: Arrays) -> None:
        """``arrays`` are what ``remember`` kept."""
        self._pictures, self._text = PictureReader(settings, arrays), Text(str(settings["text"]), arrays)
        self._signatures = arrays["signatures"]
        self._documents = Documents.from_arrays(arrays, CAPTIONS)

    def lists_of(
        self, direction: Direction, queries: Sequence[Image | Caption], items: Sequence[Image | Caption]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Rank at most 1,000 items a query. Raises CounterpartError for an image without a readable picture."""
        if direction == Direction.IMAGE_TO_CAPTION:
            scores = self._captions_of(cast(Sequence[Image], queries), cast(Sequence[Caption], items))
        else:
            scores = self._images_of(cast(Sequence[Caption], queries), cast(Sequence[Image], items))
        places = np.argsort(-scores, axis=1, kind="stable")[:, :MOST_PLACES]
        return places, np.take_along_axis(scores, places, 1).astype(np.float32)

    def _captions_of(self, queries: Sequence[Image], items: Sequence[Caption]) -> NDArray[np.floating]:
        neighbours = np.argmax(intersections(self._pictures.read(queries), self._signatures), axis=1)
        kernel = self._text.kernel
        there, place = np.unique(neighbours, return_inverse=True)
        return kernel.compare(kernel.read(self._documents.pick(there)), kernel.read(self._read(items)))[place]

    def _images_of(self, queries: Sequence[Caption], items: Sequence[Image]) -> NDArray[np.floating]:
        kernel = self._text.kernel
        likeness = kernel.compare(kernel.read(self._read(queries)), kernel.read(self._documents))
        there, place = np.unique(np.argmax(likeness, axis=1), return_inverse=True)
        return intersections(self._signatures[there], self._pictures.read(items))[place]

    def _read(self, captions: Sequence[Caption]) -> Documents:
        return self._text.documents([caption.text] for caption in captions)
