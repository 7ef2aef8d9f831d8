"""SigLIP: two towers like CLIP's, of one width, taught by a yes-or-no question for every pair.

Zhai et al. (2023), "Sigmoid loss for language image pre-training". Hugging Face's folders load where they have a
``tokenizer.json``; smaller networks are trained on a collection, on byte pairs.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from core.progress import Progress
from mitl.annotators.base import Adopted, Arrays, Settings
from mitl.annotators.transformer.options import pictures_and_words, tell_towers, tower
from mitl.models import Annotator
from mitl.training.schedule import RANKING_LOSSES, training_options

if TYPE_CHECKING:
    from mitl.annotators.transformer.two_towers import TwoTowers
    from mitl.training.learners import Plan, Trained, TrainingSet

OPTIONS = {
    **pictures_and_words(picture=224, patch=16, context=64, pieces=32_000),
    **tower("", layers=12, width=768, heads=12),
    **training_options(epochs=32, batch=1024, rate=1e-3, decay="cosine", weight_decay=1e-4, clip=1.0),
}
CHECKPOINT = "optional"
LOSSES = ("sigmoid", "contrastive", *RANKING_LOSSES)
PREPROCESSING = "Pillow bicubic stretch 1, tokeniser 1"


def open_annotator(annotator: Annotator, device: str) -> "TwoTowers":
    """Return the machine with its weights. Raises CounterpartError if it has none yet."""
    from mitl.annotators.transformer.two_towers import opened
    from mitl.transformer_models.siglip import FAMILY

    return opened(FAMILY, annotator, device)


def adopt(path: Path, settings: Settings) -> Adopted:
    """Read a folder of Hugging Face's.

    Raises CounterpartError naming what is wrong with it (``mitl.transformer_models.pretrained``).
    """
    from mitl.transformer_models.pretrained import read_pretrained
    from mitl.transformer_models.siglip import FAMILY

    return read_pretrained(FAMILY, path, settings)


def train(examples: "TrainingSet", plan: "Plan", progress: Progress) -> "Trained":
    """Train a network of the settings' sizes from first weights."""
    from mitl.annotators.transformer.two_towers import trained
    from mitl.transformer_models.siglip import FAMILY

    return trained(FAMILY, examples, plan, progress)


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Return what the machine's page tells of its network."""
    pieces = len(arrays["network.text_model.embeddings.token_embedding.weight"])
    return tell_towers(settings, pieces) | {"embedding": f"{settings['width']} numbers, unit length", "score": "cosine"}
