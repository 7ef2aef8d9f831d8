"""CLIP: a picture and a caption as unit vectors of one space; their inner product is the cosine.

Radford et al. (2021), "Learning transferable visual models from natural language supervision". OpenAI's files and
Hugging Face's folders load; smaller networks of the same make are trained on a collection.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from core.progress import Progress
from mitl.annotators.base import Adopted, Arrays, Settings
from mitl.annotators.transformer.options import pictures_and_words, size, tell_towers, tower
from mitl.models import Annotator
from mitl.training.schedule import RANKING_LOSSES, training_options

if TYPE_CHECKING:
    from mitl.annotators.transformer.two_towers import TwoTowers
    from mitl.training.learners import Plan, Trained, TrainingSet

OPTIONS = {
    **pictures_and_words(picture=224, patch=32, context=77, pieces=49_408),
    **tower("image", layers=12, width=768, heads=12),
    **tower("text", layers=12, width=512, heads=8),
    "embed": size(512, "length of the embeddings"),
    **training_options(epochs=32, batch=1024, rate=5e-4, decay="cosine", weight_decay=0.2, clip=1.0),
}
CHECKPOINT = "optional"
LOSSES = ("contrastive", *RANKING_LOSSES)
PREPROCESSING = "Pillow bicubic crop 1, byte pairs 1"


def open_annotator(annotator: Annotator, device: str) -> "TwoTowers":
    """Return the machine with its weights. Raises CounterpartError if it has none yet."""
    from mitl.annotators.transformer.two_towers import opened
    from mitl.transformer_models.clip import FAMILY

    return opened(FAMILY, annotator, device)


def adopt(path: Path, settings: Settings) -> Adopted:
    """Read one of OpenAI's files, with the list of merges that the option ``tokeniser`` names, or a folder of
    Hugging Face's.

    Raises CounterpartError naming what is wrong with it (``mitl.transformer_models.pretrained``).
    """
    from mitl.transformer_models.clip import FAMILY
    from mitl.transformer_models.pretrained import read_pretrained

    return read_pretrained(FAMILY, path, settings)


def train(examples: "TrainingSet", plan: "Plan", progress: Progress) -> "Trained":
    """Train a network of the settings' sizes from first weights."""
    from mitl.annotators.transformer.two_towers import trained
    from mitl.transformer_models.clip import FAMILY

    return trained(FAMILY, examples, plan, progress)


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Return what the machine's page tells of its network."""
    pieces = len(arrays["network.text_model.embeddings.token_embedding.weight"])
    return tell_towers(settings, pieces) | {"embedding": f"{settings['embed']} numbers, unit length", "score": "cosine"}
