"""VSE++ and order embeddings as annotators: vectors from files, files of weights, training."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from counterpart_annotators.base import Arrays, ComparingAnnotator
from counterpart_annotators.encoding import Embeddings
from counterpart_annotators.kinds.vse.network import VSE, build, order_scores
from counterpart_annotators.nn.recurrent import Embedder, Model, RecurrentKind, RecurrentLearner
from counterpart_annotators.nn.regions import survey
from counterpart_annotators.nn.starting_weights import TABLE, size_of, trunk_in
from counterpart_annotators.nn.weights import Published, read_published
from counterpart_annotators.options import Settings, Value
from counterpart_annotators.progress import Progress
from counterpart_annotators.training.learners import Batch
from counterpart_metrics.errors import CounterpartError

CNN = "img_enc.cnn."
ROWS = 16  # of a block of order scores
COLUMNS = 1024  # of such a block
OLD_CLASSIFIER = {"classifier.1.": "classifier.0.", "classifier.4.": "classifier.3."}


class OrderEmbedder(Embedder, ComparingAnnotator):
    """Order embeddings; their score is not an inner product."""

    def compare(self, images: Embeddings, captions: Embeddings) -> NDArray[np.float32]:
        """Return ``order_scores``, (n, m). Memory in addition to the scores: the differences of one block."""
        rows, columns = (torch.tensor(side, device=self._model.device) for side in (images, captions))
        parts = [
            torch.cat([order_scores(some, others) for others in columns.split(COLUMNS)], 1) for some in rows.split(ROWS)
        ]
        return torch.cat(parts).cpu().numpy()


def decided_by(published: Published, path: Path) -> dict[str, Value]:
    """Return the settings that weights decide: sizes by their shapes, others by the training options.

    Raises CounterpartError for absolute values without the order score, or the score without them.
    """
    tensors = published.tensors
    options = published.options
    order = options.get("measure") == "order"
    if "use_abs" in options and bool(options["use_abs"]) != order:
        raise CounterpartError(
            f"{path} was trained with use_abs={options['use_abs']} and measure={options.get('measure')};"
            " absolute values and the order score load only together."
        )
    decided: dict[str, Value] = {
        "embed": size_of(tensors, "img_enc.fc.weight", 0, path),
        "word": size_of(tensors, TABLE, 1, path),
        "trunk": _trunk_in(tensors, path),
    }
    if "no_imgnorm" in options:
        decided["normalise"] = "no" if options["no_imgnorm"] else "yes"
    if "measure" in options:
        decided["score"] = "order" if order else "inner"
    return decided


def survey_vectors(settings: Settings, length: int | None, progress: Progress) -> Arrays:
    """Read the folder of vectors of the settings.

    With a trunk nothing is returned. Raises CounterpartError for an unexpected or missing folder, and as ``survey``.
    """
    trunk = str(settings["trunk"])
    if trunk != "none":
        if settings["vectors"]:
            raise CounterpartError(f"The trunk {trunk} reads the pictures; leave the option vectors out.")
        return {}
    if not settings["vectors"]:
        raise CounterpartError("Without a trunk, pictures are vectors; pass --option vectors=FOLDER.")
    return survey(Path(str(settings["vectors"])), axes=("vectors",), length=length, progress=progress)


class VSELearner(RecurrentLearner[VSE]):
    """VSE with a loss over its scores."""

    def cost(self, pictures: Tensor, token_ids: Tensor, lengths: Tensor, batch: Batch) -> Tensor:
        images = self._model.network.embed_pictures(pictures)
        captions = self._model.network.embed_captions(token_ids, lengths)
        return self.ranked(self._model.network.scores(images, captions), batch)


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Describe the network for the annotator's page."""
    words, each = arrays["network.txt_enc.embed.weight"].shape
    embed, channels = arrays["network.img_enc.fc.weight"].shape
    return {
        "trunk": f"{settings['trunk']}, pooled to {channels:,} channels",
        "words": f"{words:,} words in {each} dimensions",
        "reader": f"GRU, {embed:,}, state at the last word",
        "embeddings": f"{embed:,} dimensions" + (", L2-normalised" if settings["normalise"] == "yes" else ""),
        "score": "minus the length of max(0, caption - image)" if settings["score"] == "order" else "inner product",
    }


def read_file(path: Path, settings: Settings) -> Published:
    """Read published weights, with either naming of VGG's layers."""
    published = read_published(path)
    return replace(published, tensors=with_new_names(published.tensors))


def with_new_names(tensors: Arrays) -> Arrays:
    """Rename the layers of VGG's classifier, which are numbered differently in the oldest files."""
    if f"{CNN}classifier.0.weight" in tensors:
        return tensors
    renamed = {}
    for name, array in tensors.items():
        for old, new in OLD_CLASSIFIER.items():
            name = name.replace(CNN + old, CNN + new)
        renamed[name] = array
    return renamed


def embedder(model: Model[Any]) -> Embedder:
    """Open a network as the annotator that its score needs."""
    return OrderEmbedder(model) if model.network.order else Embedder(model)


def _trunk_in(tensors: Arrays, path: Path) -> str:
    if not any(name.startswith(CNN) for name in tensors):
        return "none"
    if any(name.startswith(f"{CNN}features.") for name in tensors):
        return "vgg19"
    return trunk_in(tensors, CNN, path)


KIND = RecurrentKind(build, VSELearner, decided_by, embedder, read_file, survey_vectors)
open_annotator = KIND.open
adopt = KIND.adopt
train = KIND.train
