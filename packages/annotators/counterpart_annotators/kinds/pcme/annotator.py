"""PCME as an annotator: samples and scores, files of weights, training."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from counterpart_annotators.base import Arrays, ComparingAnnotator
from counterpart_annotators.encoding import Embeddings
from counterpart_annotators.kinds.pcme.distributions import Distribution, noise_for, sum_of_products
from counterpart_annotators.kinds.pcme.loss import Regularisers, Sampled, pcme_loss
from counterpart_annotators.kinds.pcme.network import PCME, build
from counterpart_annotators.nn.network_options import positions_of
from counterpart_annotators.nn.recurrent import Embedder, RecurrentKind, RecurrentLearner
from counterpart_annotators.nn.starting_weights import TABLE, size_of, trunk_in
from counterpart_annotators.nn.vocabularies import forgetful
from counterpart_annotators.nn.weights import Published, read_published, strip_prefix
from counterpart_annotators.options import Settings, Value
from counterpart_annotators.plain import PlainCaption, PlainImage
from counterpart_annotators.training.learners import Batch
from counterpart_metrics.errors import CounterpartError

MOST_DISTANCES = 2**23  # computed at once; 4 bytes each, several times
SCALARS = ("shift", "negative_scale")
PROBABILISTIC = ("img_probemb", "txt_probemb")


class ProbabilisticEmbedder(Embedder, ComparingAnnotator):
    """K samples of every item's distribution, compared by the mean match probability of their pairs.

    An item's noise depends only on the seed and the item: not on batches or order, and equal items get equal samples.
    """

    def encode_images(self, images: Sequence[PlainImage]) -> Embeddings:
        """Return samples (N, K, D). Raises CounterpartError for an image without a readable picture."""
        return self._sampled(super().encode_images(images), [f"image {image.sha256 or image.key}" for image in images])

    def encode_captions(self, captions: Sequence[PlainCaption]) -> Embeddings:
        """Return samples (M, K, D)."""
        return self._sampled(super().encode_captions(captions), [f"caption {caption.text}" for caption in captions])

    def compare(self, images: Embeddings, captions: Embeddings) -> NDArray[np.float32]:
        """Return the scores (n, m) of samples (n, K, D) and (m, K, D), in blocks of bounded memory."""
        device = self._model.device
        score = sum_of_products if self._model.settings["score"] == "matmul" else self._model.network.criterion
        side = max(1, int((MOST_DISTANCES / (images.shape[1] * captions.shape[1])) ** 0.5))
        scores = np.empty((len(images), len(captions)), dtype=np.float32)
        with torch.inference_mode():
            columns = [torch.from_numpy(captions[c : c + side]).to(device) for c in range(0, len(captions), side)]
            for row in range(0, len(images), side):
                rows = torch.from_numpy(images[row : row + side]).to(device)
                blocks = [score(rows, block).cpu().numpy() for block in columns]
                np.concatenate(blocks, axis=1, out=scores[row : row + side])
        return scores

    def uncertainty_of_images(self, images: Sequence[PlainImage]) -> NDArray[np.float32]:
        """Return the width of each image's distribution, (N,): the geometric mean of sigma over the dimensions."""
        return _width(super().encode_images(images))

    def uncertainty_of_captions(self, captions: Sequence[PlainCaption]) -> NDArray[np.float32]:
        """Return the same of captions, (M,)."""
        return _width(super().encode_captions(captions))

    def _sampled(self, distributions: Embeddings, items: list[str]) -> Embeddings:
        mean = distributions[:, :1]
        log_sigma = distributions[:, 1:]
        settings = self._model.settings
        shape = int(settings["samples"]), distributions.shape[2]
        noise = np.stack([noise_for(f"{int(settings['samples_seed'])} {item}", shape) for item in items])
        return mean + noise * np.exp(log_sigma)


def read_file(path: Path, settings: Settings) -> Published:
    """Read a published checkpoint with its criterion, or that of the settings."""
    published = read_published(path)
    _check_probabilistic(published, path)
    return replace(published, tensors=_criterion(published, settings) | published.tensors)


def decided_by(published: Published, path: Path) -> dict[str, Value]:
    """Return the settings that weights decide: sizes by their shapes."""
    return {
        "embed": size_of(published.tensors, "img_enc.fc.weight", 0, path),
        "word": size_of(published.tensors, TABLE, 1, path),
        "trunk": trunk_in(published.tensors, "img_enc.cnn.", path),
    }


class PCMELearner(RecurrentLearner[PCME]):
    """PCME with its own loss over new samples."""

    def cost(self, pictures: Tensor, token_ids: Tensor, lengths: Tensor, batch: Batch) -> Tensor:
        network = self._model.network
        settings = self._model.settings
        token_ids, lengths = forgetful(token_ids, lengths, float(settings["forgetting"]))
        sides = (network.embed_pictures(pictures), network.embed_captions(token_ids, lengths))
        known = torch.from_numpy(batch.known).to(pictures.device)
        images, captions = (self._sampled(Distribution(*rows.unbind(1))) for rows in sides)
        weights = Regularisers(float(settings["vib_beta"]), float(settings["uniformity"]))
        criterion = network.criterion
        return pcme_loss(images, captions, criterion.shift, criterion.negative_scale, weights, known)

    def _sampled(self, distribution: Distribution) -> Sampled:
        items, dimensions = distribution.mean.shape
        noise = torch.randn(items, int(self._model.settings["samples"]), dimensions).to(distribution.mean.device)
        return Sampled(distribution.samples(noise), distribution.log_sigma)


KIND = RecurrentKind(build, PCMELearner, decided_by, ProbabilisticEmbedder, read_file)
open_annotator = KIND.open
adopt = KIND.adopt
train = KIND.train


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Describe the network for the annotator's page."""
    words, each = arrays["network.txt_enc.embed.weight"].shape
    embed = int(settings["embed"])
    trunk = str(settings["trunk"])
    side = positions_of(trunk, int(settings["picture"]))
    channels = arrays["network.img_enc.fc.weight"].shape[1]
    shift, scale = (float(arrays[f"network.criterion.{name}"][0]) for name in SCALARS)
    probability = f"mean over sample pairs of sigmoid(2 ({shift:.2f} - {scale:.2f} x distance))"
    return {
        "trunk": f"{trunk}, {side} x {side} positions of {channels:,} channels",
        "words": f"{words:,} words in {each} dimensions",
        "reader": f"bidirectional GRU, 2 x {embed // 2}, output at the last word; another for the uncertainty",
        "embeddings": f"normal distribution in {embed:,} dimensions, {settings['samples']} samples",
        "score": probability if settings["score"] == "probability" else "sum of the samples' inner products",
    }


def _width(distributions: Embeddings) -> NDArray[np.float32]:
    width: NDArray[np.float32] = np.exp(distributions[:, 1].mean(1))
    return width


def _criterion(published: Published, settings: Settings) -> Arrays:
    """Return the learned scalars that a file has in addition to the network, or those of the settings."""
    found = published.others.get("criterion")
    tensors = strip_prefix(found) if isinstance(found, dict) else {}
    scalars = {name: tensors.get(name, torch.tensor([float(settings[name])])) for name in SCALARS}
    return {f"criterion.{name}": scalar.float().numpy() for name, scalar in scalars.items()}


def _check_probabilistic(published: Published, path: Path) -> None:
    config = published.others.get("config")
    model = config.get("model", {}) if isinstance(config, dict) else {}
    missing = [name for name in PROBABILISTIC if isinstance(model, dict) and model.get(name) is False]
    if missing:
        raise CounterpartError(
            f"{path} was trained without {' and '.join(missing)}; only probabilistic checkpoints load."
        )
