"""Tiny networks of transformers for tests: sizes that learn six colours in a second."""

from counterpart_annotators.options import Value

TOWER = {"layers": 1, "width": 32, "heads": 2}
TOWERS = {f"{tower}_{part}": size for tower in ("image", "text") for part, size in TOWER.items()}
INPUTS = {"picture": 16, "patch": 8, "context": 10}
QUICK = {"epochs": 4, "batch": 12, "decay": "none", "rate": 3e-3, "weight_decay": 0.0}
PAIRS = {"pieces": 80, "batch_size": 5, "negatives": 3}

TINY: dict[str, dict[str, Value]] = {
    "clip": {**INPUTS, **QUICK, **TOWERS, "embed": 16, "pieces": 560},
    "siglip": {**INPUTS, **QUICK, **TOWER, "pieces": 560},
    "vilt": {**INPUTS, **QUICK, **TOWER, **PAIRS},
    "blip": {**INPUTS, **QUICK, **TOWERS, **PAIRS, "embed": 16},
}
