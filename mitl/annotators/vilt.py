"""ViLT: one transformer over a caption's pieces and a picture's patches; every pair costs a pass.

Kim, Son and Kim (2021), "ViLT: vision-and-language transformer without convolution or region supervision". The
authors' files and Hugging Face's folders load; smaller networks of the same make are trained on a collection.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from core.progress import Progress
from mitl.annotators.base import Adopted, Arrays, Settings
from mitl.annotators.transformer.options import BATCH_SIZE, NEGATIVES, pictures_and_words, tower
from mitl.models import Annotator
from mitl.training.schedule import training_options

if TYPE_CHECKING:
    from mitl.annotators.transformer.pairs import JointMachine
    from mitl.training.learners import Plan, Trained, TrainingSet

OPTIONS = {
    **pictures_and_words(picture=384, patch=32, context=40, pieces=30_522),
    **tower("", layers=12, width=768, heads=12),
    "batch_size": BATCH_SIZE,
    "negatives": NEGATIVES,
    **training_options(epochs=10, batch=256, rate=1e-4, decay="cosine", weight_decay=0.01, clip=1.0),
}
CHECKPOINT = "optional"
LOSSES = ("itm",)
CROSS_ENCODER = True
PREPROCESSING = "Pillow bicubic whole 1, word pieces 1"


def open_annotator(annotator: Annotator, device: str) -> "JointMachine":
    """Return the machine with its weights. Raises CounterpartError if it has none yet."""
    from mitl.annotators.transformer.pairs import opened
    from mitl.transformer_models.pairing import ViltPairing
    from mitl.transformer_models.vilt import FAMILY

    return opened(FAMILY, ViltPairing, annotator, device)


def adopt(path: Path, settings: Settings) -> Adopted:
    """Read one of the authors' files, with the ``vocab.txt`` that the option ``tokeniser`` names, or a folder of
    Hugging Face's.

    Raises CounterpartError naming what is wrong with it (``mitl.transformer_models.pretrained``).
    """
    from mitl.transformer_models.pretrained import read_pretrained
    from mitl.transformer_models.vilt import FAMILY

    return read_pretrained(FAMILY, path, settings)


def train(examples: "TrainingSet", plan: "Plan", progress: Progress) -> "Trained":
    """Train a network of the settings' sizes from first weights."""
    from mitl.annotators.transformer.pairs import trained
    from mitl.transformer_models.pairing import ViltPairing
    from mitl.transformer_models.vilt import FAMILY

    return trained(FAMILY, ViltPairing, examples, plan, progress)


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Return what the machine's page tells of its network."""
    pieces = len(arrays["network.vilt.embeddings.text_embeddings.word_embeddings.weight"])
    return {
        "transformer": f"{settings['layers']} layers, width {settings['width']}, {settings['heads']} heads",
        "pictures": f"shorter side {settings['picture']}, patches of {settings['patch']} x {settings['patch']}",
        "words": f"{pieces:,} pieces, {settings['context']} of a caption",
        "score": "logit of the ranking head",
    }
