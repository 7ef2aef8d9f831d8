"""VSRN: a picture's regions reason over each other before they become one embedding.

Li, Zhang, Li, Li and Fu (2019), "Visual semantic reasoning for image-text matching". The published weights, of the
COCO and of the Flickr30k variant, read region features of a detector: ``regions`` names their folder (layout:
``mitl.nn.regions``). Without it the regions are 36 cells of what the machine's own trunk sees, which has to be trained.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.progress import Progress
from mitl.annotators.base import Adopted, Arrays, Option, Settings
from mitl.annotators.recurrent.options import PICTURE_OPTIONS, PREPROCESSING, SIZE_OPTIONS, WORD_OPTIONS
from mitl.models import Annotator
from mitl.training.schedule import RANKING_LOSSES, training_options

if TYPE_CHECKING:
    from mitl.annotators.recurrent.embedder import Embedder
    from mitl.training.learners import Plan, Trained, TrainingSet

OPTIONS = {
    **WORD_OPTIONS,
    **SIZE_OPTIONS,
    "embed": replace(SIZE_OPTIONS["embed"], default=2048),
    "variant": Option("coco", "normalisation of regions as published for that collection", choices=("coco", "f30k")),
    "regions": Option("", "folder of region features, NAME_ims.npy with NAME_ids.txt; empty: cells of the trunk's map"),
    **PICTURE_OPTIONS,
    "captioner": Option(
        512,
        "units of the decoder that must tell captions in training, 0 (none) to 4096",
        allows=lambda n: 0 <= n <= 4096,
    ),
    **training_options(),
}
CHECKPOINT = "optional"
LOSSES = ("max", *(loss for loss in RANKING_LOSSES if loss != "max"))

__all__ = ["CHECKPOINT", "LOSSES", "OPTIONS", "PREPROCESSING", "adopt", "architecture", "open_annotator", "train"]


def open_annotator(annotator: Annotator, device: str) -> "Embedder":
    """Return the machine with its weights.

    Raises CounterpartError if it has none yet, or its folder of regions is gone.
    """
    from mitl.annotators.vsrn.machine import opened

    return opened(annotator, device)


def adopt(path: Path, settings: Settings) -> Adopted:
    """Read published weights of either variant, the vocabulary and all of the regions that the options name.

    Raises CounterpartError naming what is wrong with any of them.
    """
    from mitl.annotators.vsrn.machine import adopted

    return adopted(path, settings)


def train(examples: "TrainingSet", plan: "Plan", progress: Progress) -> "Trained":
    """Train from drawn weights, or from a trunk that was trained elsewhere; the caption loss counts in full."""
    from mitl.annotators.vsrn.machine import trained

    return trained(examples, plan, progress)


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Return what the machine's page tells of its network."""
    words, each = arrays["network.txt_enc.embed.weight"].shape
    embed, channels = arrays["network.img_enc.fc.weight"].shape
    regions = "regions from files" if settings["regions"] else f"36 cells of {settings['trunk']}"
    return {
        "pictures": f"{regions}, {channels:,} numbers each",
        "reasoning": f"4 graph blocks and a GRU, {settings['variant']} variant",
        "words": f"{words:,} of {each} numbers",
        "reader": f"GRU, {embed:,}, state at the last word",
        "embeddings": f"1 of {embed:,} numbers, unit length",
        "score": "cosine",
    }
