"""PVSE as an annotator: files of weights, training."""

from pathlib import Path

import torch
from torch import Tensor

from counterpart_annotators.base import Arrays
from counterpart_annotators.kinds.pvse.loss import Embedded, best_cosines, pvse_loss
from counterpart_annotators.kinds.pvse.network import PVSE, build
from counterpart_annotators.nn.layers import Attended
from counterpart_annotators.nn.network_options import positions_of
from counterpart_annotators.nn.recurrent import RecurrentKind, RecurrentLearner
from counterpart_annotators.nn.starting_weights import TABLE, size_of, trunk_in
from counterpart_annotators.nn.weights import Published
from counterpart_annotators.options import Settings, Value
from counterpart_annotators.training.learners import Batch
from counterpart_metrics.errors import CounterpartError


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


class PVSELearner(RecurrentLearner[PVSE]):
    """PVSE with its own loss, or one over the best cosines."""

    def cost(self, pictures: Tensor, token_ids: Tensor, lengths: Tensor, batch: Batch) -> Tensor:
        images = _side(self._model.network.img_enc(pictures))
        captions = _side(self._model.network.txt_enc(token_ids, lengths))
        if self.loss_name == "pvse":
            known = torch.from_numpy(batch.known).to(pictures.device)
            return pvse_loss(images, captions, known=known)
        return self.ranked(best_cosines(images.embeddings, captions.embeddings), batch)


KIND = RecurrentKind(build, PVSELearner, decided_by)
open_annotator = KIND.open
adopt = KIND.adopt
train = KIND.train
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
