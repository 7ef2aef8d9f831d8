"""Weights"""

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import TypeGuard, TypeVar

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from core.errors import CounterpartError, some_of
from mitl.annotators.base import Arrays

NETWORK = "network."  # what stands before a tensor's name in the arrays kept for a machine
WRAPPER = "module"  # what torch's DataParallel puts into names
COUNTER = "num_batches_tracked"  # which files from before PyTorch 0.4.1 lack, and no evaluation reads

Value = TypeVar("Value")
Shape = tuple[int, ...]


def strip_prefix(tensors: Mapping[str, Value]) -> dict[str, Value]:
    """Take ``module.`` out of names, wherever it stands as a whole part."""
    return {".".join(part for part in name.split(".") if part != WRAPPER): tensor for name, tensor in tensors.items()}


def check_keys(expected: Mapping[str, Shape], found: Mapping[str, Shape], where: str) -> None:
    """Raise CounterpartError, one line, where ``found`` lacks tensors, has others, or has them in other shapes.

    The counters of batches that old files lack are not insisted on. ``where`` names the file or machine.
    """
    missing = [name for name in expected if name not in found and not name.endswith(COUNTER)]
    unexpected = [name for name in found if name not in expected]
    both = [name for name in found if name in expected]
    unlike = [f"{n} {_by(found[n])} for {_by(expected[n])}" for n in both if found[n] != expected[n]]
    wrong = [
        f"{len(names)} {what}: {some_of(names)}"
        for what, names in (("missing", missing), ("unexpected", unexpected), ("of another shape", unlike))
        if names
    ]
    if wrong:
        raise CounterpartError(
            f"{where} does not fit this network of {len(expected)} tensors; {'; '.join(wrong)}."
            " Check the kind of machine and its options."
        )


def check_network(network: nn.Module, tensors: Arrays, where: str) -> None:
    """Raise CounterpartError where ``tensors`` are not those of ``network``."""
    expected = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    check_keys(expected, {name: array.shape for name, array in tensors.items()}, where)


def load_network(network: nn.Module, arrays: Arrays, where: str) -> None:
    """Put a machine's kept arrays into ``network``, in evaluation mode; it may have been made on ``meta``.

    Raises CounterpartError where they do not fit, so ``where`` names them.
    """
    tensors = {name.removeprefix(NETWORK): array for name, array in arrays.items() if name.startswith(NETWORK)}
    check_network(network, tensors, where)
    counters = {name: np.zeros((), np.int64) for name in network.state_dict() if name.endswith(COUNTER)}
    state = {name: torch.from_numpy(array) for name, array in (counters | tensors).items()}
    network.load_state_dict(state, assign=True)
    network.eval()


def to_arrays(network: nn.Module) -> Arrays:
    """Return a network's tensors as the arrays to keep for a machine."""
    return named({name: tensor.detach().cpu().numpy() for name, tensor in network.state_dict().items()})


def named(tensors: Arrays) -> Arrays:
    """Put ``network.`` in front of the names."""
    return {NETWORK + name: array for name, array in tensors.items()}


def _by(shape: Shape) -> str:
    return " x ".join(map(str, shape)) or "one number"


SIDES = ("img_enc", "txt_enc")
FOREIGN = re.compile(r"GLOBAL ([\w.]+)")  # what torch calls a class or function that it would have to look up


@dataclass(frozen=True)
class Published:
    """What one file holds: the network's tensors by name, as float32 and whole numbers; the options it was trained
    with; and whatever else the file has, by its own names."""

    tensors: Arrays
    options: Mapping[str, object]
    others: Mapping[str, object]


def read_published(path: Path) -> Published:
    """Read the weights of a network in two halves, ``img_enc.`` and ``txt_enc.``.

    Accepted are a flat state dict; a dict that has it, or a list of the two halves, under ``model``; the bare list.
    ``module.`` is taken out of names wherever it stands; PVSE's older name of the PIE block gives way to the newer.

    Raises CounterpartError for a file that cannot be read, or holds no such thing, or numbers that are not finite.
    """
    checkpoint = read_checkpoint(path)
    wrapper = checkpoint if isinstance(checkpoint, dict) and not _is_state(checkpoint) else {}
    options = wrapper.get("args", wrapper.get("opt"))
    return Published(
        tensors=_checked(_joined(wrapper.get("model", checkpoint), path), path),
        options=vars(options) if isinstance(options, argparse.Namespace) else {},
        others={name: value for name, value in wrapper.items() if name != "model"},
    )


def read_checkpoint(path: Path) -> object:
    """Return what a file of torch or safetensors holds; no code in it is run.

    Of classes only ``argparse.Namespace`` is let through, in which authors kept their options. Raises CounterpartError
    naming what is wrong.
    """
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        with torch.serialization.safe_globals([argparse.Namespace]):
            return torch.load(path, map_location="cpu", weights_only=True)
    except UnpicklingError as error:
        raise CounterpartError(_refusal(path, error)) from error
    except (
        OSError, RuntimeError, ValueError, TypeError, KeyError, IndexError, AttributeError, EOFError,
        SafetensorError,
    ) as error:  # fmt: skip  # torch raises all of these on broken bytes
        raise CounterpartError(f"{path} cannot be read as weights: {_first_line(error)}. Fetch it again.") from error


def _refusal(path: Path, error: UnpicklingError) -> str:
    foreign = FOREIGN.search(str(error))
    if foreign:
        return f"{path} holds {foreign[1]}, which is no weight; it was not run. Fetch the file from who published it."
    return f"{path} cannot be read as weights: it is cut, or no file of torch. Fetch it again."


def _joined(model: object, path: Path) -> dict[str, Tensor]:
    """Return one state dict; of a list of two, the halves' names are put in front."""
    if isinstance(model, list) and len(model) == len(SIDES) and all(_is_state(half) for half in model):
        halves = zip(SIDES, model, strict=True)
        model = {f"{side}.{name}": tensor for side, half in halves for name, tensor in half.items()}
    if not _is_state(model):
        raise CounterpartError(
            f"{path} holds no weights by name, nor two lists of them for images and texts; pass a published checkpoint."
        )
    return {name.replace("our_model.", "pie_net."): tensor for name, tensor in strip_prefix(model).items()}


def _is_state(candidate: object) -> TypeGuard[dict[str, Tensor]]:
    return (
        isinstance(candidate, dict)
        and len(candidate) > 0
        and all(isinstance(name, str) and isinstance(tensor, Tensor) for name, tensor in candidate.items())
    )


def _checked(tensors: Mapping[str, Tensor], path: Path) -> Arrays:
    arrays = {
        name: (tensor.float() if tensor.is_floating_point() else tensor).numpy() for name, tensor in tensors.items()
    }
    broken = [name for name, array in arrays.items() if not np.isfinite(array).all()]
    if broken:
        raise CounterpartError(
            f"{path} holds NaN or infinity in {len(broken)} of {len(arrays)} tensors: {some_of(broken)}."
            " Fetch it again."
        )
    return arrays


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0].rstrip(". ") or type(error).__name__
