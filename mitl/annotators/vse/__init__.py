"""VSE++, VSE0 and order embeddings: one embedding a picture, one a caption.

Faghri, Fleet, Kiros and Fidler (2018), "VSE++: improving visual-semantic embeddings with hard negatives". VSE++ is
this with the loss ``max``, VSE0 with the loss ``sum`` and ``normalise=no``; HAL's models are VSE++ with
``captions=bytes``.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from core.progress import Progress
from mitl.annotators.base import Adopted, Arrays, Option, Settings
from mitl.annotators.recurrent.options import PICTURE_OPTIONS, PREPROCESSING, SIZE_OPTIONS, WORD_OPTIONS
from mitl.models import Annotator
from mitl.nn.sizes import TRUNKS
from mitl.training.schedule import RANKING_LOSSES, training_options

if TYPE_CHECKING:
    from mitl.annotators.recurrent.embedder import Embedder
    from mitl.training.learners import Plan, Trained, TrainingSet

OPTIONS = {
    **WORD_OPTIONS,
    "captions": Option(
        "text",
        "text, or bytes: HAL's authors had captions read as Python prints bytes, b'...'",
        choices=("text", "bytes"),
    ),
    **SIZE_OPTIONS,
    **PICTURE_OPTIONS,
    "trunk": Option(
        "resnet152", "network that reads pictures; none for vectors from files", choices=(*TRUNKS, "vgg19", "none")
    ),
    "vectors": Option("", "with trunk=none: folder of unit vectors, NAME_ims.npy with NAME_ids.txt"),
    "normalise": Option("yes", "are embeddings of pictures scaled to length 1", choices=("yes", "no")),
    "score": Option("inner", "inner product, or how far a caption exceeds its picture", choices=("inner", "order")),
    **training_options(),
}
CHECKPOINT = "optional"
LOSSES = ("max", *(loss for loss in RANKING_LOSSES if loss != "max"))

__all__ = ["CHECKPOINT", "LOSSES", "OPTIONS", "PREPROCESSING", "adopt", "architecture", "open_annotator", "train"]


def open_annotator(annotator: Annotator, device: str) -> "Embedder":
    """Return the machine with its weights. Raises CounterpartError if it has none yet."""
    from mitl.annotators.vse.machine import opened

    return opened(annotator, device)


def adopt(path: Path, settings: Settings) -> Adopted:
    """Read published weights, with either spelling of VGG's names, and the vocabulary that the option names.

    Raises CounterpartError naming what is wrong with either.
    """
    from mitl.annotators.vse.machine import adopted

    return adopted(path, settings)


def train(examples: "TrainingSet", plan: "Plan", progress: Progress) -> "Trained":
    """Train from drawn weights, or from a trunk that was trained elsewhere."""
    from mitl.annotators.vse.machine import trained

    return trained(examples, plan, progress)


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Return what the machine's page tells of its network."""
    words, each = arrays["network.txt_enc.embed.weight"].shape
    embed, channels = arrays["network.img_enc.fc.weight"].shape
    return {
        "trunk": f"{settings['trunk']}, pooled to {channels:,} numbers",
        "words": f"{words:,} of {each} numbers",
        "reader": f"GRU, {embed:,}, state at the last word",
        "embeddings": f"1 of {embed:,} numbers" + (", unit length" if settings["normalise"] == "yes" else ""),
        "score": "minus the length of max(0, caption - image)" if settings["score"] == "order" else "inner product",
    }
