"""Big things as files: named arrays in Django's storage, opened through a local cache keyed by checksum."""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from numpy.typing import NDArray

from core.errors import CounterpartError


@dataclass(frozen=True)
class Artefact:
    """A file in the storage and the SHA-256 of its bytes (hex)."""

    path: str
    sha256: str


def write_file(path: str, content: bytes) -> Artefact:
    """Store ``content`` at ``path``, replacing what stood there."""
    if default_storage.exists(path):
        default_storage.delete(path)
    stored = default_storage.save(path, ContentFile(content))
    return Artefact(stored, hashlib.sha256(content).hexdigest())


def write_arrays(prefix: str, **arrays: NDArray) -> Artefact:
    """Store arrays as ``<prefix>-<first digits of the checksum>.npz``. Equal arrays give equal bytes."""
    buffer = BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    content = buffer.getvalue()
    return write_file(f"{prefix}-{hashlib.sha256(content).hexdigest()[:12]}.npz", content)


def read_arrays(artefact: Artefact) -> dict[str, NDArray]:
    """Read what ``write_arrays`` stored. Raises CounterpartError if the file is gone or not what was written."""
    with np.load(local_copy(artefact), allow_pickle=False) as arrays:
        return dict(arrays)


def local_copy(artefact: Artefact) -> Path:
    """Return the path of a checked local copy, fetched from the storage once per checksum."""
    cached = Path(settings.ARTEFACT_CACHE) / artefact.sha256
    if cached.exists():
        return cached
    try:
        with default_storage.open(artefact.path, "rb") as file:
            content = file.read()
    except FileNotFoundError as error:
        raise CounterpartError(f"The artefact {artefact.path} is gone from the storage; make it again.") from error
    if hashlib.sha256(content).hexdigest() != artefact.sha256:
        raise CounterpartError(f"The artefact {artefact.path} was changed after it was written; make it again.")
    cached.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=cached.parent, delete=False) as temporary:
        temporary.write(content)
    os.replace(temporary.name, cached)
    return cached


def remove_artefact(artefact: Artefact) -> None:
    """Remove what was stored, and this machine's copy. Does nothing where it is gone already."""
    default_storage.delete(artefact.path)
    (Path(settings.ARTEFACT_CACHE) / artefact.sha256).unlink(missing_ok=True)
