"""PVSE: K embeddings of a picture and K of a caption, of which the best pair tells how well they match.

Song and Soleymani (2019), "Polysemous visual-semantic embedding for cross-modal retrieval". Published weights load, as
do those of smaller networks of the same make; training follows the authors' COCO recipe where nothing else is asked.
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
    **SIZE_OPTIONS,
    "embeddings": Option(1, "embeddings of one item, K, 1 to 16", allows=lambda k: 1 <= k <= 16),
    "reading": Option(
        "legacy",
        "state of the GRU that stands for a caption: at its last word (all published weights), or both final ones",
        choices=("legacy", "final"),
    ),
    **PICTURE_OPTIONS,
    **training_options(batch=256),
}
CHECKPOINT = "optional"
LOSSES = ("pvse", *RANKING_LOSSES)

__all__ = ["CHECKPOINT", "LOSSES", "OPTIONS", "PREPROCESSING", "adopt", "architecture", "open_annotator", "train"]


def open_annotator(annotator: Annotator, device: str) -> "Embedder":
    """Return the machine with its weights. Raises CounterpartError if it has none yet."""
    from mitl.annotators.pvse.machine import opened

    return opened(annotator, device)


def adopt(path: Path, settings: Settings) -> Adopted:
    """Read published weights in any of their four layouts, and the vocabulary that the option names.

    Raises CounterpartError naming what is wrong with either.
    """
    from mitl.annotators.pvse.machine import adopted

    return adopted(path, settings)


def train(examples: "TrainingSet", plan: "Plan", progress: Progress) -> "Trained":
    """Train from drawn weights, or from a trunk that was trained elsewhere."""
    from mitl.annotators.pvse.machine import trained

    return trained(examples, plan, progress)


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Return what the machine's page tells of its network."""
    words, each = arrays["network.txt_enc.embed.weight"].shape
    embed, k = int(settings["embed"]), int(settings["embeddings"])
    trunk, side = str(settings["trunk"]), -(-int(settings["picture"]) // 32)
    return {
        "trunk": f"{trunk}, {side} x {side} positions of {TRUNKS[trunk].channels:,} numbers",
        "words": f"{words:,} of {each} numbers",
        "reader": f"bidirectional GRU, 2 x {embed // 2}, {settings['reading']} reading",
        "embeddings": f"{k} of {embed:,} numbers, unit length",
        "score": "best of K x K cosines" if k > 1 else "cosine",
    }
