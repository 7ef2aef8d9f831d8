"""VSRN: the regions of a picture exchange information before they become one embedding.

Li, Zhang, Li, Li and Fu (2019), "Visual semantic reasoning for image-text matching". There are two published variants,
told apart by ``bn.weight``: ``coco`` normalises the regions before the graph blocks, ``f30k`` ends in a batch
normalisation instead. The published weights read region features of a detector from a folder (``mitl.nn.regions``).
Without it the regions are 36 cells of the trunk's map. Names of modules are those of the published files.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from core.errors import CounterpartError
from core.progress import Progress
from corpus.models import Image
from mitl.annotators.base import Adopted, Arrays, stored_arrays
from mitl.models import Annotator
from mitl.nn import recurrent
from mitl.nn.layers import ResNet, Sentences, TwoEncoders
from mitl.nn.recurrent import TABLE, Embedder, Pictures, RecurrentLearner, Source, size_of, vocabulary_for
from mitl.nn.regions import Regions, survey
from mitl.nn.weights import NETWORK, Published, read_published
from mitl.options import TRUNKS, Settings, Value
from mitl.training.learners import Batch, Plan, Trained, TrainingSet
from mitl.training.loop import repeatable

Variant = Literal["coco", "f30k"]
BLOCKS = 4
GRID = 6  # cells per side that replace 36 regions
CHANNELS = "img_enc.fc.weight"  # has a column per channel of a region
LONGEST, END = 60, 2  # tokens of a caption that is generated, <start> and <end> included; the id of <end>
UNPUBLISHED = ("no_imgnorm", "use_abs")  # modes that no published weights were trained in


class RegionReader(nn.Module):
    """The image encoder: region features (B, N, C) to unit vectors (B, D). The order of regions matters."""

    def __init__(self, channels: int, dim: int, variant: Variant = "coco") -> None:
        super().__init__()
        self.fc = nn.Linear(channels, dim)
        for block in range(1, BLOCKS + 1):
            self.add_module(f"Rs_GCN_{block}", RegionGraph(dim))
        self.img_rnn = nn.GRU(dim, dim, batch_first=True)
        self.bn = nn.BatchNorm1d(dim) if variant == "f30k" else None
        bound = (6 / (channels + dim)) ** 0.5
        nn.init.uniform_(self.fc.weight, -bound, bound)
        nn.init.zeros_(self.fc.bias)

    def reason(self, regions: Tensor) -> Tensor:
        """Return the regions after the graph blocks, (B, N, D) (section 3.2)."""
        nodes = self.fc(regions)
        if self.bn is None:
            nodes = over_regions(nodes)
        for block in range(1, BLOCKS + 1):
            nodes = self.get_submodule(f"Rs_GCN_{block}")(nodes)
        return over_regions(nodes)

    def summarise(self, reasoned: Tensor) -> Tensor:
        """Return unit vectors (B, D) of the output of ``reason`` (B, N, D), by a GRU over the regions (section 3.3)."""
        last = self.img_rnn(reasoned)[1][0]
        if self.bn is not None:
            last = self.bn(last)
        return functional.normalize(last, dim=1)

    def forward(self, regions: Tensor) -> Tensor:
        return self.summarise(self.reason(regions))


class RegionGraph(nn.Module):
    """A graph block: every region adds the others weighted by their affinity, without softmax (section 3.2)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.g, self.theta, self.phi = (nn.Conv1d(dim, dim, 1) for _ in range(3))
        scale = nn.BatchNorm1d(dim)
        # The block is the identity at first, so that four of them can be trained.
        nn.init.zeros_(scale.weight)
        self.W = nn.Sequential(nn.Conv1d(dim, dim, 1), scale)

    def forward(self, regions: Tensor) -> Tensor:
        """Map regions (B, N, D) to (B, N, D)."""
        columns = regions.transpose(1, 2)
        affinity = self.theta(columns).transpose(1, 2) @ self.phi(columns) / regions.shape[1]
        gathered = affinity @ self.g(columns).transpose(1, 2)
        return regions + self.W(gathered.transpose(1, 2)).transpose(1, 2)


def over_regions(regions: Tensor) -> Tensor:
    """Scale (B, N, D) so that each channel has length 1 over a picture's regions, as the published weights expect."""
    return functional.normalize(regions, dim=1)


class Captioner(nn.Module):
    """Log-likelihood of captions given region features (B, N, D), with teacher forcing (section 3.4).

    VSRN is trained with it: while it learns to match, this network generates the caption. The embeddings do not depend
    on it, and the published files do not contain it.
    """

    def __init__(self, dim: int, vocabulary: int, *, hidden: int = 512, word_dim: int = 300) -> None:
        super().__init__()
        self.encoder = RegionSequence(dim, hidden)
        self.decoder = WordSequence(vocabulary, hidden, word_dim)

    def forward(self, regions: Tensor, token_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return the negative log-likelihood of the captions, summed over tokens and divided by B, a scalar.

        Captions are ``token_ids`` (B, L), 0 = padding, of ``lengths`` (B,), with ``<start>`` and ``<end>``. The targets
        are the tokens after ``<start>``, and one padding token that ends the caption.
        """
        token_ids, lengths = shortened(token_ids, lengths)
        targets = functional.pad(token_ids[:, 1:], (0, 1))
        log_probabilities = self.decoder(token_ids, *self.encoder(regions))
        chosen = log_probabilities.gather(2, targets[:, :, None])[:, :, 0]
        told = torch.arange(targets.shape[1], device=targets.device) < lengths.to(targets.device)[:, None]
        return -(chosen * told).sum() / len(targets)


class RegionSequence(nn.Module):
    """A GRU over regions: (B, N, D) to states (B, N, H) and the last state (1, B, H)."""

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.vid2hid = nn.Linear(dim, hidden)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True)

    def forward(self, regions: Tensor) -> tuple[Tensor, Tensor]:
        return self.rnn(self.vid2hid(regions))


class WordSequence(nn.Module):
    """A GRU over words that attends to the states of the regions before each word."""

    def __init__(self, vocabulary: int, hidden: int, word_dim: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, word_dim)
        self.attention = StateAttention(hidden)
        self.rnn = nn.GRU(hidden + word_dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocabulary)

    def forward(self, token_ids: Tensor, states: Tensor, last: Tensor) -> Tensor:
        """Return log-probabilities (B, L, V) of the word after each of ``token_ids`` (B, L)."""
        hidden, outputs = last, []
        for words in self.embedding(token_ids).unbind(1):
            seen = torch.cat([words, self.attention(hidden[0], states)], dim=1)
            output, hidden = self.rnn(seen[:, None], hidden)
            outputs.append(output)
        return functional.log_softmax(self.out(torch.cat(outputs, dim=1)), dim=2)


class StateAttention(nn.Module):
    """Mean of states (B, N, H), weighted by their fit to one hidden state (B, H)."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.linear1 = nn.Linear(2 * hidden, hidden)
        self.linear2 = nn.Linear(hidden, 1, bias=False)

    def forward(self, hidden: Tensor, states: Tensor) -> Tensor:
        both = torch.cat([states, hidden[:, None].expand_as(states)], dim=2)
        weights = self.linear2(torch.tanh(self.linear1(both))).softmax(dim=1)
        return (weights * states).sum(1)


def shortened(token_ids: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Cut captions (B, L) to ``LONGEST`` tokens; a caption that was longer ends there with ``<end>``."""
    cut = token_ids[:, :LONGEST].clone()
    cut[lengths.to(cut.device) > LONGEST, -1] = END
    return cut, lengths.clamp(max=LONGEST)


class VSRN(TwoEncoders):
    """Both encoders. Pictures are regions (B, N, C), or, with a trunk ``cnn``, (B, 3, H, W).

    In training it may have a ``captioner``.
    """

    def __init__(self, image: RegionReader, text: Sentences, trunk: ResNet | None = None) -> None:
        super().__init__()
        self.img_enc = image
        self.txt_enc = text
        self.cnn = trunk
        self.captioner: Captioner | None = None

    def regions_of(self, pictures: Tensor) -> Tensor:
        """Return the regions of pictures: the input, or, row by row, a grid of the trunk's map (B, 36, C)."""
        if self.cnn is None:
            return pictures
        return functional.adaptive_avg_pool2d(self.cnn(pictures), GRID).flatten(2).transpose(1, 2)

    def embed_pictures(self, pictures: Tensor) -> Tensor:
        """Return unit vectors (B, D)."""
        embedding: Tensor = self.img_enc(self.regions_of(pictures))
        return embedding

    def embed_captions(self, token_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return unit vectors (B, D) of captions (B, L)."""
        return functional.normalize(self.txt_enc(token_ids, lengths), dim=1)


class RegionFiles:
    """Source of the regions in the folder of the settings; ``channels`` is the length of one."""

    looks_at_pictures = False

    def __init__(self, settings: Settings, surveyed: Arrays) -> None:
        self.regions = Regions(Path(str(settings["regions"])), surveyed)
        self.channels = self.regions.shape[1]

    def batches(self, images: Sequence[Image]) -> Iterator[Tensor]:
        yield torch.from_numpy(self.regions.of(images))

    def drawn(self, images: Sequence[Image], rng: np.random.Generator) -> Tensor:
        return next(self.batches(images))


def build(settings: Settings, words: int, channels: int | None = None) -> VSRN:
    """Return the network of these settings and number of words, with initial weights.

    ``channels`` is the length of a region from files; None for a network that reads pictures itself.
    """
    size = TRUNKS[str(settings["trunk"])]
    embed = int(settings["embed"])
    return VSRN(
        RegionReader(channels or size.channels, embed, cast(Variant, settings["variant"])),
        Sentences(words, int(settings["word"]), embed),
        None if channels else ResNet(size),
    )


def open_annotator(annotator: Annotator, device: str) -> Embedder:
    """Load the annotator. Raises CounterpartError if it has no weights yet, or its folder of regions is missing."""
    arrays, settings = stored_arrays(annotator), annotator.options
    words = recurrent.stored_words(arrays)
    source = RegionFiles(settings, arrays) if settings["regions"] else Pictures(settings)
    network = recurrent.restore(lambda: build(settings, len(words), _channels(source)), arrays, annotator.name, device)
    return Embedder(network, words, source, device)


def adopt(path: Path, settings: Settings) -> Adopted:
    """Read published weights of either variant, and the vocabulary and all regions that the options name.

    Raises CounterpartError if any of them is invalid.
    """
    published = read_published(path)
    decided = decided_by(published, path)
    words, channels = vocabulary_for(published, settings, path), size_of(published.tensors, CHANNELS, 1, path)
    arrays = recurrent.adopt(
        lambda: build({**settings, **decided}, len(words), channels), published.tensors, words, path
    )
    return Adopted(arrays | _surveyed_for(channels, settings, path), decided)


def decided_by(published: Published, path: Path) -> dict[str, Value]:
    """Return the settings that weights decide.

    The tensors decide the variant: until 2020 the authors' code treated both collections alike, whatever a file says.
    Raises CounterpartError for weights of a mode that this network does not have.
    """
    modes = [mode for mode in UNPUBLISHED if published.options.get(mode)]
    if modes:
        raise CounterpartError(
            f"{path} was trained with {' and '.join(modes)}, which no published VSRN was; pass a published one."
        )
    return {
        "embed": size_of(published.tensors, CHANNELS, 0, path),
        "word": size_of(published.tensors, TABLE, 1, path),
        "variant": "f30k" if "img_enc.bn.weight" in published.tensors else "coco",
    }


def train(examples: TrainingSet, plan: Plan, progress: Progress) -> Trained:
    """Train from initial weights, or from a trunk that was trained before; the caption loss has the weight 1."""
    settings = plan.settings
    words = recurrent.words_to_learn(examples, settings)
    surveyed = survey(Path(str(settings["regions"])), progress=progress) if settings["regions"] else {}
    source: Source = RegionFiles(settings, surveyed) if surveyed else Pictures(settings)
    _check_regions(source, examples)
    with repeatable(plan.seed):
        network = build(settings, len(words), _channels(source))
        if units := int(settings["captioner"]):
            network.captioner = Captioner(
                int(settings["embed"]), len(words), hidden=units, word_dim=int(settings["word"])
            )
    recurrent.prepare(network.cnn, network.txt_enc.embed, settings)
    trained = recurrent.train(VSRNLearner(network, words, source, plan), words, examples, plan, progress)
    arrays = {name: array for name, array in trained.arrays.items() if not name.startswith(f"{NETWORK}captioner.")}
    return replace(trained, arrays=arrays | surveyed)


class VSRNLearner(RecurrentLearner[VSRN]):
    """VSRN with a loss over cosines, plus the loss of generating the captions."""

    def cost(self, pictures: Tensor, token_ids: Tensor, lengths: Tensor, batch: Batch) -> Tensor:
        network = self._network
        reasoned = network.img_enc.reason(network.regions_of(pictures))
        images = network.img_enc.summarise(reasoned)
        captions = network.embed_captions(token_ids, lengths)
        loss = self.ranked(images @ captions.T, batch)
        if network.captioner is None:
            return loss
        return loss + network.captioner(reasoned, token_ids, lengths)


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Describe the network for the annotator's page."""
    words, each = arrays["network.txt_enc.embed.weight"].shape
    embed, channels = arrays["network.img_enc.fc.weight"].shape
    regions = "regions from files" if settings["regions"] else f"36 cells of {settings['trunk']}"
    return {
        "pictures": f"{regions}, {channels:,} numbers each",
        "reasoning": f"4 graph blocks and a GRU, {settings['variant']} variant",
        "words": f"{words:,} of {each} numbers",
        "reader": f"GRU, {embed:,}, state at the last word",
        "embeddings": f"1 of {embed:,} numbers, unit length",
        "score": "cosine",
    }


def _check_regions(source: Source, examples: TrainingSet) -> None:
    """Raise CounterpartError before training starts if images have no regions in the source's folder."""
    for split in (examples, examples.validation):
        if isinstance(source, RegionFiles) and split:
            source.regions.check(split.images)


def _channels(source: Source) -> int | None:
    return source.channels if isinstance(source, RegionFiles) else None


def _surveyed_for(channels: int, settings: Settings, path: Path) -> Arrays:
    """Read the folder of regions of the settings, whose length must be that of the weights."""
    if not settings["regions"]:
        raise CounterpartError(
            f"{path} was trained on region features of a detector; pass --option regions=FOLDER with those of the"
            " images."
        )
    surveyed = survey(Path(str(settings["regions"])))
    found = RegionFiles(settings, surveyed).channels
    if found != channels:
        raise CounterpartError(
            f"{settings['regions']} has regions of {found:,} numbers, but {path} was trained on {channels:,}; pass the"
            " folder that belongs to it."
        )
    return surveyed
