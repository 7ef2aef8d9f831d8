"""VSRN as an annotator: regions from files, files of weights, training."""

from dataclasses import replace
from pathlib import Path

from torch import Tensor

from counterpart_annotators.base import Adopted, Arrays, StoredAnnotator
from counterpart_annotators.kinds.vsrn.network import VSRN, Captioner, build
from counterpart_annotators.nn import recurrent
from counterpart_annotators.nn.recurrent import (
    TABLE,
    Embedder,
    Pictures,
    RecurrentLearner,
    Source,
    size_of,
    vocabulary_for,
)
from counterpart_annotators.nn.regions import Regions, survey
from counterpart_annotators.nn.weights import NETWORK, Published, read_published
from counterpart_annotators.options import Settings, Value
from counterpart_annotators.progress import Progress
from counterpart_annotators.training.learners import Batch, Trained, TrainingPlan, TrainingSet
from counterpart_annotators.training.loop import repeatable
from counterpart_metrics.errors import CounterpartError

CHANNELS = "img_enc.fc.weight"  # has a column per channel of a region
UNPUBLISHED = ("no_imgnorm", "use_abs")  # modes that no published weights were trained in


def open_annotator(stored: StoredAnnotator, device: str) -> Embedder:
    """Load the annotator. Raises CounterpartError where its folder of regions is missing."""
    arrays = stored.arrays
    settings = stored.options
    words = recurrent.stored_words(arrays)
    source = source_of(settings, arrays)
    network = recurrent.restore(lambda: build(settings, len(words), channels_of(source)), arrays, stored.name, device)
    return Embedder(network, words, source, device)


def adopt(path: Path, settings: Settings) -> Adopted:
    """Read published weights of either variant, and the vocabulary and all regions that the options name.

    Raises CounterpartError if any of them is invalid.
    """
    published = read_published(path)
    decided = decided_by(published, path)
    words = vocabulary_for(published, settings, path)
    channels = size_of(published.tensors, CHANNELS, 1, path)
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


def train(examples: TrainingSet, plan: TrainingPlan, progress: Progress) -> Trained:
    """Train from initial weights, or from a trunk that was trained before; the caption loss has the weight 1."""
    settings = plan.settings
    words = recurrent.words_to_learn(examples, settings)
    surveyed = regions_to_learn(examples, settings, progress)
    source = source_of(settings, surveyed)
    with repeatable(plan.seed):
        network = build(settings, len(words), channels_of(source))
        if units := int(settings["captioner"]):
            network.captioner = Captioner(
                int(settings["embed"]), len(words), hidden=units, word_dim=int(settings["word"])
            )
    recurrent.prepare(network.cnn, network.txt_enc.embed, plan)
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
        "words": f"{words:,} words in {each} dimensions",
        "reader": f"GRU, {embed:,}, state at the last word",
        "embeddings": f"{embed:,} dimensions, L2-normalised",
        "score": "cosine",
    }


def regions_to_learn(examples: TrainingSet, settings: Settings, progress: Progress) -> Arrays:
    """Read the folder of regions of the settings, if any; return what shows later whether it was changed.

    Raises CounterpartError before training starts if images have no regions in it.
    """
    if not settings["regions"]:
        return {}
    folder = Path(str(settings["regions"]))
    surveyed = survey(folder, progress=progress)
    for split in (examples, examples.validation):
        if split:
            Regions(folder, surveyed).check(split.images)
    return surveyed


def source_of(settings: Settings, surveyed: Arrays) -> Source:
    """Return the regions in the folder of the settings, or the pictures."""
    return Regions(Path(str(settings["regions"])), surveyed) if settings["regions"] else Pictures(settings)


def channels_of(source: Source) -> int | None:
    """Return the length of a region from files; None for pictures."""
    return source.shape[1] if isinstance(source, Regions) else None


def _surveyed_for(channels: int, settings: Settings, path: Path) -> Arrays:
    """Read the folder of regions of the settings, whose length must be that of the weights."""
    if not settings["regions"]:
        raise CounterpartError(
            f"{path} was trained on region features of a detector; pass --option regions=FOLDER with those of the"
            " images."
        )
    folder = Path(str(settings["regions"]))
    surveyed = survey(folder)
    _, found = Regions(folder, surveyed).shape
    if found != channels:
        raise CounterpartError(
            f"{settings['regions']} has regions of {found:,} numbers, but {path} was trained on {channels:,}; pass the"
            " folder that belongs to it."
        )
    return surveyed
