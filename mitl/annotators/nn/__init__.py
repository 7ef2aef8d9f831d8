"""The nearest-neighbour system of Hodosh et al. (2013): ask a training image, or its captions, in the query's place.

Captions of an image: those of the captions' side that are most like the five captions of the training image that looks
most like it. Images of a caption: those that look most like the training image whose captions are most like it. It is
trained by being shown a collection.
"""

from typing import TYPE_CHECKING

from core.progress import Progress
from mitl.annotators.base import Arrays, Option, Settings
from mitl.annotators.classical.options import IDF_OPTION, PICTURE_OPTIONS, adopt, trained_arrays
from mitl.models import Annotator

if TYPE_CHECKING:
    from mitl.annotators.nn.machine import NearestNeighbours
    from mitl.training.learners import Plan, Trained, TrainingSet

OPTIONS = {
    "text": Option(
        "f1",
        "what captions are compared by: F1 of IDF-weighted words, cosine of words, or sequences of words",
        choices=("f1", "bow5", "tri5"),
    ),
    "idf": IDF_OPTION,
    **PICTURE_OPTIONS,
}
CHECKPOINT = "optional"

__all__ = ["CHECKPOINT", "OPTIONS", "adopt", "architecture", "open_annotator", "opened", "train"]


def open_annotator(annotator: Annotator, device: str) -> "NearestNeighbours":
    """Return the machine over its training set. Raises CounterpartError if it has seen none yet."""
    return opened(annotator.options, trained_arrays(annotator))


def opened(settings: Settings, arrays: Arrays) -> "NearestNeighbours":
    """Return the machine over what ``train`` returned."""
    from mitl.annotators.nn.machine import NearestNeighbours

    return NearestNeighbours(settings, arrays)


def train(examples: "TrainingSet", plan: "Plan", progress: Progress) -> "Trained":
    """Keep the training images as histograms, and the words of their captions."""
    from mitl.annotators.nn.machine import remember

    return remember(examples, plan, progress)


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Return what the machine's page tells of it."""
    n_images, n_numbers = arrays["signatures"].shape
    return {
        "neighbours": f"{n_images:,} training images",
        "picture": f"{settings['image']} of {n_numbers:,} numbers",
        "captions": f"{settings['text']} over {len(arrays['words']):,} stems",
        "score": "similarity to the nearest training image, or to its captions",
    }
