"""PCME's network as a machine: built from settings, taken from published files, trained."""

from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from core.errors import CounterpartError
from core.progress import Progress
from mitl.annotators.base import Adopted, Arrays, Settings, Value
from mitl.annotators.pcme.embedder import ProbabilisticEmbedder
from mitl.annotators.recurrent.keeping import (
    TABLE,
    check_vocabulary,
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
from mitl.losses.pcme import Regularisers, Sampled, pcme_loss
from mitl.models import Annotator
from mitl.networks.pcme import PCME, Distribution, ImageEncoder, MatchProbability, TextEncoder
from mitl.nn.sizes import TRUNKS
from mitl.nn.trunks import ResNet
from mitl.nn.vocabularies import SPECIALS, UNKNOWN, Vocabulary, vocabulary_of
from mitl.nn.weights import Published, check_network, load_network, named, read_published, strip_prefix
from mitl.training.learners import Batch, Plan, Trained, TrainingSet
from mitl.training.loop import fit, repeatable

SCALARS = ("shift", "negative_scale")
SIDES = ("img_probemb", "txt_probemb")


def build(settings: Settings, words: int) -> PCME:
    """Return the network of these settings for so many words, with drawn weights."""
    trunk = TRUNKS[str(settings["trunk"])]
    embed, first = int(settings["embed"]), float(settings["log_sigma"])
    return PCME(
        ImageEncoder(ResNet(trunk), trunk.channels, embed, first),
        TextEncoder(words, int(settings["word"]), embed, first),
        MatchProbability(float(settings["shift"]), float(settings["negative_scale"])),
    )


def opened(annotator: Annotator, device: str) -> ProbabilisticEmbedder:
    arrays, settings = kept_arrays(annotator), annotator.options
    vocabulary = kept_words(arrays)
    with torch.device("meta"):
        network = build(settings, len(vocabulary))
    load_network(network, arrays, annotator.name)
    return ProbabilisticEmbedder(network.to(device), vocabulary, Pictures(settings), device, settings)


def adopted(path: Path, settings: Settings) -> Adopted:
    published = read_published(path)
    _check_probabilistic(published, path)
    tensors = _criterion(published, settings) | published.tensors
    decided = decided_by(published, path)
    vocabulary = _vocabulary(published, settings, path)
    with torch.device("meta"):
        network = build({**settings, **decided}, len(vocabulary))
    check_network(network, tensors, str(path))
    return Adopted(named(tensors) | word_array(vocabulary), decided)


def decided_by(published: Published, path: Path) -> dict[str, Value]:
    """Return the settings that weights decide: sizes by their shapes."""
    return {
        "embed": size_of(published.tensors, "img_enc.fc.weight", 0, path),
        "word": size_of(published.tensors, TABLE, 1, path),
        "trunk": trunk_in(published.tensors, "img_enc.cnn.", path),
    }


def trained(examples: TrainingSet, plan: Plan, progress: Progress) -> Trained:
    settings = plan.settings
    vocabulary = words_to_learn(examples, settings)
    with repeatable(plan.seed):
        network = build(settings, len(vocabulary))
    prepare(network.img_enc.cnn, network.txt_enc.embed, settings)
    source = Pictures(settings, erasing=float(settings["erasing"]))
    result = fit(PCMELearner(network, vocabulary, source, plan), examples, plan, progress)
    return replace(result, arrays=result.arrays | word_array(vocabulary))


class PCMELearner(RecurrentLearner[PCME]):
    """PCME with its own loss over fresh samples."""

    def __init__(self, network: PCME, vocabulary: Vocabulary, source: Pictures, plan: Plan) -> None:
        super().__init__(network, vocabulary, source, plan)
        self._settings = plan.settings
        self._weights = Regularisers(float(plan.settings["vib_beta"]), float(plan.settings["uniformity"]))

    def cost(self, pictures: Tensor, token_ids: Tensor, lengths: Tensor, batch: Batch) -> Tensor:
        network = self._network
        token_ids, lengths = forgetful(token_ids, lengths, float(self._settings["forgetting"]))
        sides = (network.embed_pictures(pictures), network.embed_captions(token_ids, lengths))
        known = torch.from_numpy(batch.known).to(pictures.device)
        images, captions = (self._sampled(Distribution(*rows.unbind(1))) for rows in sides)
        criterion = network.criterion
        return pcme_loss(images, captions, criterion.shift, criterion.negative_scale, self._weights, known)

    def machine(self) -> ProbabilisticEmbedder:
        return ProbabilisticEmbedder(self._network, self._vocabulary, self._source, self._device, self._settings)

    def _sampled(self, distribution: Distribution) -> Sampled:
        items, dimensions = distribution.mean.shape
        noise = torch.randn(items, int(self._settings["samples"]), dimensions).to(distribution.mean.device)
        return Sampled(distribution.samples(noise), distribution.log_sigma)


def forgetful(token_ids: Tensor, lengths: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """Make a ``share`` of the words of captions (B, L) unknown by lot, then leave as many out; both rounded down.

    What starts and ends a caption stays.
    """
    rows = []
    for row, length in zip(token_ids, lengths.tolist(), strict=True):
        words = row[1 : length - 1]
        words = words.masked_fill(torch.rand(len(words)).to(words.device) < share, SPECIALS.index(UNKNOWN))
        kept = torch.randperm(len(words))[int(share * len(words)) :].sort().values.to(words.device)
        rows.append(torch.cat([row[:1], words[kept], row[length - 1 : length]]))
    shorter = torch.tensor([len(row) for row in rows])
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True), shorter


def _criterion(published: Published, settings: Settings) -> Arrays:
    """Return the learned scalars that a file has beside the network; those of the settings where it has none."""
    found = published.others.get("criterion")
    tensors = strip_prefix(found) if isinstance(found, dict) else {}
    scalars = {name: tensors.get(name, torch.tensor([float(settings[name])])) for name in SCALARS}
    return {f"criterion.{name}": scalar.float().numpy() for name, scalar in scalars.items()}


def _vocabulary(published: Published, settings: Settings, path: Path) -> Vocabulary:
    own = published.others.get("word2idx")
    if settings["vocabulary"] or own is None:
        return vocabulary_for(published, settings, path)
    vocabulary = vocabulary_of(own, str(path))
    check_vocabulary(vocabulary, published, path, path)
    return vocabulary


def _check_probabilistic(published: Published, path: Path) -> None:
    config = published.others.get("config")
    model = config.get("model", {}) if isinstance(config, dict) else {}
    points = [side for side in SIDES if isinstance(model, dict) and model.get(side) is False]
    if points:
        raise CounterpartError(f"{path} was trained without {' and '.join(points)}; only its probabilistic form loads.")
