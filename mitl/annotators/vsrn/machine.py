"""VSRN's network as a machine: built from settings, taken from published files, trained."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch import Tensor

from core.errors import CounterpartError
from core.progress import Progress
from corpus.models import Image
from mitl.annotators.base import Adopted, Arrays, Settings, Value
from mitl.annotators.recurrent.embedder import Embedder
from mitl.annotators.recurrent.keeping import (
    TABLE,
    kept_arrays,
    kept_words,
    size_of,
    vocabulary_for,
    word_array,
)
from mitl.annotators.recurrent.learning import RecurrentLearner
from mitl.annotators.recurrent.pictures import Pictures, Source
from mitl.annotators.recurrent.starting import prepare, words_to_learn
from mitl.models import Annotator
from mitl.networks.vsrn import VSRN, RegionReader, Variant
from mitl.nn.captioner import Captioner
from mitl.nn.layers import Sentences
from mitl.nn.regions import Regions, survey
from mitl.nn.sizes import TRUNKS
from mitl.nn.trunks import ResNet
from mitl.nn.weights import NETWORK, Published, check_network, load_network, named, read_published
from mitl.training.learners import Batch, Plan, Trained, TrainingSet
from mitl.training.loop import fit, repeatable

CHANNELS = "img_enc.fc.weight"  # its columns are the numbers of a region
MODES = ("no_imgnorm", "use_abs")  # of the authors' code, which no published weights were trained in
TAUGHT = f"{NETWORK}captioner."


def build(settings: Settings, words: int, channels: int | None = None) -> VSRN:
    """Return the network of these settings for so many words, with drawn weights.

    ``channels`` is how many numbers a region from files has; None for a network that looks at pictures itself.
    """
    size = TRUNKS[str(settings["trunk"])]
    embed = int(settings["embed"])
    return VSRN(
        RegionReader(channels or size.channels, embed, cast(Variant, settings["variant"])),
        Sentences(words, int(settings["word"]), embed),
        None if channels else ResNet(size),
    )


def opened(annotator: Annotator, device: str) -> Embedder:
    arrays, settings = kept_arrays(annotator), annotator.options
    vocabulary = kept_words(arrays)
    source = RegionFiles(settings, arrays) if settings["regions"] else Pictures(settings)
    with torch.device("meta"):
        network = build(settings, len(vocabulary), _channels(source))
    load_network(network, arrays, annotator.name)
    return Embedder(network.to(device), vocabulary, source, device)


def adopted(path: Path, settings: Settings) -> Adopted:
    published = read_published(path)
    decided = decided_by(published, path)
    vocabulary = vocabulary_for(published, settings, path)
    with torch.device("meta"):
        network = build({**settings, **decided}, len(vocabulary), size_of(published.tensors, CHANNELS, 1, path))
    check_network(network, published.tensors, str(path))
    surveyed = _surveyed_for(published, settings, path)
    return Adopted(named(published.tensors) | word_array(vocabulary) | surveyed, decided)


def decided_by(published: Published, path: Path) -> dict[str, Value]:
    """Return the settings that weights decide.

    The tensors tell the variant: until 2020 the authors' code treated both collections alike, whatever a file says.
    Raises CounterpartError for weights of a mode that this network does not have.
    """
    modes = [mode for mode in MODES if published.options.get(mode)]
    if modes:
        raise CounterpartError(
            f"{path} was trained with {' and '.join(modes)}, which no published VSRN was; pass one of those."
        )
    return {
        "embed": size_of(published.tensors, CHANNELS, 0, path),
        "word": size_of(published.tensors, TABLE, 1, path),
        "variant": "f30k" if "img_enc.bn.weight" in published.tensors else "coco",
    }


def trained(examples: TrainingSet, plan: Plan, progress: Progress) -> Trained:
    settings = plan.settings
    vocabulary = words_to_learn(examples, settings)
    surveyed = survey(Path(str(settings["regions"])), progress=progress) if settings["regions"] else {}
    source = _checked(RegionFiles(settings, surveyed), examples) if surveyed else Pictures(settings)
    with repeatable(plan.seed):
        network = build(settings, len(vocabulary), _channels(source))
        network.captioner = _captioner(settings, len(vocabulary))
    prepare(network.cnn or torch.nn.Identity(), network.txt_enc.embed, settings)
    result = fit(VSRNLearner(network, vocabulary, source, plan), examples, plan, progress)
    untaught = {name: array for name, array in result.arrays.items() if not name.startswith(TAUGHT)}
    return replace(result, arrays=untaught | word_array(vocabulary) | surveyed)


class VSRNLearner(RecurrentLearner[VSRN]):
    """VSRN with a loss over cosines, and with what it costs to tell the captions."""

    def cost(self, pictures: Tensor, token_ids: Tensor, lengths: Tensor, batch: Batch) -> Tensor:
        network = self._network
        reasoned = network.img_enc.reason(network.regions_of(pictures))
        images = network.img_enc.summarise(reasoned)
        captions = network.embed_captions(token_ids, lengths)
        loss = self.ranked(images @ captions.T, batch)
        if network.captioner is None:
            return loss
        return loss + network.captioner(reasoned, token_ids, lengths)


class RegionFiles:
    """Source of the regions in the folder that the settings name; each has so many ``channels``."""

    looks_at_pictures = False

    def __init__(self, settings: Settings, surveyed: Arrays) -> None:
        self.regions = Regions(Path(str(settings["regions"])), surveyed)
        self.channels = self.regions.shape[1]

    def batches(self, images: Sequence[Image]) -> Iterator[Tensor]:
        yield torch.from_numpy(self.regions.of(images))

    def drawn(self, images: Sequence[Image], rng: np.random.Generator) -> Tensor:
        return next(self.batches(images))


def _checked(source: RegionFiles, examples: TrainingSet) -> RegionFiles:
    """Raise CounterpartError before any training where images have no regions."""
    for split in (examples, examples.validation):
        source.regions.check(split.images if split else [])
    return source


def _channels(source: Source) -> int | None:
    return source.channels if isinstance(source, RegionFiles) else None


def _captioner(settings: Settings, words: int) -> Captioner | None:
    units = int(settings["captioner"])
    return Captioner(int(settings["embed"]), words, hidden=units, word_dim=int(settings["word"])) if units else None


def _surveyed_for(published: Published, settings: Settings, path: Path) -> Arrays:
    """Read the folder of regions that the settings name; they must be as long as those the weights were trained on."""
    if not settings["regions"]:
        raise CounterpartError(
            f"{path} was trained on regions that a detector saw; pass --option regions=FOLDER with those of the images."
        )
    surveyed = survey(Path(str(settings["regions"])))
    found, wanted = RegionFiles(settings, surveyed).channels, size_of(published.tensors, CHANNELS, 1, path)
    if found != wanted:
        raise CounterpartError(
            f"{settings['regions']} has regions of {found:,} numbers and {path} was trained on {wanted:,}; pass the"
            " folder that belongs to it."
        )
    return surveyed
