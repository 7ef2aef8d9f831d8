"""How pictures look: perceptual hashes, and pictures that look nearly alike."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import faiss
import imagehash
import numpy as np
from PIL import Image as Pillow

from core.errors import CounterpartError, some_of
from core.progress import Progress, silent, tracked
from core.text import counted
from corpus.models import Collection, Image
from corpus.pictures.stored_pictures import NAMED, open_picture, shown

NEAR = 4
"""Two pictures look nearly alike if at most this many of the 64 bits of their hashes differ."""
_BATCH = 500


def look_of(picture: Pillow.Image) -> str:
    """Return the perceptual hash (DCT, 64 bits) of a picture as 16 hex digits: equal for a picture that was scaled or
    compressed again, in most cases, and different for another picture."""
    return str(imagehash.phash(picture))


def hash_pictures(collection: Collection, *, progress: Progress = silent) -> int:
    """Compute the missing looks of the collection's images; return their number. An interrupted run resumes.

    Raises CounterpartError for pictures that the storage has lost or that cannot be read.
    """
    missing = list(collection.images.filter(look="").exclude(file="").order_by("pk"))
    for start in range(0, len(missing), _BATCH):
        batch = missing[start : start + _BATCH]
        for number, image in enumerate(batch, start):
            progress("comparing pictures", number, len(missing))
            image.look = look_of(open_picture(image))
        Image.objects.bulk_update(batch, ["look"])
    return len(missing)


def alike(
    looks: Sequence[str], others: Sequence[str] | None = None, *, near: int = NEAR
) -> Iterator[tuple[int, int, int]]:
    """Yield (place in ``looks``, place in ``others``, number of different bits) of every two that are nearly alike.

    Without ``others`` the looks are compared with one another, and each two are yielded once.
    """
    ours = _bits(looks)
    theirs = ours if others is None else _bits(others)
    if not len(ours) or not len(theirs):
        return
    index = faiss.IndexBinaryFlat(64)
    index.add(theirs)
    for start in range(0, len(ours), _BATCH):
        limits, distances, places = index.range_search(ours[start : start + _BATCH], near + 1)  # radius is exclusive
        for row in range(len(limits) - 1):
            for at in sorted(range(int(limits[row]), int(limits[row + 1])), key=lambda at: int(places[at])):
                if others is not None or places[at] > start + row:
                    yield start + row, int(places[at]), int(distances[at])


def folder_looks(folder: Path, *, progress: Progress = silent) -> dict[str, str]:
    """Return file name → look of every picture in a folder and below it.

    Raises CounterpartError for a folder without pictures and for files that are not complete pictures.
    """
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in NAMED)
    if not files:
        raise CounterpartError(f"{folder} has no pictures ({', '.join(NAMED)}).")
    looks = {}
    broken = []
    for path in tracked(files, "reading pictures", progress, every=1):
        try:
            looks[str(path.relative_to(folder))] = look_of(shown(path.read_bytes()))
        except Exception:  # Pillow's decoders raise many kinds of errors for broken bytes
            broken.append(path.name)
    if broken:
        raise CounterpartError(
            f"{counted(len(broken), 'file cannot', 'files cannot')} be read as pictures: {some_of(broken)}. Remove "
            "them."
        )
    return looks


def _bits(looks: Iterable[str]) -> np.ndarray:
    """Return the hashes as rows of 8 bytes, shape (n, 8)."""
    return np.frombuffer(bytes.fromhex("".join(looks)), dtype=np.uint8).reshape(-1, 8)
