"""KCCA of Hodosh et al. (2013): a kernel over pictures and one over captions, projected to where they correlate most.

The paper's systems by option: text=bow1, bow5, tagrank, tri5 or tri5sem with image=pyramid; models=15 makes 15 settings
of regularisation and dimension vote, as the paper's figures have it.
"""

from typing import TYPE_CHECKING

from core.progress import Progress
from mitl.annotators.base import Arrays, Option, Settings
from mitl.annotators.classical.options import IDF_OPTION, PICTURE_OPTIONS, PREPROCESSING, adopt, trained_arrays
from mitl.models import Annotator

if TYPE_CHECKING:
    from mitl.annotators.kcca.fused import FusedSpaces
    from mitl.annotators.kcca.machine import CorrelatedSpace
    from mitl.training.learners import Plan, Trained, TrainingSet

OPTIONS = {
    "text": Option(
        "tri5sem",
        "what captions are compared by: words of one caption an image, of all, words by rank, sequences of up to three"
        " words, or such with similar words in one another's place",
        choices=("bow1", "bow5", "tagrank", "tri5", "tri5sem"),
    ),
    "idf": IDF_OPTION,
    **PICTURE_OPTIONS,
    "power": Option(2, "power of the image kernel, 1 to 4", allows=lambda power: 1 <= power <= 4),
    "rank": Option(1000, "training images kept of each kernel, 2 to 10000", allows=lambda rank: 2 <= rank <= 10_000),
    "regularisation": Option(0.5, "kappa, above 0, if models=1", allows=lambda kappa: kappa > 0),
    "dim": Option(100, "length of the embeddings, 1 to 10000, if models=1", allows=lambda dim: 1 <= dim <= 10_000),
    "models": Option(
        1,
        "settings of kappa and dim, chosen on the validation split, whose rankings are merged by Borda counts; 1, or"
        " a multiple of 3 up to 45",
        allows=lambda models: models == 1 or (models % 3 == 0 and 3 <= models <= 45),
    ),
}
CHECKPOINT = "optional"

__all__ = ["CHECKPOINT", "OPTIONS", "PREPROCESSING", "adopt", "architecture", "open_annotator", "opened", "train"]


def open_annotator(annotator: Annotator, device: str) -> "CorrelatedSpace | FusedSpaces":
    """Return the machine with its weights. Raises CounterpartError if it has none yet."""
    return opened(annotator.options, trained_arrays(annotator))


def opened(settings: Settings, arrays: Arrays) -> "CorrelatedSpace | FusedSpaces":
    """Return the machine over what ``train`` returned."""
    from mitl.annotators.kcca.fused import FusedSpaces
    from mitl.annotators.kcca.machine import CorrelatedSpace

    return CorrelatedSpace(settings, arrays) if settings["models"] == 1 else FusedSpaces(settings, arrays)


def train(examples: "TrainingSet", plan: "Plan", progress: Progress) -> "Trained":
    """Learn both kernels and the projections.

    Raises CounterpartError for fewer than two images with captions that say anything, pictures that are not there, and
    several models without a validation split to choose them on.
    """
    from mitl.annotators.kcca.training import trained

    return trained(examples, plan, progress)


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Return what the machine's page tells of it."""
    n_images, width = arrays["pivot_signatures"].shape
    n_words, n_texts = len(arrays["words"]), len(arrays["text_triangle"])
    merged = f", {settings['models']} rankings merged by Borda counts" if settings["models"] != 1 else ""
    return {
        "picture kernel": f"{settings['image']} of {width:,} numbers, power {settings['power']}, {n_images:,} pivots",
        "text kernel": f"{settings['text']} over {n_words:,} stems, {n_texts:,} pivots",
        "embeddings": f"{arrays['image_directions'].shape[2]:,} numbers at most, unit length",
        "score": f"cosine{merged}",
    }
