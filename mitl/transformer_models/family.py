"""A family of networks that transformers has: how sizes become a network, and what pictures and words become."""

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from core.errors import CounterpartError
from mitl.nn.preparation import Preparation

State = dict[str, Tensor]
Sizes = Mapping[str, str | int | float]
# Configuration files carry these for other programs; here tensors are 32-bit and nothing is fetched or compressed.
_OTHERS_BUSINESS = ("dtype", "torch_dtype", "attn_implementation", "_attn_implementation", "quantization_config")
# Whole numbers that older files keep as tensors, or that a head of pre-training holds.
_NO_WEIGHTS = ("position_ids", "attn_mask")


def _as_it_is(network: nn.Module) -> None:
    """Most families' first weights are all drawn."""


@dataclass(frozen=True)
class Family:
    """One family.

    Attributes:
        network, configuration: names of its classes in transformers.
        preparation: what is done to pictures, but for sizes.
        learn: captions and a number of pieces, to a tokeniser that cuts captions into as many.
        configure: sizes (a machine's settings) and the number of pieces, to a configuration for a fresh network.
        sizes: a configuration object to the settings that it decides.
        original: tells an original checkpoint by its names. None where the family was published by transformers.
        convert: an original state dict, and settings for what shapes do not tell, to the state dict and the
            configuration of transformers.
        dropped: first parts of names that a checkpoint may have and this network has no use for.
        clean: what is done to a text before it is cut.
        fills: whether the network reads what rows of ids are filled up with.
        begin: sets first weights that transformers leaves to those who train.
        spare: how many pieces the network may have beyond those of its published vocabulary.
    """

    network: str
    configuration: str
    preparation: Preparation
    learn: Callable[[Sequence[str], int], Tokenizer]
    configure: Callable[[Sizes, int], dict[str, Any]]
    sizes: Callable[[Any], dict[str, int]]
    original: Callable[[State], bool] | None = None
    convert: Callable[[State, Sizes], tuple[State, dict[str, Any]]] | None = None
    dropped: tuple[str, ...] = ()
    clean: Callable[[str], str] = str
    fills: bool = False
    begin: Callable[[nn.Module], None] = _as_it_is
    spare: int = 0

    @property
    def model_type(self) -> str:
        """What configuration files call the family."""
        return str(getattr(_transformers(), self.configuration).model_type)

    def configured(self, configuration: Mapping[str, Any]) -> Any:
        """Return a configuration as transformers' object. Raises CounterpartError for sizes that do not fit."""
        try:
            return getattr(_transformers(), self.configuration).from_dict(_of_our_concern(configuration))
        except Exception as error:  # transformers' checks raise errors of several libraries
            reason = " ".join(str(error).split())
            raise CounterpartError(f"These sizes make no {self.network}: {reason}") from error

    def outline(self, configuration: Mapping[str, Any]) -> nn.Module:
        """Return the network without numbers, on torch's ``meta`` device. Raises CounterpartError as above."""
        configured = self.configured(configuration)
        try:
            with torch.device("meta"):
                return self._made(configured)
        except (ValueError, RuntimeError, ZeroDivisionError) as error:
            raise CounterpartError(f"These sizes make no {self.network}: {error}") from error

    def fresh(self, configuration: Mapping[str, Any]) -> nn.Module:
        """Return a network with first weights, drawn as transformers draws them from torch's own generator."""
        self.outline(configuration)
        network = self._made(self.configured(configuration))
        self.begin(network)
        return network

    def own_tensors(self, state: State) -> State:
        """Return a published state dict in 32 bits, without what is no weight of this network."""
        return {
            name: tensor.float() if tensor.is_floating_point() else tensor
            for name, tensor in state.items()
            if not name.startswith(self.dropped or "\n") and name.rpartition(".")[2] not in _NO_WEIGHTS
        }

    def _made(self, configured: Any) -> nn.Module:
        network: nn.Module = getattr(_transformers(), self.network)(configured)
        return network


def tower(sizes: Sizes, prefix: str = "") -> dict[str, Any]:
    """Return the part of a configuration that tells of one transformer, from settings named ``prefix`` + theirs."""
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


def patches(sizes: Sizes) -> dict[str, Any]:
    """Return the part of a configuration that tells of pictures."""
    return {"image_size": sizes["picture"], "patch_size": sizes["patch"]}


def patch_sizes(configured: Any) -> dict[str, int]:
    """Return the settings that a configuration of pictures decides."""
    return {"picture": configured.image_size, "patch": configured.patch_size}


def spread_at(width: int) -> float:
    """Return the deviation of first weights: BERT's 0.02 at its width of 768, more where fewer of them are summed."""
    return 0.02 * (768 / width) ** 0.5


def fill_places(network: nn.Module) -> None:
    """Give a network that was an outline its rows of places, which are numbers counted up and kept in no file."""
    for module in network.modules():
        for name, buffer in list(module.named_buffers(recurse=False)):
            if buffer.is_meta:
                row = torch.arange(buffer.shape[-1]) if name == "position_ids" else torch.zeros(buffer.shape[-1]).long()
                setattr(module, name, row.expand(buffer.shape))


def _of_our_concern(configuration: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _of_our_concern(value) if isinstance(value, dict) else value
        for name, value in configuration.items()
        if name not in _OTHERS_BUSINESS
    }


def _transformers() -> Any:
    """Import transformers, which takes seconds; nothing is ever asked of the network."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    transformers = import_module("transformers")
    logging.getLogger("transformers").setLevel(logging.ERROR)
    return transformers
