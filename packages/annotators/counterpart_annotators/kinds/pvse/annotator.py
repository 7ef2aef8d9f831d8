"""PVSE as an annotator: files of weights, training."""

from pathlib import Path

import torch
from torch import Tensor

from counterpart_annotators.base import Adopted, Arrays, StoredAnnotator
from counterpart_annotators.kinds.pvse.loss import Embedded, best_cosines, pvse_loss
from counterpart_annotators.kinds.pvse.network import PVSE, build
from counterpart_annotators.nn import recurrent
from counterpart_annotators.nn.layers import Attended
from counterpart_annotators.nn.network_options import positions_of
from counterpart_annotators.nn.recurrent import (
    TABLE,
    Embedder,
    Pictures,
    RecurrentLearner,
    size_of,
    trunk_in,
    vocabulary_for,
)
from counterpart_annotators.nn.weights import Published, read_published
from counterpart_annotators.options import Settings, Value
from counterpart_annotators.progress import Progress
from counterpart_annotators.training.learners import Batch, Trained, TrainingPlan, TrainingSet
from counterpart_annotators.training.loop import repeatable
from counterpart_metrics.errors import CounterpartError


def open_annotator(stored: StoredAnnotator, device: str) -> Embedder:
    """Load the annotator."""
    arrays = stored.arrays
    settings = stored.options
    words = recurrent.stored_words(arrays)
    network = recurrent.restore(lambda: build(settings, len(words)), arrays, stored.name, device)
    return Embedder(network, words, Pictures(settings), device)


def adopt(path: Path, settings: Settings) -> Adopted:
    """Read published weights in any of their four layouts, and the vocabulary that the option names.

    Raises CounterpartError if either is invalid.
    """
    published = read_published(path)
    decided = decided_by(published, path)
    words = vocabulary_for(published, settings, path)
    arrays = recurrent.adopt(lambda: build({**settings, **decided}, len(words)), published.tensors, words, path)
    return Adopted(arrays, decided)


def decided_by(published: Published, path: Path) -> dict[str, Value]:
    """Return the settings that weights decide: sizes by their shapes, the reading by the training options.

    Raises CounterpartError for order embeddings, which no published weights are.
    """
    tensors = published.tensors
    if published.options.get("order"):
        raise CounterpartError(f"{path} was trained with order embeddings, which only the kind vse has.")
    decided: dict[str, Value] = {
        "embed": size_of(tensors, "img_enc.fc.weight", 0, path),
        "word": size_of(tensors, TABLE, 1, path),
        "embeddings": size_of(tensors, "txt_enc.pie_net.attention.w_2.weight", 0, path),
        "trunk": trunk_in(tensors, "img_enc.cnn.", path),
    }
    if "legacy" in published.options:
        decided["reading"] = "legacy" if published.options["legacy"] else "final"
    return decided


def train(examples: TrainingSet, plan: TrainingPlan, progress: Progress) -> Trained:
    """Train from initial weights, or from a trunk that was trained before."""
    words = recurrent.words_to_learn(examples, plan.settings)
    with repeatable(plan.seed):
        network = build(plan.settings, len(words))
    recurrent.prepare(network.img_enc.cnn, network.txt_enc.embed, plan)
    return recurrent.train(PVSELearner(network, words, Pictures(plan.settings), plan), words, examples, plan, progress)


class PVSELearner(RecurrentLearner[PVSE]):
    """PVSE with its own loss, or one over the best cosines."""

    def cost(self, pictures: Tensor, token_ids: Tensor, lengths: Tensor, batch: Batch) -> Tensor:
        images = _side(self._network.img_enc(pictures))
        captions = _side(self._network.txt_enc(token_ids, lengths))
        if self.loss_name == "pvse":
            known = torch.from_numpy(batch.known).to(pictures.device)
            return pvse_loss(images, captions, known=known)
        return self.ranked(best_cosines(images.embeddings, captions.embeddings), batch)


READINGS = {"legacy": "output at the last word", "final": "last states of both directions"}


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Describe the network for the annotator's page."""
    words, each = arrays["network.txt_enc.embed.weight"].shape
    embed = int(settings["embed"])
    k = int(settings["embeddings"])
    trunk = str(settings["trunk"])
    side = positions_of(trunk, int(settings["picture"]))
    channels = arrays["network.img_enc.fc.weight"].shape[1]
    return {
        "trunk": f"{trunk}, {side} x {side} positions of {channels:,} channels",
        "words": f"{words:,} words in {each} dimensions",
        "reader": f"bidirectional GRU, 2 x {embed // 2}, {READINGS[str(settings['reading'])]}",
        "embeddings": f"{k} in {embed:,} dimensions, L2-normalised",
        "score": "best of K x K cosines" if k > 1 else "cosine",
    }


def _side(attended: Attended) -> Embedded:
    """Return one side of a batch with its axis of K, (B, K, D), even if K is 1."""
    rows = len(attended.embedding)
    k = attended.attention.shape[2]
    return Embedded(attended.embedding.view(rows, k, -1), attended.residual.view(rows, k, -1))
