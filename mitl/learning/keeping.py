"""A training under way, kept after every epoch so that the next try goes on with the very same numbers."""

import json
from dataclasses import asdict

import numpy as np
import torch
from torch import nn

from mitl.annotators.base import Arrays
from mitl.checkpoints import Checkpoints
from mitl.learning.base import Epoch

PART = "training"
Curve = list[Epoch]


def weights_of(network: nn.Module) -> Arrays:
    """Return a copy of a network's state as arrays, by ``network.<its name>``."""
    return {f"network.{name}": tensor.detach().cpu().numpy().copy() for name, tensor in network.state_dict().items()}


def set_weights(network: nn.Module, arrays: Arrays) -> None:
    """Give a network the state that ``weights_of`` returned."""
    network.load_state_dict({name: torch.from_numpy(arrays[f"network.{name}"]) for name in network.state_dict()})


def keep(kept: Checkpoints, network: nn.Module, optimiser: torch.optim.Optimizer, curve: Curve, best: Arrays) -> None:
    """Save where a training stands: the network, its optimiser, the epochs so far, the best weights among them.

    Random numbers need no keeping: each epoch draws its own, from the seed and its number.
    """
    moments = {
        f"optimiser.{place}.{name}": tensor.cpu().numpy()
        for place, moment in optimiser.state_dict()["state"].items()
        for name, tensor in moment.items()
    }
    epochs = np.frombuffer(json.dumps([asdict(epoch) for epoch in curve]).encode(), dtype=np.uint8)
    kept.save(PART, epochs=epochs, **weights_of(network), **moments, **{f"best.{name}": a for name, a in best.items()})


def take_up(kept: Checkpoints, network: nn.Module, optimiser: torch.optim.Optimizer) -> tuple[Curve, Arrays] | None:
    """Bring network and optimiser to where the last try stood; return its epochs and its best weights, or None if
    there was none."""
    found = kept.load(PART)
    if found is None:
        return None
    set_weights(network, found)
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for name in found:
        if name.startswith("optimiser."):
            _, place, moment = name.split(".")
            moments.setdefault(int(place), {})[moment] = torch.from_numpy(found[name])
    optimiser.load_state_dict({"state": moments, "param_groups": optimiser.state_dict()["param_groups"]})
    curve = [Epoch(**epoch) for epoch in json.loads(found["epochs"].tobytes())]
    return curve, {name.removeprefix("best."): a for name, a in found.items() if name.startswith("best.")}
