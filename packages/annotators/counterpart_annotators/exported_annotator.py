"""Annotators as a site exports them (``export_annotator``): one .npz with a label, opened without a site."""

import hashlib
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from counterpart_annotators.base import Arrays, EmbeddingAnnotator, StoredAnnotator
from counterpart_annotators.encoding import Embeddings
from counterpart_annotators.plain import PlainCaption, PlainImage
from counterpart_metrics.errors import CounterpartError
from counterpart_metrics.json_gate import read_json

LABEL = "counterpart"  # the array of an export that describes the others


class Annotator:
    """An exported annotator that embeds pictures and texts."""

    def __init__(self, opened: EmbeddingAnnotator) -> None:
        self._opened = opened

    @classmethod
    def load(cls, checkpoint: str | Path, device: str = "cpu") -> Self:
        """Open an export, to work on ``cpu`` or ``cuda``.

        Raises CounterpartError for another file, one that was changed, and an annotator without embeddings.
        """
        path = Path(checkpoint)
        with np.load(path, allow_pickle=False) as stored:
            arrays = dict(stored)
        if LABEL not in arrays:
            raise CounterpartError(f"{path} is not an exported annotator; write it with export_annotator.")
        label: dict[str, Any] = read_json(arrays.pop(LABEL).tobytes())
        if label["sha256"] != digest(arrays):
            raise CounterpartError(f"{path} was changed after it was written; export the annotator again.")
        place = f"counterpart_annotators.kinds.{label['kind']}"
        if not find_spec(place):
            raise CounterpartError(f"{path} is of kind {label['kind']}, which only a site has; use it there.")
        opened = import_module(f"{place}.annotator").open_annotator(
            StoredAnnotator(path.stem, label["settings"], in_32_bits(arrays)), device
        )
        if not isinstance(opened, EmbeddingAnnotator):
            raise CounterpartError(f"{path} is of kind {label['kind']}, which has no embeddings of single pictures.")
        return cls(opened)

    def encode_images(self, paths: Sequence[str | Path]) -> Embeddings:
        """Return one row a picture, (N, D) or (N, K, D). Raises CounterpartError for one that cannot be read."""
        images = [
            PlainImage(str(path), str(path), hashlib.sha256(Path(path).read_bytes()).hexdigest()) for path in paths
        ]
        return self._opened.encode_images(images)

    def encode_texts(self, texts: Sequence[str]) -> Embeddings:
        """Return one row a text, (M, D) or (M, K, D)."""
        return self._opened.encode_captions([PlainCaption(str(number), text) for number, text in enumerate(texts)])


def in_32_bits(arrays: Arrays) -> Arrays:
    """Return the arrays with floats of 16 bits, as smaller exports have them, in 32."""
    return {name: array.astype(np.float32) if array.dtype == np.float16 else array for name, array in arrays.items()}


def digest(arrays: Arrays) -> str:
    """SHA-256 of the names, types, shapes and values of arrays."""
    sha256 = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        sha256.update(f"{name}|{array.dtype.str}|{array.shape}|".encode() + array.tobytes())
    return sha256.hexdigest()


def as_bytes(text: str) -> NDArray[np.uint8]:
    """Return a text as an array of the bytes of UTF-8."""
    return np.frombuffer(text.encode(), np.uint8)
