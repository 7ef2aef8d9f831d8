"""VSE++ and order embeddings as annotators: vectors from files, files of weights, training."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from counterpart_annotators.base import Adopted, Arrays, ComparingAnnotator, StoredAnnotator
from counterpart_annotators.encoding import Embeddings
from counterpart_annotators.kinds.vse.network import VSE, build, order_scores
from counterpart_annotators.nn import recurrent
from counterpart_annotators.nn.recurrent import (
    TABLE,
    Embedder,
    Pictures,
    RecurrentLearner,
    Source,
    size_of,
    trunk_in,
    vocabulary_for,
)
from counterpart_annotators.nn.regions import Regions, survey
from counterpart_annotators.nn.vocabularies import as_bytes
from counterpart_annotators.nn.weights import Published, read_published
from counterpart_annotators.options import Settings, Value
from counterpart_annotators.progress import Progress
from counterpart_annotators.training.learners import Batch, Trained, TrainingPlan, TrainingSet
from counterpart_annotators.training.loop import repeatable
from counterpart_metrics.errors import CounterpartError

CNN = "img_enc.cnn."
ROWS = 16  # of a block of order scores
COLUMNS = 1024  # of such a block
OLD_CLASSIFIER = {"classifier.1.": "classifier.0.", "classifier.4.": "classifier.3."}


class OrderEmbedder(Embedder, ComparingAnnotator):
    """Order embeddings; their score is not an inner product."""

    def compare(self, images: Embeddings, captions: Embeddings) -> NDArray[np.float32]:
        """Return ``order_scores``, (n, m). Memory in addition to the scores: the differences of one block."""
        rows, columns = (torch.tensor(side, device=self._device) for side in (images, captions))
        parts = [
            torch.cat([order_scores(some, others) for others in columns.split(COLUMNS)], 1) for some in rows.split(ROWS)
        ]
        return torch.cat(parts).cpu().numpy()


def open_annotator(stored: StoredAnnotator, device: str) -> Embedder:
    """Load the annotator."""
    arrays = stored.arrays
    settings = stored.options
    words = recurrent.stored_words(arrays)
    length = arrays["network.img_enc.fc.weight"].shape[1]
    network = recurrent.restore(lambda: build(settings, len(words), length), arrays, stored.name, device)
    return _embedder_of(network)(network, words, _source(settings, arrays), device, spelled=_spelling(settings))


def adopt(path: Path, settings: Settings) -> Adopted:
    """Read published weights, with either naming of VGG's layers, and the vocabulary that the option names.

    Raises CounterpartError if either is invalid.
    """
    published = read_published(path)
    published = replace(published, tensors=with_new_names(published.tensors))
    decided = decided_by(published, path)
    words = vocabulary_for(published, settings, path)
    length = size_of(published.tensors, "img_enc.fc.weight", 1, path)
    settings = {**settings, **decided}
    arrays = recurrent.adopt(lambda: build(settings, len(words), length), published.tensors, words, path)
    return Adopted(arrays | survey_vectors(settings, length), decided)


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


def survey_vectors(settings: Settings, length: int | None = None) -> Arrays:
    """Read the folder of vectors of the settings; return what shows later whether it was changed.

    With a trunk nothing is returned. Raises CounterpartError for an unexpected or missing folder, one that cannot be
    read, and vectors of another ``length``.
    """
    trunk = str(settings["trunk"])
    folder = Path(str(settings["vectors"]))
    if trunk != "none":
        if settings["vectors"]:
            raise CounterpartError(f"The trunk {trunk} reads the pictures; leave the option vectors out.")
        return {}
    if not settings["vectors"]:
        raise CounterpartError("Without a trunk, pictures are vectors; pass --option vectors=FOLDER.")
    surveyed = survey(folder, axes=("numbers",))
    (found,) = Regions(folder, surveyed).shape
    if length not in (None, found):
        raise CounterpartError(f"{folder} has vectors of {found:,} numbers, but these weights need {length:,}.")
    return surveyed


def train(examples: TrainingSet, plan: TrainingPlan, progress: Progress) -> Trained:
    """Train from initial weights, or from a trunk that was trained before."""
    settings = plan.settings
    words = recurrent.words_to_learn(examples, settings)
    vectors = survey_vectors(settings)
    source = _source(settings, vectors)
    with repeatable(plan.seed):
        network = build(settings, len(words), source.shape[0] if isinstance(source, Regions) else 0)
    recurrent.prepare(network.img_enc.cnn, network.txt_enc.embed, plan)
    learner = VSELearner(network, words, source, plan, spelled=_spelling(settings))
    trained = recurrent.train(learner, words, examples, plan, progress)
    return replace(trained, arrays=trained.arrays | vectors)


class VSELearner(RecurrentLearner[VSE]):
    """VSE with a loss over its scores."""

    def cost(self, pictures: Tensor, token_ids: Tensor, lengths: Tensor, batch: Batch) -> Tensor:
        images = self._network.embed_pictures(pictures)
        captions = self._network.embed_captions(token_ids, lengths)
        return self.ranked(self._network.scores(images, captions), batch)

    def annotator(self) -> Embedder:
        embedder = _embedder_of(self._network)
        return embedder(self._network, self._vocabulary, self._source, self._device, spelled=self._spelled)


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


def _embedder_of(network: VSE) -> type[Embedder]:
    return OrderEmbedder if network.order else Embedder


def _source(settings: Settings, arrays: Arrays) -> Source:
    """Return the vectors computed elsewhere, one an image, in the folder of the settings, or the pictures."""
    return Regions(Path(str(settings["vectors"])), arrays) if settings["trunk"] == "none" else Pictures(settings)


def _spelling(settings: Settings) -> Callable[[str], str]:
    return as_bytes if settings["captions"] == "bytes" else str


def _trunk_in(tensors: Arrays, path: Path) -> str:
    if not any(name.startswith(CNN) for name in tensors):
        return "none"
    if any(name.startswith(f"{CNN}features.") for name in tensors):
        return "vgg19"
    return trunk_in(tensors, CNN, path)
