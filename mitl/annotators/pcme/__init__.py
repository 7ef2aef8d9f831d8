"""PCME: every picture and every caption is a normal distribution; two of them match with a probability.

Chun, Oh, Rezende, Kalantidis and Larlus (2021), "Probabilistic embeddings for cross-modal retrieval". A distribution
is compared by samples of it, drawn with a seed: ``mitl.uncertainty`` tells how wide it is. Published weights load;
training follows the first stage of the authors' COCO recipe where nothing else is asked.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from core.progress import Progress
from mitl.annotators.base import Adopted, Arrays, Option, Settings
from mitl.annotators.recurrent.options import PICTURE_OPTIONS, PREPROCESSING, SIZE_OPTIONS, WORD_OPTIONS
from mitl.models import Annotator
from mitl.nn.sizes import TRUNKS
from mitl.training.schedule import training_options

if TYPE_CHECKING:
    from mitl.annotators.pcme.embedder import ProbabilisticEmbedder
    from mitl.training.learners import Plan, Trained, TrainingSet

OPTIONS = {
    **WORD_OPTIONS,
    **SIZE_OPTIONS,
    "samples": Option(7, "samples drawn of an item, 1 to 64", allows=lambda k: 1 <= k <= 64),
    "samples_seed": Option(0, "seed of the samples to compare, 0 or more", allows=lambda seed: seed >= 0),
    "score": Option(
        "probability",
        "mean match probability of the samples, or matmul: the sum of their inner products",
        choices=("probability", "matmul"),
    ),
    "shift": Option(15.0, "where the learned shift begins; the shift of weights that come without one"),
    "negative_scale": Option(15.0, "the same for the learned scale of distances", allows=lambda scale: scale > 0),
    "log_sigma": Option(
        0.0, "where log sigma begins; lower learns faster, -10 to 2", allows=lambda log: -10 <= log <= 2
    ),
    "vib_beta": Option(1e-5, "weight in training of the KL from the standard normal", allows=lambda beta: beta >= 0),
    "uniformity": Option(0.0, "weight in training of the uniformity of all samples", allows=lambda weight: weight >= 0),
    **PICTURE_OPTIONS,
    "erasing": Option(0.2, "share of training views with a hole", allows=lambda share: 0 <= share <= 1),
    "forgetting": Option(
        0.1, "share of words unknown, and again left out, in training", allows=lambda share: 0 <= share < 1
    ),
    **training_options(decay="cosine"),
}
CHECKPOINT = "optional"
LOSSES = ("pcme",)

__all__ = ["CHECKPOINT", "LOSSES", "OPTIONS", "PREPROCESSING", "adopt", "architecture", "open_annotator", "train"]


def open_annotator(annotator: Annotator, device: str) -> "ProbabilisticEmbedder":
    """Return the machine with its weights. Raises CounterpartError if it has none yet."""
    from mitl.annotators.pcme.machine import opened

    return opened(annotator, device)


def adopt(path: Path, settings: Settings) -> Adopted:
    """Read a published checkpoint with its words and its criterion; the option vocabulary overrides its words.

    Raises CounterpartError naming what is wrong with it.
    """
    from mitl.annotators.pcme.machine import adopted

    return adopted(path, settings)


def train(examples: "TrainingSet", plan: "Plan", progress: Progress) -> "Trained":
    """Train from drawn weights, or from a trunk that was trained elsewhere."""
    from mitl.annotators.pcme.machine import trained

    return trained(examples, plan, progress)


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Return what the machine's page tells of its network."""
    words, each = arrays["network.txt_enc.embed.weight"].shape
    embed = int(settings["embed"])
    trunk, positions = str(settings["trunk"]), -(-int(settings["picture"]) // 32)
    shift, scale = (float(arrays[f"network.criterion.{name}"][0]) for name in ("shift", "negative_scale"))
    probability = f"mean over sample pairs of sigmoid(2 ({shift:.2f} - {scale:.2f} x distance))"
    return {
        "trunk": f"{trunk}, {positions} x {positions} positions of {TRUNKS[trunk].channels}",
        "words": f"{words:,} of {each} numbers",
        "reader": f"bidirectional GRU, 2 x {embed // 2}, legacy reading; another for the uncertainty",
        "embeddings": f"normal distribution over {embed:,} numbers, {settings['samples']} samples",
        "score": probability if settings["score"] == "probability" else "sum of the samples' inner products",
    }
