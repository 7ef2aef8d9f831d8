"""BLIP: a transformer over the caption that looks at another one's reading of the picture.

Li et al. (2022), "BLIP: bootstrapping language-image pre-training for unified vision-language understanding and
generation". Its matching head scores pairs; Hugging Face's folders load, smaller networks are trained on a collection.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from core.progress import Progress
from mitl.annotators.base import Adopted, Arrays, Settings
from mitl.annotators.transformer.options import BATCH_SIZE, NEGATIVES, pictures_and_words, size, tell_towers, tower
from mitl.models import Annotator
from mitl.training.schedule import training_options

if TYPE_CHECKING:
    from mitl.annotators.transformer.pairs import JointMachine
    from mitl.training.learners import Plan, Trained, TrainingSet

OPTIONS = {
    **pictures_and_words(picture=384, patch=16, context=35, pieces=30_524),
    **tower("image", layers=12, width=768, heads=12),
    **tower("text", layers=12, width=768, heads=12),
    "embed": size(256, "length of the embeddings that its authors compare first"),
    "batch_size": BATCH_SIZE,
    "negatives": NEGATIVES,
    **training_options(epochs=6, batch=256, rate=1e-5, decay="cosine", weight_decay=0.05, clip=1.0),
}
CHECKPOINT = "optional"
LOSSES = ("itm",)
CROSS_ENCODER = True
PREPROCESSING = "Pillow bicubic stretch 1, word pieces 1"


def open_annotator(annotator: Annotator, device: str) -> "JointMachine":
    """Return the machine with its weights. Raises CounterpartError if it has none yet."""
    from mitl.annotators.transformer.pairs import opened
    from mitl.transformer_models.blip import FAMILY
    from mitl.transformer_models.pairing import BlipPairing

    return opened(FAMILY, BlipPairing, annotator, device)


def adopt(path: Path, settings: Settings) -> Adopted:
    """Read a folder of Hugging Face's, made for retrieval.

    Raises CounterpartError naming what is wrong with it (``mitl.transformer_models.pretrained``).
    """
    from mitl.transformer_models.blip import FAMILY
    from mitl.transformer_models.pretrained import read_pretrained

    return read_pretrained(FAMILY, path, settings)


def train(examples: "TrainingSet", plan: "Plan", progress: Progress) -> "Trained":
    """Train a network of the settings' sizes from first weights."""
    from mitl.annotators.transformer.pairs import trained
    from mitl.transformer_models.blip import FAMILY
    from mitl.transformer_models.pairing import BlipPairing

    return trained(FAMILY, BlipPairing, examples, plan, progress)


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Return what the machine's page tells of its network."""
    pieces = len(arrays["network.text_encoder.embeddings.word_embeddings.weight"])
    return tell_towers(settings, pieces) | {"score": "log-odds of a match"}
