"""Region features of pictures, computed by a detector and read from a folder; the published VSRN takes them.

The folder holds one or more parts (splits) of two files: ``NAME_ims.npy``, floats (images, regions, channels) with the
regions in the detector's order, published as (images, 36, 2048); and ``NAME_ids.txt``, the images' ids in the
collection, one a line, in the same order. An image may have several rows if they are equal. For one vector a picture
only the ``axes`` differ.

A folder can be larger than memory and stays where it is. ``survey`` reads all of it once and returns a digest per
row; ``Regions`` then reads single rows and compares each with its digest, so that later changes are noticed.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from counterpart_annotators.base import Arrays
from counterpart_annotators.encoding import Embeddings
from counterpart_annotators.plain import PlainImage
from counterpart_annotators.progress import Progress, silent, tracked
from counterpart_metrics.errors import CounterpartError, counted, some_of

FEATURES = "_ims.npy"
IDS = "_ids.txt"
DIGEST = 16  # bytes
REGIONS = ("regions", "channels")


def survey(
    folder: Path, *, axes: Sequence[str] = REGIONS, length: int | None = None, progress: Progress = silent
) -> Arrays:
    """Read and check a whole folder; return ``region_ids`` (R,), texts, and ``region_digests`` (R, 16), bytes.

    Raises CounterpartError for a folder without parts, and for a part that is not an array of floats (images, *axes)
    of the other parts' shape, has another number of ids than rows, another ``length`` of the last axis, NaN, infinity,
    or unequal rows of one image.
    """
    parts = _open_parts(folder)
    _check_shape(parts[0][1].shape, axes, length, folder)
    digests: dict[str, bytes] = {}
    broken: list[str] = []
    unequal: list[str] = []
    rows = tracked(_rows(parts), "reading regions", progress, total=sum(len(ids) for ids, _ in parts))
    for key, row in rows:
        digest = _digest(row)
        if not np.isfinite(row).all():
            broken.append(key)
        if digests.setdefault(key, digest) != digest:
            unequal.append(key)
    _refuse(broken, folder, "NaN or infinity")
    _refuse(unequal, folder, "rows that differ")
    together = np.frombuffer(b"".join(digests.values()), dtype=np.uint8)
    return {"region_ids": np.array(list(digests)), "region_digests": together.reshape(-1, DIGEST)}


class Regions:
    """The regions of images, read from a folder that ``survey`` has checked: a source of networks
    (``counterpart_annotators.nn.recurrent``).

    ``shape`` is that of one image, regions by channels. Raises CounterpartError if the folder cannot be read anymore.
    """

    looks_at_pictures = False

    def __init__(self, folder: Path, surveyed: Arrays) -> None:
        parts = _open_parts(folder)
        self.shape: tuple[int, ...] = parts[0][1].shape[1:]
        self._folder = folder
        self._rows = {key: (features, row) for ids, features in parts for row, key in enumerate(ids)}
        digests = [digest.tobytes() for digest in surveyed["region_digests"]]
        self._digests = dict(zip(surveyed["region_ids"].tolist(), digests, strict=True))

    def check(self, images: Sequence[PlainImage]) -> None:
        """Raise CounterpartError where images have no regions."""
        missing = [image.key for image in images if image.key not in self._digests or image.key not in self._rows]
        if missing:
            raise CounterpartError(
                f"{self._folder} does not contain {len(missing)} of {len(images)} images: {some_of(missing)}. Add them"
                " to the folder, then add the annotator again under another name."
            )

    def batches(self, images: Sequence[PlainImage]) -> Iterator[Tensor]:
        yield torch.from_numpy(self.of(images))

    def drawn(self, images: Sequence[PlainImage], rng: np.random.Generator) -> Tensor:
        return torch.from_numpy(self.of(images))

    def of(self, images: Sequence[PlainImage]) -> Embeddings:
        """Return the regions of images, (N, *shape).

        Raises CounterpartError where some are missing or were changed after the survey.
        """
        self.check(images)
        rows = [_row(*self._rows[image.key]) for image in images]
        changed = [
            image.key for image, row in zip(images, rows, strict=True) if _digest(row) != self._digests[image.key]
        ]
        if changed:
            raise CounterpartError(
                f"{self._folder} was changed after the annotator was added, in {counted(len(changed), 'image')} that "
                f"are needed: {some_of(changed)}. Restore the old files, or add the annotator again under another name."
            )
        return np.stack(rows)


Part = tuple[list[str], NDArray]


def _open_parts(folder: Path) -> list[Part]:
    files = sorted(folder.glob(f"*{FEATURES}"))
    if not files:
        raise CounterpartError(f"{folder} has no region features, NAME{FEATURES}; pass the folder that has them.")
    parts = [_open_part(file) for file in files]
    shapes = {features.shape[1:] for _, features in parts}
    if len(shapes) > 1:
        raise CounterpartError(
            f"{folder} has parts of {len(shapes)} shapes: {some_of(sorted(shapes))}. Keep the parts of one shape."
        )
    return parts


def _open_part(file: Path) -> Part:
    """Return ids (R,) and features (R, regions, channels) of one part; the features stay on disk."""
    try:
        features = np.load(file, mmap_mode="r", allow_pickle=False)
        ids = file.with_name(file.name.removesuffix(FEATURES) + IDS).read_text().split("\n")
    except (OSError, ValueError, EOFError) as error:
        raise CounterpartError(f"{file} cannot be read with its ids: {error}. Download both files again.") from error
    ids = [key.strip() for key in ids if key.strip()]
    if features.dtype.kind != "f" or 0 in features.shape:
        raise CounterpartError(
            f"{file} must hold floats, not {features.dtype} of shape {features.shape}. Write it again."
        )
    if len(ids) != len(features):
        raise CounterpartError(f"{file} has {len(features)} rows but {len(ids)} ids; write one id per row.")
    return ids, features


def _check_shape(shape: tuple[int, ...], axes: Sequence[str], length: int | None, folder: Path) -> None:
    if len(shape) != 1 + len(axes):
        raise CounterpartError(
            f"{folder} must hold arrays of shape (images, {', '.join(axes)}), not {shape}. Pass another one."
        )
    if length not in (None, shape[-1]):
        raise CounterpartError(
            f"{folder} has {axes[0]} of {shape[-1]:,} numbers, but these weights need {length:,}; pass the folder that"
            " belongs to them."
        )


def _rows(parts: Sequence[Part]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    for ids, features in parts:
        for row, key in enumerate(ids):
            yield key, _row(features, row)


def _row(features: NDArray, row: int) -> NDArray[np.float32]:
    return np.ascontiguousarray(features[row], dtype=np.float32)


def _digest(row: NDArray[np.float32]) -> bytes:
    return hashlib.blake2b(row.data, digest_size=DIGEST).digest()


def _refuse(keys: list[str], folder: Path, what: str) -> None:
    if keys:
        images = sorted(set(keys))
        raise CounterpartError(
            f"{folder} holds {what} in {counted(len(images), 'image')}: {some_of(images)}. Correct the files."
        )
