"""PVSE's network as a machine: built from settings, taken from published files, trained."""

from dataclasses import replace
from pathlib import Path
from typing import cast

import torch
from torch import Tensor

from core.errors import CounterpartError
from core.progress import Progress
from mitl.annotators.base import Adopted, Settings, Value
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
from mitl.annotators.recurrent.pictures import Pictures
from mitl.annotators.recurrent.starting import prepare, words_to_learn
from mitl.losses.pvse import Embedded, best_cosines, pvse_loss
from mitl.models import Annotator
from mitl.networks.pvse import PVSE, ImageEncoder, TextEncoder
from mitl.nn.layers import Attended, Reading
from mitl.nn.sizes import TRUNKS
from mitl.nn.trunks import ResNet
from mitl.nn.weights import Published, check_network, load_network, named, read_published
from mitl.training.learners import Batch, Plan, Trained, TrainingSet
from mitl.training.loop import fit, repeatable


def build(settings: Settings, words: int) -> PVSE:
    """Return the network of these settings for so many words, with drawn weights."""
    trunk = TRUNKS[str(settings["trunk"])]
    embed, heads = int(settings["embed"]), int(settings["embeddings"])
    reading = cast(Reading, settings["reading"])
    return PVSE(
        ImageEncoder(ResNet(trunk), trunk.channels, embed, heads),
        TextEncoder(words, int(settings["word"]), embed, heads, reading=reading),
    )


def opened(annotator: Annotator, device: str) -> Embedder:
    arrays = kept_arrays(annotator)
    vocabulary = kept_words(arrays)
    with torch.device("meta"):
        network = build(annotator.options, len(vocabulary))
    load_network(network, arrays, annotator.name)
    return Embedder(network.to(device), vocabulary, Pictures(annotator.options), device)


def adopted(path: Path, settings: Settings) -> Adopted:
    published = read_published(path)
    decided = decided_by(published, path)
    vocabulary = vocabulary_for(published, settings, path)
    with torch.device("meta"):
        network = build({**settings, **decided}, len(vocabulary))
    check_network(network, published.tensors, str(path))
    return Adopted(named(published.tensors) | word_array(vocabulary), decided)


def decided_by(published: Published, path: Path) -> dict[str, Value]:
    """Return the settings that weights decide: sizes by their shapes, the reading where training options tell it.

    Raises CounterpartError for order embeddings, which no published weights are and whose score nobody wrote down.
    """
    tensors = published.tensors
    if published.options.get("order"):
        raise CounterpartError(f"{path} was trained with order embeddings, which PVSE is not here; kind vse has them.")
    decided: dict[str, Value] = {
        "embed": size_of(tensors, "img_enc.fc.weight", 0, path),
        "word": size_of(tensors, TABLE, 1, path),
        "embeddings": size_of(tensors, "txt_enc.pie_net.attention.w_2.weight", 0, path),
        "trunk": trunk_in(tensors, "img_enc.cnn.", path),
    }
    if "legacy" in published.options:
        decided["reading"] = "legacy" if published.options["legacy"] else "final"
    return decided


def trained(examples: TrainingSet, plan: Plan, progress: Progress) -> Trained:
    vocabulary = words_to_learn(examples, plan.settings)
    with repeatable(plan.seed):
        network = build(plan.settings, len(vocabulary))
    prepare(network.img_enc.cnn, network.txt_enc.embed, plan.settings)
    learner = PVSELearner(network, vocabulary, Pictures(plan.settings), plan)
    result = fit(learner, examples, plan, progress)
    return replace(result, arrays=result.arrays | word_array(vocabulary))


class PVSELearner(RecurrentLearner[PVSE]):
    """PVSE with its own loss, or one over the best cosines."""

    def cost(self, pictures: Tensor, token_ids: Tensor, lengths: Tensor, batch: Batch) -> Tensor:
        images = _side(self._network.img_enc(pictures))
        captions = _side(self._network.txt_enc(token_ids, lengths))
        if self.loss_name == "pvse":
            known = torch.from_numpy(batch.known).to(pictures.device)
            return pvse_loss(images, captions, known=known)
        return self.ranked(best_cosines(images.embeddings, captions.embeddings), batch)


def _side(made: Attended) -> Embedded:
    """Return one side of a batch with its axis of K, (B, K, D), also where K is 1."""
    rows = len(made.embedding)
    k = made.attention.shape[2]
    return Embedded(made.embedding.view(rows, k, -1), made.residual.view(rows, k, -1))
