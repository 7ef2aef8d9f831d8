"""Checkpoints as their authors published them, in any of the layouts of PVSE, VSE++, VSRN and PCME."""

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import TypeGuard

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from core.errors import CounterpartError, some_of
from mitl.annotators.base import Arrays
from mitl.weights.keys import strip_prefix

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
