"""VSRN as an annotator: regions from files, files of weights, training."""

from dataclasses import replace
from pathlib import Path

from torch import Tensor

from counterpart_annotators.base import Arrays
from counterpart_annotators.kinds.vsrn.network import VSRN, Captioner, build
from counterpart_annotators.nn.recurrent import RecurrentKind, RecurrentLearner
from counterpart_annotators.nn.regions import survey
from counterpart_annotators.nn.starting_weights import TABLE, size_of
from counterpart_annotators.nn.weights import NETWORK, Published
from counterpart_annotators.options import Settings, Value
from counterpart_annotators.progress import Progress
from counterpart_annotators.training.learners import Batch, Trained, TrainingPlan, TrainingSet
from counterpart_metrics.errors import CounterpartError

UNPUBLISHED = ("no_imgnorm", "use_abs")  # modes that no published weights were trained in


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
        "embed": size_of(published.tensors, "img_enc.fc.weight", 0, path),
        "word": size_of(published.tensors, TABLE, 1, path),
        "variant": "f30k" if "img_enc.bn.weight" in published.tensors else "coco",
    }


class VSRNLearner(RecurrentLearner[VSRN]):
    """VSRN with a loss over cosines, plus the loss of generating the captions."""

    def cost(self, pictures: Tensor, token_ids: Tensor, lengths: Tensor, batch: Batch) -> Tensor:
        network = self._model.network
        reasoned = network.img_enc.reason(network.regions_of(pictures))
        images = network.img_enc.summarise(reasoned)
        captions = network.embed_captions(token_ids, lengths)
        loss = self.ranked(images @ captions.T, batch)
        if network.captioner is None:
            return loss
        return loss + network.captioner(reasoned, token_ids, lengths)


def survey_regions(settings: Settings, length: int | None, progress: Progress) -> Arrays:
    """Read the folder of regions of the settings; published weights need one of their ``length``."""
    if settings["regions"]:
        return survey(Path(str(settings["regions"])), length=length, progress=progress)
    if length is None:
        return {}
    raise CounterpartError(
        "These weights were trained on region features of a detector; pass --option regions=FOLDER with those of the"
        " images."
    )


KIND = RecurrentKind(build, VSRNLearner, decided_by, survey=survey_regions)
open_annotator = KIND.open
adopt = KIND.adopt


def train(examples: TrainingSet, plan: TrainingPlan, progress: Progress) -> Trained:
    """Train with the loss of generating the captions, of weight 1, besides the named one; its decoder is not kept."""
    trained = replace(KIND, build=with_captioner).train(examples, plan, progress)
    arrays = {name: array for name, array in trained.arrays.items() if not name.startswith(f"{NETWORK}captioner.")}
    return replace(trained, arrays=arrays)


def with_captioner(settings: Settings, words: int, channels: int | None) -> VSRN:
    """Return the network with the decoder of the settings, if they have one."""
    network = build(settings, words, channels)
    if units := int(settings["captioner"]):
        network.captioner = Captioner(int(settings["embed"]), words, hidden=units, word_dim=int(settings["word"]))
    return network


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
