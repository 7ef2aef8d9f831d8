"""A trained machine as one file, to be added elsewhere: weights, settings, and what it was trained on."""

import hashlib
import json
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.files import StoredFile, read_arrays
from mitl.annotators.base import Adopted, Arrays
from mitl.models import Annotator

LABEL = "counterpart"  # the array that tells what the others are


def export_annotator(annotator: Annotator, path: Path, *, half: bool = False) -> int:
    """Write a machine's weights and settings to ``path``, an .npz; returns the file's bytes.

    ``half``: floats in 16 bits, half the size; embeddings then differ in their fourth digit or so.
    Raises CounterpartError for a machine without weights, another suffix, or a file that is there already.
    """
    if path.suffix != ".npz":
        raise CounterpartError(f"A machine is exported as .npz, not {path.name!r}; change its suffix.")
    if path.exists():
        raise CounterpartError(f"{path} is there already; remove it, or choose another name.")
    if not annotator.checkpoint:
        raise CounterpartError(f"{annotator} has no weights to export; train it first (train_annotator).")
    arrays = read_arrays(StoredFile(annotator.checkpoint, annotator.checksum))
    if half:
        arrays = {name: _halved(array) for name, array in arrays.items()}
    label = {
        "kind": annotator.kind,
        "settings": annotator.options,
        "trained_on": annotator.trained_on,
        "sha256": digest(arrays),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, allow_pickle=False, **arrays, **{LABEL: as_bytes(json.dumps(label, sort_keys=True))})
    return path.stat().st_size


def read_export(path: Path, kind: str) -> Adopted | None:
    """Return what ``export_annotator`` wrote, floats in 32 bits; None for a file that it did not write.

    Raises CounterpartError for a machine of another kind, and for a file that was changed.
    """
    if path.suffix != ".npz" or path.is_dir():
        return None
    arrays = _labelled_arrays(path)
    if arrays is None:
        return None
    label = json.loads(arrays.pop(LABEL).tobytes())
    if label["kind"] != kind:
        raise CounterpartError(f"{path} holds a machine of kind {label['kind']}; add it with --kind {label['kind']}.")
    if label["sha256"] != digest(arrays):
        raise CounterpartError(f"{path} was changed after it was written; export the machine again.")
    return Adopted({name: _full(array) for name, array in arrays.items()}, label["settings"])


def _labelled_arrays(path: Path) -> Arrays | None:
    """Return all arrays of an .npz with a label; None for any other file, whole or not: its reader will tell."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            return dict(stored) if LABEL in stored.files else None
    except (OSError, ValueError, EOFError, AttributeError, BadZipFile):
        return None


def digest(arrays: Arrays) -> str:
    """SHA-256 over names, types, shapes and values of arrays."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(f"{name}|{array.dtype.str}|{array.shape}|".encode() + array.tobytes())
    return found.hexdigest()


def as_bytes(text: str) -> NDArray[np.uint8]:
    """Return a text as the array in which files keep it."""
    return np.frombuffer(text.encode(), np.uint8)


def _halved(array: NDArray) -> NDArray:
    return array.astype(np.float16) if array.dtype == np.float32 else array


def _full(array: NDArray) -> NDArray:
    return array.astype(np.float32) if array.dtype == np.float16 else array
