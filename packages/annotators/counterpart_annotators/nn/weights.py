"""Files of weights: read in the layouts that authors publish, without running anything in them, checked against a
network by the names and shapes of its tensors, and loaded into it."""

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

from counterpart_annotators.base import Arrays
from counterpart_annotators.nn.pickled_numbers import NUMBERS
from counterpart_metrics.errors import CounterpartError, some_of

NETWORK = "network."  # precedes a tensor's name in the stored arrays of an annotator
WRAPPER = "module"  # torch's DataParallel puts it into names
COUNTER = "num_batches_tracked"  # missing in files from before PyTorch 0.4.1, and not needed for evaluation

Value = TypeVar("Value")
Shape = tuple[int, ...]


def strip_prefix(tensors: Mapping[str, Value]) -> dict[str, Value]:
    """Remove ``module.`` from names, wherever it is a whole part."""
    return {".".join(part for part in name.split(".") if part != WRAPPER): tensor for name, tensor in tensors.items()}


def check_keys(expected: Mapping[str, Shape], found: Mapping[str, Shape], where: str) -> None:
    """Raise CounterpartError, one line, for missing tensors, unexpected ones, and ones of another shape.

    The batch counters may be missing, as in old files. ``where`` names the file or annotator.
    """
    missing = [name for name in expected if name not in found and not name.endswith(COUNTER)]
    unexpected = [name for name in found if name not in expected]
    both = [name for name in found if name in expected]
    wrong_shape = [f"{n} {_by(found[n])} for {_by(expected[n])}" for n in both if found[n] != expected[n]]
    wrong = [
        f"{len(names)} {what}: {some_of(names)}"
        for what, names in (("missing", missing), ("unexpected", unexpected), ("of another shape", wrong_shape))
        if names
    ]
    if wrong:
        raise CounterpartError(
            f"{where} does not fit this network of {len(expected)} tensors; {'; '.join(wrong)}."
            " Check the kind of annotator and its options."
        )


def check_network(network: nn.Module, tensors: Arrays, where: str) -> None:
    """Raise CounterpartError where ``tensors`` do not fit ``network``."""
    expected = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    check_keys(expected, {name: array.shape for name, array in tensors.items()}, where)


def load_network(network: nn.Module, arrays: Arrays, where: str) -> None:
    """Load the stored arrays of an annotator into ``network`` and set evaluation mode; it may be on ``meta``.

    Raises CounterpartError, naming ``where``, if they do not fit.
    """
    tensors = {name.removeprefix(NETWORK): array for name, array in arrays.items() if name.startswith(NETWORK)}
    check_network(network, tensors, where)
    counters = {name: np.zeros((), np.int64) for name in network.state_dict() if name.endswith(COUNTER)}
    state = {name: torch.from_numpy(array) for name, array in (counters | tensors).items()}
    network.load_state_dict(state, assign=True)
    network.eval()


def to_arrays(network: nn.Module) -> Arrays:
    """Return a network's tensors as the arrays to store for an annotator."""
    return named({name: tensor.detach().cpu().numpy() for name, tensor in network.state_dict().items()})


def named(tensors: Arrays) -> Arrays:
    """Prefix the names with ``network.``."""
    return {NETWORK + name: array for name, array in tensors.items()}


def _by(shape: Shape) -> str:
    return " x ".join(map(str, shape)) or "one number"


SIDES = ("img_enc", "txt_enc")
HOLDERS = ("model", "state_dict", "model_state_dict", "net", "network", "weights", "checkpoint", "module")
DEEPEST = 4  # dicts in one another in which weights are looked for
ALONE = "save the weights alone where it was trained: torch.save(model.state_dict(), FILE)."
FOREIGN = re.compile(r"GLOBAL ([\w.]+)")  # torch's message on a class or function that it would have to import


@dataclass(frozen=True)
class Published:
    """Contents of one file: the network's tensors by name, as float32 and integers; its training options; and the
    entries of the whole file, by their own names."""

    tensors: Arrays
    options: Mapping[str, object]
    others: Mapping[str, object]


def read_published(path: Path) -> Published:
    """Read the weights of a network with an image and a text encoder, ``img_enc.`` and ``txt_enc.``.

    Accepted are a flat state dict, or a list of two, by itself or under a name of ``HOLDERS`` in a dict. ``module.`` is
    removed from names; PVSE's older name of the PIE block is replaced by the newer one.

    Raises CounterpartError for a file that cannot be read, has another layout, or holds NaN or infinity.
    """
    checkpoint = read_checkpoint(path)
    wrapper = checkpoint if isinstance(checkpoint, dict) and not _is_state(checkpoint) else {}
    options = wrapper.get("args", wrapper.get("opt"))
    return Published(
        tensors=_checked(_joined(weights_in(checkpoint), path), path),
        options=vars(options) if isinstance(options, argparse.Namespace) else {},
        others=wrapper,
    )


def read_checkpoint(path: Path) -> object:
    """Return the contents of a torch or safetensors file; no code in it is run.

    The only class allowed is ``argparse.Namespace``, in which authors kept their options; NumPy's numbers and arrays
    are data. Raises CounterpartError for other classes and broken files.
    """
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        with torch.serialization.safe_globals([argparse.Namespace, *NUMBERS]):
            return torch.load(path, map_location="cpu", weights_only=True)
    except UnpicklingError as error:
        raise CounterpartError(_refusal(path, error)) from error
    except (
        OSError, RuntimeError, ValueError, TypeError, KeyError, IndexError, AttributeError, EOFError,
        SafetensorError,
    ) as error:  # fmt: skip  # torch raises all of these on broken bytes
        reason = _first_line(error)
        raise CounterpartError(f"{path} cannot be read as weights: {reason}. Download it again, or {ALONE}") from error


def _refusal(path: Path, error: UnpicklingError) -> str:
    foreign = FOREIGN.search(str(error))
    if foreign:
        return f"{path} contains {foreign[1]}, which is not a weight; nothing was run. To load it, {ALONE}"
    return f"{path} cannot be read as weights: it is truncated, or not a torch file. Download it again."


def weights_in(content: object, deepest: int = DEEPEST) -> object:
    """Return the first state dict, or list of two, in the dicts of a file; None without one."""
    if _is_state(content) or _is_pair(content):
        return content
    if not isinstance(content, dict) or not deepest:
        return None
    inside = (weights_in(content[name], deepest - 1) for name in HOLDERS if name in content)
    return next((found for found in inside if found is not None), None)


def _is_pair(candidate: object) -> TypeGuard[list[dict[str, Tensor]]]:
    return isinstance(candidate, list) and len(candidate) == len(SIDES) and all(map(_is_state, candidate))


def _joined(model: object, path: Path) -> dict[str, Tensor]:
    """Return one state dict; the two of a list get their encoder's name as prefix."""
    if _is_pair(model):
        encoders = zip(SIDES, model, strict=True)
        model = {f"{side}.{name}": tensor for side, state in encoders for name, tensor in state.items()}
    if not _is_state(model):
        raise CounterpartError(
            f"{path} holds neither a state dict nor a list of two, for images and texts. To load it, {ALONE}"
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
            " Download it again."
        )
    return arrays


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0].rstrip(". ") or type(error).__name__
