"""What a network of ``recurrent`` starts from: a trunk that was trained before, and word vectors of a file."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import nn

from counterpart_annotators.base import Arrays
from counterpart_annotators.nn.network_options import INCEPTION, TRUNKS, TrunkSize
from counterpart_annotators.nn.vocabularies import Vocabulary
from counterpart_annotators.nn.weights import NETWORK, check_network, read_published
from counterpart_annotators.nn.word_vectors import read_word_vectors
from counterpart_annotators.training.learners import TrainingPlan
from counterpart_metrics.errors import CounterpartError

TABLE = "txt_enc.embed.weight"  # a row per word
TRUNK_PREFIXES = ("img_enc.cnn.", "cnn.", "")
CLASSIFIERS = ("fc.", "classifier.6.", "last_linear.")


def start_words(network: nn.Module, vocabulary: Vocabulary, file: str) -> dict[str, object]:
    """Copy the vectors of a file, if there is one, into the network's table; the other words keep what was drawn.

    Returns ``words_with_vectors``, such as "812 of 901". Raises CounterpartError as ``read_word_vectors`` does.
    """
    if not file:
        return {}
    table = network.get_parameter(TABLE)
    found = read_word_vectors(Path(file), vocabulary.words, table.shape[1])
    places = [place for place, word in enumerate(vocabulary.words) if word in found]
    with torch.no_grad():
        table[places] = torch.from_numpy(np.stack([found[vocabulary.words[place]] for place in places])).to(table)
    return {"words_with_vectors": f"{len(found):,} of {len(vocabulary):,}"}


def size_of(tensors: Arrays, name: str, axis: int, where: Path | str) -> int:
    """Return the length of one axis of a tensor. Raises CounterpartError for a missing tensor or axis."""
    if name not in tensors or tensors[name].ndim <= axis:
        raise CounterpartError(f"{where} has no tensor {name}; it has weights of another kind of annotator.")
    return int(tensors[name].shape[axis])


def trunk_in(tensors: Arrays, prefix: str, where: Path | str) -> str:
    """Return the name of the trunk whose tensors start with ``prefix``.

    Raises CounterpartError for an unknown trunk.
    """
    if f"{prefix}conv2d_1a.conv.weight" in tensors:
        return INCEPTION
    blocks: Mapping[str, set[str]] = {f"layer{stage}": set() for stage in range(1, 5)}
    for name in tensors:
        stage, _, rest = name.removeprefix(prefix).partition(".")
        if name.startswith(prefix) and stage in blocks:
            blocks[stage].add(rest.partition(".")[0])
    size = TrunkSize(tuple(map(len, blocks.values())), size_of(tensors, f"{prefix}conv1.weight", 0, where))
    for name, known in TRUNKS.items():
        if known == size:
            return name
    counts = "-".join(map(str, size.blocks))
    raise CounterpartError(f"{where} has a trunk of {counts} blocks, {size.width} wide; known are {', '.join(TRUNKS)}.")


def prepare(network: nn.Module, plan: TrainingPlan) -> None:
    """Load the trunk's weights and freeze parts, as the plan's settings say.

    Raises CounterpartError for a trunk that would be frozen untrained, and weights that are missing or do not fit.
    """
    parts = dict(network.named_modules())
    trunk = parts.get("cnn") or parts.get("img_enc.cnn") or nn.Identity()
    source = str(plan.settings["trunk_from"])
    frozen = str(plan.settings["frozen"])
    if source:
        _load_trunk(trunk, source, plan)
    elif "trunk" in frozen and trunk.state_dict():
        raise CounterpartError(
            "A frozen trunk must have been trained: pass --option trunk_from=FILE, or frozen=nothing instead of"
            f" {frozen}."
        )
    trunk.requires_grad_("trunk" not in frozen)
    network.get_parameter(TABLE).requires_grad_("words" not in frozen)


def _load_trunk(trunk: nn.Module, source: str, plan: TrainingPlan) -> None:
    """Load the trunk of an ImageNet classifier, of another annotator's checkpoint, or of an annotator."""
    tensors = _tensors(source, plan)
    prefix = next(prefix for prefix in TRUNK_PREFIXES if any(name.startswith(prefix) for name in tensors))
    inner = {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}
    wanted = {name: array for name, array in inner.items() if not name.startswith(CLASSIFIERS)}
    check_network(trunk, wanted, f"The trunk of {source}")
    state = {name: torch.from_numpy(array) for name, array in wanted.items()}
    trunk.load_state_dict(trunk.state_dict() | state)


def _tensors(source: str, plan: TrainingPlan) -> Arrays:
    if Path(source).exists():
        return read_published(Path(source)).tensors
    arrays = plan.weights_of(source)
    if arrays is None:
        raise CounterpartError(f"No file or annotator {source}; check the option trunk_from.")
    return {name.removeprefix(NETWORK): array for name, array in arrays.items() if name.startswith(NETWORK)}
