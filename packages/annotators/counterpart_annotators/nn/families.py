"""Networks of the library transformers: built from sizes, with a tokeniser and a preparation of pictures, stored and
restored. A kind of annotator declares its ``Family``. Nothing is ever downloaded.
"""

import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from counterpart_annotators.base import Arrays, StoredAnnotator
from counterpart_annotators.nn.preparation import Preparation
from counterpart_annotators.nn.tokenisers import Tokeniser, read_tokeniser
from counterpart_annotators.nn.weights import load_network
from counterpart_annotators.options import Settings
from counterpart_annotators.progress import Progress
from counterpart_annotators.training.learners import Learner, Trained, TrainingPlan, TrainingSet
from counterpart_annotators.training.loop import fit, repeatable
from counterpart_metrics.errors import CounterpartError

State = dict[str, Tensor]
CONFIGURATION = "configuration"
TOKENISER = "tokeniser"
PREPARATION = "preparation"
# Entries of configuration files for other uses: here tensors have 32 bits and nothing is compressed.
_IGNORED_ENTRIES = ("dtype", "torch_dtype", "attn_implementation", "_attn_implementation", "quantization_config")
# Buffers that older files contain as tensors.
_BUFFERS = ("position_ids", "attn_mask")


@dataclass(frozen=True)
class Family:
    """A family of networks.

    Attributes:
        network, configuration: names of its classes in transformers.
        preparation: the preparation of pictures, except for sizes.
        learn: captions and a number of pieces, to a tokeniser with at most that many.
        configure: sizes (settings) and the number of pieces, to a configuration for a new network.
        sizes: a configuration object to the settings that it decides.
        original: whether a state dict is an original checkpoint. None if transformers published the family.
        convert: an original state dict, and settings that shapes do not decide, to the state dict and the configuration
            of transformers.
        dropped: prefixes of names that a checkpoint may have and this network does not use.
        clean: applied to a text before it is tokenised.
        fills: whether the network reads the padding of rows of ids.
        begin: sets initial weights that transformers leaves to the user.
        spare: number of pieces that the network may have beyond its published vocabulary.
    """

    network: str
    configuration: str
    preparation: Preparation
    learn: Callable[[Sequence[str], int], Tokenizer]
    configure: Callable[[Settings, int], dict[str, Any]]
    sizes: Callable[[Any], dict[str, int]]
    original: Callable[[State], bool] | None = None
    convert: Callable[[State, Settings], tuple[State, dict[str, Any]]] | None = None
    dropped: tuple[str, ...] = ()
    clean: Callable[[str], str] = str
    fills: bool = False
    begin: Callable[[nn.Module], None] = lambda network: None
    spare: int = 0

    @property
    def model_type(self) -> str:
        """The name of the family in configuration files."""
        return str(getattr(_transformers(), self.configuration).model_type)

    def configured(self, configuration: Mapping[str, Any]) -> Any:
        """Return a configuration as transformers' object. Raises CounterpartError for sizes that do not fit."""
        try:
            return getattr(_transformers(), self.configuration).from_dict(_relevant(configuration))
        except Exception as error:  # transformers' checks raise errors of several libraries
            reason = " ".join(str(error).split())
            raise CounterpartError(f"Invalid sizes for {self.network}: {reason}") from error

    def outline(self, configuration: Mapping[str, Any]) -> nn.Module:
        """Return the network without weights, on torch's ``meta`` device. Raises CounterpartError as above."""
        configured = self.configured(configuration)
        try:
            with torch.device("meta"):
                return self._network_of(configured)
        except (ValueError, RuntimeError, ZeroDivisionError) as error:
            raise CounterpartError(f"Invalid sizes for {self.network}: {error}") from error

    def fresh(self, configuration: Mapping[str, Any]) -> nn.Module:
        """Return a network with initial weights, drawn by transformers with torch's generator."""
        self.outline(configuration)
        network = self._network_of(self.configured(configuration))
        self.begin(network)
        return network

    def own_tensors(self, state: State) -> State:
        """Return a published state dict in 32 bits, without entries that are not weights of this network."""
        return {
            name: tensor.float() if tensor.is_floating_point() else tensor
            for name, tensor in state.items()
            if not name.startswith(self.dropped or "\n") and name.rpartition(".")[2] not in _BUFFERS
        }

    def prepared_for(self, configuration: Mapping[str, Any]) -> Preparation:
        """Return the preparation of pictures at the sizes of a configuration."""
        sizes = self.sizes(self.configured(configuration))
        return self.preparation.sized(sizes["picture"], sizes["patch"])

    def tokeniser_for(self, configuration: Mapping[str, Any], tokenizer: Tokenizer, settings: Settings) -> Tokeniser:
        """Return a tokeniser for a network of this configuration.

        Raises CounterpartError for a context longer than the network's.
        """
        configured = self.configured(configuration)
        words = getattr(configured, "text_config", configured)
        context = int(settings["context"])
        if not 2 < context <= words.max_position_embeddings:
            raise CounterpartError(
                f"The option context is {context}, but the network has {words.max_position_embeddings} positions,"
                " two of them for start and end; choose a context from 3 to that."
            )
        return Tokeniser(tokenizer, context, words.pad_token_id or 0, self.fills, self.clean)

    def _network_of(self, configured: Any) -> nn.Module:
        network: nn.Module = getattr(_transformers(), self.network)(configured)
        return network


@dataclass(frozen=True)
class Model:
    """A network on one device, with its tokeniser and its preparation of pictures."""

    network: nn.Module
    configuration: Mapping[str, Any]
    tokeniser: Tokeniser
    preparation: Preparation
    device: str


def stored_parts(configuration: Mapping[str, Any], tokenizer: Tokenizer, preparation: Preparation) -> Arrays:
    """Return the arrays that are stored with a network's tensors: texts, as the bytes of UTF-8."""
    texts = {
        CONFIGURATION: json.dumps(configuration),
        TOKENISER: tokenizer.to_str(),
        PREPARATION: preparation.to_json(),
    }
    return {name: np.frombuffer(text.encode(), dtype=np.uint8) for name, text in texts.items()}


def open_model(family: Family, stored: StoredAnnotator, device: str) -> Model:
    """Return an annotator's network in evaluation mode. Raises CounterpartError where the weights do not fit."""
    return restore_model(family, stored.arrays, stored.options, stored.name, device)


def restore_model(family: Family, arrays: Arrays, settings: Settings, where: str, device: str) -> Model:
    """Load stored arrays into a network, in evaluation mode. Raises CounterpartError where they do not fit."""
    configuration, tokenizer, preparation = (
        arrays[name].tobytes().decode() for name in (CONFIGURATION, TOKENISER, PREPARATION)
    )
    configured = json.loads(configuration)
    network = family.outline(configured)
    load_network(network, arrays, where)
    fill_buffers(network)
    tokeniser = family.tokeniser_for(configured, Tokenizer.from_str(tokenizer), settings)
    return Model(network.to(device), configured, tokeniser, Preparation.from_json(preparation), device)


def new_model(family: Family, examples: TrainingSet, plan: TrainingPlan) -> Model:
    """Return an untrained network of the plan's sizes; without a tokeniser file, pieces are learned from the captions.

    Raises CounterpartError for sizes that fit no network, and an invalid tokeniser file.
    """
    with repeatable(plan.seed):
        return fresh_model(family, plan.settings, [caption.text for caption in examples.captions], plan.device)


def fresh_model(family: Family, settings: Settings, texts: Sequence[str], device: str) -> Model:
    """Return the same, with initial weights from torch's present generator."""
    if int(settings["picture"]) < int(settings["patch"]):
        raise CounterpartError(
            f"A picture of {settings['picture']} pixels is smaller than a patch of {settings['patch']}; choose larger"
            " pictures."
        )
    file = str(settings["tokeniser"])
    cleaned = [family.clean(text) for text in texts]
    tokenizer = read_tokeniser(Path(file)) if file else family.learn(cleaned, int(settings["pieces"]))
    configuration = family.configure(settings, max(tokenizer.get_vocab().values()) + 1)
    network = family.fresh(configuration).to(device)
    tokeniser = family.tokeniser_for(configuration, tokenizer, settings)
    return Model(network, configuration, tokeniser, family.prepared_for(configuration), device)


def train_model(
    model: Model, learner: Learner, examples: TrainingSet, plan: TrainingPlan, progress: Progress
) -> Trained:
    """Train a model's network; ``open_model`` loads the result."""
    trained = fit(learner, examples, plan, progress)
    parts = stored_parts(model.configuration, model.tokeniser.tokenizer, model.preparation)
    return replace(trained, arrays=trained.arrays | parts)


def fill_buffers(network: nn.Module) -> None:
    """Give a network from the ``meta`` device its buffers of positions, which are counted up and in no file."""
    for module in network.modules():
        for name, buffer in list(module.named_buffers(recurse=False)):
            if buffer.is_meta:
                row = torch.arange(buffer.shape[-1]) if name == "position_ids" else torch.zeros(buffer.shape[-1]).long()
                setattr(module, name, row.expand(buffer.shape))


def tower(sizes: Settings, prefix: str = "") -> dict[str, Any]:
    """Return the configuration of one transformer from the settings with this prefix."""
    width = int(sizes[f"{prefix}width"])
    return {
        "hidden_size": width,
        "intermediate_size": 4 * width,
        "num_hidden_layers": sizes[f"{prefix}layers"],
        "num_attention_heads": sizes[f"{prefix}heads"],
    }


def tower_sizes(configured: Any, prefix: str = "") -> dict[str, int]:
    """Return the settings that one transformer's configuration decides."""
    return {
        f"{prefix}width": configured.hidden_size,
        f"{prefix}layers": configured.num_hidden_layers,
        f"{prefix}heads": configured.num_attention_heads,
    }


def patches(sizes: Settings) -> dict[str, Any]:
    """Return the configuration of pictures."""
    return {"image_size": sizes["picture"], "patch_size": sizes["patch"]}


def patch_sizes(configured: Any) -> dict[str, int]:
    """Return the settings that a configuration of pictures decides."""
    return {"picture": configured.image_size, "patch": configured.patch_size}


def describe_towers(settings: Settings, pieces: int) -> dict[str, str]:
    """Describe an image and a text transformer for the annotator's page; their sizes have prefixes if they differ."""

    def described(name: str) -> str:
        prefix = f"{name}_" if f"{name}_width" in settings else ""
        layers, width, heads = (settings[f"{prefix}{part}"] for part in ("layers", "width", "heads"))
        return f"{layers} layers, width {width}, {heads} heads"

    side = settings["picture"]
    patch = settings["patch"]
    return {
        "picture tower": f"{described('image')}, patches of {patch} x {patch} in {side} x {side}",
        "caption tower": f"{described('text')}, {pieces:,} pieces, {settings['context']} of a caption",
    }


def spread_at(width: int) -> float:
    """Return the deviation of initial weights: BERT's 0.02 at its width of 768, more at smaller widths."""
    return 0.02 * (768 / width) ** 0.5


def _relevant(configuration: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _relevant(value) if isinstance(value, dict) else value
        for name, value in configuration.items()
        if name not in _IGNORED_ENTRIES
    }


def _transformers() -> Any:
    """Import transformers, which takes seconds, without access to the network."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    transformers = import_module("transformers")
    logging.getLogger("transformers").setLevel(logging.ERROR)
    return transformers
