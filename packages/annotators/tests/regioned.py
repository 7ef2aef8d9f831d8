"""Folders of region features as the published ones are laid out, made up by a seed."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

REGIONS, CHANNELS = 5, 8


def make_regions(folder: Path, keys: Sequence[str], *, part: str = "test", seed: int = 0) -> np.ndarray:
    """Write a part with random regions of the images ``keys``; return them (N, 5, 8)."""
    rng = np.random.default_rng(seed)
    return write_regions(folder, keys, rng.random((len(keys), REGIONS, CHANNELS), dtype=np.float32), part=part)


def write_regions(folder: Path, keys: Sequence[str], features: np.ndarray, *, part: str = "test") -> np.ndarray:
    folder.mkdir(exist_ok=True)
    np.save(folder / f"{part}_ims.npy", features)
    (folder / f"{part}_ids.txt").write_text("".join(f"{key}\n" for key in keys))
    return features
