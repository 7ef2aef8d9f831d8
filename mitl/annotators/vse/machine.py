"""VSE's network as a machine: built from settings, taken from published files, trained."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.errors import CounterpartError
from core.progress import Progress
from mitl.annotators.base import Adopted, Arrays, ComparingAnnotator, Embeddings, Settings, Value
from mitl.annotators.recurrent.embedder import Embedder
from mitl.annotators.recurrent.keeping import (
    TABLE,
    kept_arrays,
    kept_words,
    size_of,
    trunk_in,
    vocabulary_for,
    word_array,
)
from mitl.annotators.recurrent.learning import RecurrentLearner
from mitl.annotators.recurrent.pictures import Pictures, Source
from mitl.annotators.recurrent.starting import prepare, words_to_learn
from mitl.annotators.vse.vectors import Vectors, survey
from mitl.models import Annotator
from mitl.networks.vse import VSE, ImageEncoder, order_scores
from mitl.nn import trunks as vgg
from mitl.nn.layers import Sentences
from mitl.nn.sizes import TRUNKS
from mitl.nn.trunks import ResNet
from mitl.nn.vocabularies import as_bytes
from mitl.nn.weights import Published, check_network, load_network, named, read_published
from mitl.training.learners import Batch, Plan, Trained, TrainingSet
from mitl.training.loop import fit, repeatable

CNN = "img_enc.cnn."
ROWS, COLUMNS = 16, 1024  # of one block of order scores
OLD_CLASSIFIER = {"classifier.1.": "classifier.0.", "classifier.4.": "classifier.3."}


def build(settings: Settings, words: int, vector: int = 0) -> VSE:
    """Return the network of these settings, with drawn weights; ``vector`` is the length of pictures' vectors."""
    trunk, channels = _trunk(settings, vector)
    embed = int(settings["embed"])
    return VSE(
        ImageEncoder(trunk, channels, embed, normalise=settings["normalise"] == "yes"),
        Sentences(words, int(settings["word"]), embed),
        order=settings["score"] == "order",
    )


def opened(annotator: Annotator, device: str) -> Embedder:
    arrays = kept_arrays(annotator)
    vocabulary, settings = kept_words(arrays), annotator.options
    with torch.device("meta"):
        network = build(settings, len(vocabulary), arrays["network.img_enc.fc.weight"].shape[1])
    load_network(network, arrays, annotator.name)
    network.to(device)
    return _over(network)(network, vocabulary, _source(settings, arrays), device, spelled=_spelling(settings))


def adopted(path: Path, settings: Settings) -> Adopted:
    published = read_published(path)
    published = replace(published, tensors=with_new_names(published.tensors))
    decided = decided_by(published, path)
    vocabulary = vocabulary_for(published, settings, path)
    vector = size_of(published.tensors, "img_enc.fc.weight", 1, path)
    with torch.device("meta"):
        network = build({**settings, **decided}, len(vocabulary), vector)
    check_network(network, published.tensors, str(path))
    vectors = survey({**settings, **decided}, vector)
    return Adopted(named(published.tensors) | word_array(vocabulary) | vectors, decided)


def decided_by(published: Published, path: Path) -> dict[str, Value]:
    """Return the settings that weights decide: sizes by their shapes, the rest where training options tell it.

    Raises CounterpartError for absolute values without the order score, or the score without them.
    """
    tensors, options = published.tensors, published.options
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


def trained(examples: TrainingSet, plan: Plan, progress: Progress) -> Trained:
    settings = plan.settings
    vocabulary = words_to_learn(examples, settings)
    vectors = survey(settings)
    source = _source(settings, vectors)
    with repeatable(plan.seed):
        network = build(settings, len(vocabulary), source.length if isinstance(source, Vectors) else 0)
    prepare(network.img_enc.cnn or torch.nn.Identity(), network.txt_enc.embed, settings)
    learner = VSELearner(network, vocabulary, source, plan, spelled=_spelling(settings))
    result = fit(learner, examples, plan, progress)
    return replace(result, arrays=result.arrays | word_array(vocabulary) | vectors)


class OrderEmbedder(Embedder, ComparingAnnotator):
    """Order embeddings: a comparing annotator, for their score is no inner product."""

    def compare(self, images: Embeddings, captions: Embeddings) -> NDArray[np.float32]:
        """Return minus the length of max(0, caption - image), (n, m). Memory beside the scores: one block's
        differences."""
        rows, columns = (torch.tensor(side, device=self._device) for side in (images, captions))
        parts = [
            torch.cat([order_scores(some, others) for others in columns.split(COLUMNS)], 1) for some in rows.split(ROWS)
        ]
        return torch.cat(parts).cpu().numpy()


class VSELearner(RecurrentLearner[VSE]):
    """VSE with a loss over its scores."""

    def cost(self, pictures: Tensor, token_ids: Tensor, lengths: Tensor, batch: Batch) -> Tensor:
        images = self._network.embed_pictures(pictures)
        captions = self._network.embed_captions(token_ids, lengths)
        return self.ranked(self._network.scores(images, captions), batch)

    def machine(self) -> Embedder:
        return _over(self._network)(self._network, self._vocabulary, self._source, self._device, spelled=self._spelled)


def _over(network: VSE) -> type[Embedder]:
    """Return what machine is over a network: what compares its embeddings."""
    return OrderEmbedder if network.order else Embedder


def _trunk(settings: Settings, vector: int) -> tuple[ResNet | vgg.VGG19 | None, int]:
    """Return the network that reads pictures, if any, and the length of what it makes of one."""
    name = str(settings["trunk"])
    if name == "none":
        return None, vector
    if name == "vgg19":
        if settings["picture"] != vgg.SIDE:
            raise CounterpartError(f"vgg19 reads pictures of {vgg.SIDE} pixels alone; leave the option picture out.")
        return vgg.VGG19(), vgg.CHANNELS
    return ResNet(TRUNKS[name]), TRUNKS[name].channels


def _source(settings: Settings, arrays: Arrays) -> Source:
    return Vectors(settings, arrays) if settings["trunk"] == "none" else Pictures(settings)


def _spelling(settings: Settings) -> Callable[[str], str]:
    return as_bytes if settings["captions"] == "bytes" else str


def with_new_names(tensors: Arrays) -> Arrays:
    """Give the layers of VGG's classifier the newer names; in the oldest files dropout stood first."""
    if f"{CNN}classifier.0.weight" in tensors:
        return tensors
    renamed = {}
    for name, array in tensors.items():
        for old, new in OLD_CLASSIFIER.items():
            name = name.replace(CNN + old, CNN + new)
        renamed[name] = array
    return renamed


def _trunk_in(tensors: Arrays, path: Path) -> str:
    if not any(name.startswith(CNN) for name in tensors):
        return "none"
    if any(name.startswith(f"{CNN}features.") for name in tensors):
        return "vgg19"
    return trunk_in(tensors, CNN, path)
