"""Reads what the authors' code computed, and makes the weights that its README defines instead of storing them."""

import json
from pathlib import Path
from zlib import crc32

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.testing import assert_close

FOLDER = Path("fixtures") / "annotators"


def near(found: Tensor, expected: Tensor) -> None:
    assert_close(found, expected, atol=1e-5, rtol=0)


def numbers(shared: Path, name: str) -> dict[str, Tensor]:
    """The arrays of NAME.npz as tensors."""
    with np.load(shared / FOLDER / f"{name}.npz") as arrays:
        return {key: torch.from_numpy(array) for key, array in arrays.items()}


def weights(shared: Path, name: str, prefix: str = "") -> dict[str, Tensor]:
    """The tensors of NAME.safetensors whose names begin with ``prefix``, without it."""
    tensors = load_file(shared / FOLDER / f"{name}.safetensors")
    return {key.removeprefix(prefix): tensor for key, tensor in tensors.items() if key.startswith(prefix)}


def key_lists(shared: Path, name: str) -> dict[str, dict[str, tuple[int, ...]]]:
    """The shapes by name that keys_NAME.json lists, by the part of the checkpoint: ``0`` and ``1``, or its names."""
    listed = json.loads((shared / FOLDER / f"keys_{name}.json").read_text())
    parts = dict(enumerate(listed)) if isinstance(listed, list) else listed
    return {str(part): {key: tuple(shape) for key, (shape, _) in keys.items()} for part, keys in parts.items()}


def shapes(network: nn.Module) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}


def fill_procedurally(network: nn.Module, base_seed: int, *, prefix: str = "") -> None:
    """Set every tensor to what its name and ``base_seed`` define (the fixtures' README), on the device "meta" too."""
    state = network.state_dict()
    made = {name: _made(prefix + name, tensor, base_seed) for name, tensor in state.items()}
    network.load_state_dict(made, assign=True)
    network.eval()


def _made(name: str, like: Tensor, base_seed: int) -> Tensor:
    if name.endswith("num_batches_tracked"):
        return torch.zeros(like.shape, dtype=like.dtype)
    z = np.random.RandomState(crc32(name.encode()) ^ base_seed).standard_normal(size=tuple(like.shape))
    return torch.from_numpy(_scaled(name, z).astype(np.float32))


def _scaled(name: str, z: np.ndarray) -> np.ndarray:
    fan_in = np.prod(z.shape[1:]) if z.ndim else 1
    rules = [
        (name.endswith("running_var"), 1 + 0.1 * np.abs(z)),
        (name.endswith("running_mean"), 0.1 * z),
        (name.endswith("bn3.weight"), 0.2 * (1 + 0.1 * z)),
        (name.endswith("weight") and z.ndim == 1, 1 + 0.1 * z),
        ("bias" in name.rsplit(".", 1)[-1], 0.05 * z),
        (z.ndim == 4, z * np.sqrt(2 / fan_in)),
    ]
    return next((value for applies, value in rules if applies), z * np.sqrt(1 / fan_in))


def pictures(base_seed: int) -> Tensor:
    """The two pictures (2, 3, 224, 224) that the procedural ResNet files were computed on."""
    z = np.random.RandomState(base_seed + 1).standard_normal((2, 3, 14, 14)).astype(np.float32)
    z[1] = z[1] * 0.5 + np.linspace(-1, 1, 14, dtype=np.float32)[:, None]
    return torch.from_numpy(z.repeat(16, 2).repeat(16, 3))
