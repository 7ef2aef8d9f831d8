"""A gallery beyond rows whose items have drawn embeddings, with an annotator that knows those of the queries."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corpus.galleries.gallery_imports import import_gallery
from corpus.models import Collection, Gallery
from mitl.models import Annotator
from mitl.registration import add_annotator
from tests.corpus.files import gallery_folder, gallery_items


def drawn(seed: int, *shape: int) -> NDArray[np.float32]:
    """Whole numbers, so that many scores are equal and ties decide."""
    return np.random.default_rng(seed).integers(-2, 3, shape).astype(np.float32) + 0.5


def npy_folder(folder: Path, images: NDArray, captions: NDArray, rows_a_file: int = 1000) -> Path:
    """A folder of images-*.npy and captions-*.npy."""
    folder.mkdir(exist_ok=True)
    for side, rows in (("images", images), ("captions", captions)):
        for number, first in enumerate(range(0, len(rows), rows_a_file)):
            np.save(folder / f"{side}-{number:03}.npy", rows[first : first + rows_a_file])
    return folder


def make_gallery(collection: Collection, folder: Path, n: int) -> Gallery:
    """The gallery ``sea`` of ``n`` images and captions."""
    return import_gallery("sea", collection=collection, path=gallery_folder(folder / "sea", *gallery_items(n)))


def query_annotator(collection: Collection, folder: Path, width: int = 6, name: str = "theirs") -> Annotator:
    """An annotator that has embeddings of the collection's rows and of nothing else."""
    keys = {side: [row.key for row in getattr(collection, side).all()] for side in ("images", "captions")}
    arrays = {"image_ids": np.array(keys["images"]), "caption_ids": np.array(keys["captions"])}
    arrays |= {side: drawn(seed, len(keys[side]), width) for seed, side in ((1, "images"), (2, "captions"))}
    np.savez(folder / f"{name}.npz", **arrays)
    return add_annotator(name, kind="files", checkpoint=folder / f"{name}.npz")
