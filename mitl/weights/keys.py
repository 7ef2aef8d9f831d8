"""The names of a network's tensors: made alike, compared with what a network has, and put in and out of one."""

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
import torch
from torch import nn

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
