"""A learned image-text embedding, trained from scratch on one collection in seconds on a CPU.

Both sides are one linear map of fixed numbers, scaled to length 1: of a picture's patches or histograms, and of a
caption's weighted words or phrases. The maps start from a regression and are then trained with a hinge loss
(``fitting``). Unlike settings give machines that disagree, which is what a pool needs.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.files import StoredFile, read_arrays
from core.progress import Progress
from corpus.models import Caption, Image
from mitl.annotators.base import Adopted, Arrays, EmbeddingAnnotator, Embeddings, Option, Settings
from mitl.models import Annotator
from mitl.training.schedule import RANKING_LOSSES
from mitl.words import bags, unit_rows

if TYPE_CHECKING:
    from mitl.training.learners import Plan, Trained, TrainingSet

OPTIONS = {
    "image": Option("patches", "what pictures are read as", choices=("patches", "histogram")),
    "text": Option("words", "what captions are read as", choices=("words", "phrases")),
    "dim": Option(128, "length of the embeddings, 2 to 1024", allows=lambda dim: 2 <= dim <= 1024),
    "epochs": Option(20, "passes over the training images, 0 to 1000", allows=lambda epochs: 0 <= epochs <= 1000),
}
CHECKPOINT = "optional"
LOSSES = RANKING_LOSSES
LONGEST_PHRASE = {"words": 1, "phrases": 2}
WEIGHTS = ("image_mean", "image_scale", "image_map", "image_bias", "words", "word_weights", "text_map")


def open_annotator(annotator: Annotator, device: str) -> "LearnedEmbedding":
    """Return the trained machine. Raises CounterpartError if it has no weights yet."""
    if not annotator.checkpoint:
        raise CounterpartError(
            f"it is not trained yet; run: manage.py train_annotator {annotator.name} --collection NAME"
        )
    return LearnedEmbedding(annotator.options, read_arrays(StoredFile(annotator.checkpoint, annotator.checksum)))


def adopt(path: Path, settings: Settings) -> Adopted:
    """Read weights that were trained elsewhere with the same options. Raises CounterpartError if they do not fit."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = dict(stored)
        _check_weights(settings, arrays)
    except (OSError, ValueError, KeyError, TypeError, EOFError, AttributeError, BadZipFile) as error:
        raise CounterpartError(f"{path} does not hold the weights of this embedding: {error}.") from error
    return Adopted(arrays)


def train(examples: "TrainingSet", plan: "Plan", progress: Progress) -> "Trained":
    """Learn both maps, and measure them on the validation split. It is trained on the CPU, whatever the device."""
    # torch takes seconds to import, which only training and pictures should cost.
    from mitl.annotators.embedding.fitting import Fitting, fit
    from mitl.training.learners import Trained

    fitting = Fitting(
        pictures=str(plan.settings["image"]),
        longest_phrase=LONGEST_PHRASE[str(plan.settings["text"])],
        dim=int(plan.settings["dim"]),
        epochs=int(plan.settings["epochs"]),
        loss=plan.loss,
        seed=plan.seed,
    )
    arrays, figures = fit(examples, fitting, plan.report, progress)
    if examples.validation:
        from mitl.training.recall import measure

        figures |= measure(LearnedEmbedding(plan.settings, arrays), examples.validation, progress)
    return Trained(arrays, figures)


def _check_weights(options: Mapping[str, object], arrays: Arrays) -> None:
    """Raise ValueError or KeyError unless the weights are whole, finite, and fit together and the options."""
    missing = [name for name in WEIGHTS if name not in arrays]
    if missing:
        raise ValueError(f"it lacks {', '.join(missing)}")
    broken = [name for name, array in arrays.items() if array.dtype.kind == "f" and not np.isfinite(array).all()]
    if broken:
        raise ValueError(f"{', '.join(broken)} hold NaN or infinity")
    from mitl.annotators.embedding.pictures import HEIGHT, WIDTH

    machine = LearnedEmbedding(options, arrays)
    blank = np.zeros((1, HEIGHT, WIDTH, 3), dtype=np.uint8)
    if machine.embed_pictures(blank).shape != machine.embed_texts(["a"]).shape:
        raise ValueError("images and texts are embedded in different dimensions")


class LearnedEmbedding(EmbeddingAnnotator):
    """Embedding annotator over trained weights."""

    def __init__(self, options: Mapping[str, object], arrays: Arrays) -> None:
        self._pictures, self._longest = str(options["image"]), LONGEST_PHRASE[str(options["text"])]
        self._arrays = arrays
        self._places = {str(word): place for place, word in enumerate(arrays["words"])}

    def encode_images(self, images: Sequence[Image]) -> Embeddings:
        """Return unit rows (N, dim). Raises CounterpartError for an image without a readable picture."""
        from mitl.annotators.embedding.pictures import read_pictures

        return self.embed_pictures(read_pictures(images))

    def encode_captions(self, captions: Sequence[Caption]) -> Embeddings:
        """Return unit rows (M, dim); zeros for a caption of which no word is known."""
        return self.embed_texts([caption.text for caption in captions])

    def embed_pictures(self, pictures: NDArray[np.uint8]) -> Embeddings:
        """Embed pictures as ``read_pictures`` gives them."""
        from mitl.annotators.embedding.pictures import PICTURE_FEATURES

        features = PICTURE_FEATURES[self._pictures].of(pictures, self._arrays)
        standard = (features - self._arrays["image_mean"]) / self._arrays["image_scale"]
        return _unit(standard @ self._arrays["image_map"] + self._arrays["image_bias"])

    def embed_texts(self, texts: Sequence[str]) -> Embeddings:
        """Embed sentences."""
        counts = bags(texts, self._places, self._longest)
        counts.data *= self._arrays["word_weights"][counts.indices]
        return _unit(unit_rows(counts) @ self._arrays["text_map"])


def _unit(rows: Embeddings) -> Embeddings:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
