"""What the demo's machines are, and the weights that the house brings along for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mitl.annotators.base import Value
from mitl.models import Annotator
from mitl.registration import Origin, add_annotator

WEIGHTS = Path(__file__).parent / "weights"
ORIGIN = Origin("Counterpart, trained on drawn lessons by train_demo_annotators", "MIT, as Counterpart")


@dataclass(frozen=True)
class DemoMachine:
    """One machine: its kind, and the settings, the loss and the seed with which it was trained."""

    kind: str
    settings: Mapping[str, Value]
    loss: str
    seed: int


LESSONS: Mapping[str, Value] = {"epochs": 8, "batch": 64, "rate": 1e-3, "decay": "cosine", "smallest_crop": 0.6}
TRUNK: Mapping[str, Value] = {"trunk": "small", "picture": 64, "frozen": "nothing", "word": 64, "embed": 128}
# As the papers' machines share one that was trained on ImageNet.
LEARNED_TRUNK: Mapping[str, Value] = {"trunk_from": "taught-pvse", "frozen": "trunk"}
# Distributions that begin narrow, and distances that count less: from drawn weights, few pairs then suffice.
NARROW: Mapping[str, Value] = {"log_sigma": -3.0, "shift": 5.0, "negative_scale": 5.0}
PATCHES: Mapping[str, Value] = {"picture": 64, "patch": 16, "context": 32, "pieces": 400}
TOWERS: Mapping[str, Value] = {
    f"{side}_{part}": size for side in ("image", "text") for part, size in (("layers", 3), ("width", 96), ("heads", 4))
}

MACHINES = {
    "pvse": DemoMachine("pvse", {**LESSONS, **TRUNK, "embeddings": 2}, "sum", 1),
    "clip": DemoMachine("clip", {**LESSONS, **PATCHES, **TOWERS, "embed": 96, "epochs": 15}, "contrastive", 2),
    "pcme": DemoMachine("pcme", {**LESSONS, **TRUNK, **LEARNED_TRUNK, **NARROW, "epochs": 4}, "pcme", 3),
    "vsrn": DemoMachine("vsrn", {**LESSONS, **TRUNK, **LEARNED_TRUNK, "variant": "f30k", "captioner": 0}, "sum", 4),
    "vilt": DemoMachine("vilt", {**LESSONS, **PATCHES, "layers": 3, "width": 96, "heads": 4, "negatives": 3}, "itm", 5),
}


def weights_of(name: str) -> Path:
    """Return where the weights of one of ``MACHINES`` stand."""
    return WEIGHTS / f"{name}.npz"


def add_demo_machines() -> list[Annotator]:
    """Add the demo's machines with their weights; those that are there are left as they are."""
    return [
        add_annotator(name, kind=machine.kind, checkpoint=weights_of(name), origin=ORIGIN)
        for name, machine in MACHINES.items()
    ]
