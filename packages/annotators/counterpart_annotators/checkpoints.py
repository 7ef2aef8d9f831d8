"""The finished parts of an unfinished computation, in files, so that the next run resumes there."""

import hashlib
import os
import shutil
import tempfile
from io import BufferedIOBase
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DIGEST = hashlib.sha256().digest_size


class Checkpoints:
    """Parts of one computation, each some arrays under a name, in its own folder.

    The folder must be different for every different computation. A part is complete or missing, even if a process is
    killed while writing it; a damaged one counts as missing. Several processes may do the same work in one folder:
    they find each other's parts, and if one has finished and cleared the folder, the others compute the rest
    themselves.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __contains__(self, name: str) -> bool:
        """Whether a part of this name was saved; ``load`` also checks that it is undamaged."""
        return self._path(name).exists()

    def save(self, name: str, **arrays: NDArray) -> None:
        """Save arrays under ``name``, replacing an earlier part. Memory in addition to the arrays: one buffer."""
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            descriptor, temporary = tempfile.mkstemp(dir=self._folder)
            with open(descriptor, "w+b") as file:
                _write(file, arrays)
            os.replace(temporary, self._path(name))
        except FileNotFoundError:
            # Another process finished the same work and cleared the folder. This part is not needed any more.
            return

    def load(self, name: str) -> dict[str, NDArray] | None:
        """Return the arrays saved under ``name``, or None if they are missing or damaged."""
        try:
            with self._path(name).open("rb") as file:
                return _read(file)
        except FileNotFoundError:
            return None

    def clear(self) -> None:
        """Remove all parts, if there are any."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.part"


def _write(file: BufferedIOBase, arrays: dict[str, NDArray]) -> None:
    """Write the SHA-256 of what follows, then the arrays as .npz."""
    file.write(bytes(DIGEST))
    np.savez(file, allow_pickle=False, **arrays)
    digest = _digest_of_rest(file)
    file.seek(0)
    file.write(digest)


def _read(file: BufferedIOBase) -> dict[str, NDArray] | None:
    if file.read(DIGEST) != _digest_of_rest(file):
        return None
    file.seek(DIGEST)
    with np.load(file, allow_pickle=False) as arrays:
        return dict(arrays)


def _digest_of_rest(file: BufferedIOBase) -> bytes:
    file.seek(DIGEST)
    return hashlib.file_digest(file, "sha256").digest()
