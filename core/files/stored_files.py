"""Large data as files: bytes and named arrays in Django's storage, opened through a local cache keyed by checksum."""

import hashlib
import json
import math
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from uuid import uuid4
from zipfile import ZipFile

import numpy as np
from django.conf import settings
from django.core.files.base import ContentFile, File
from django.core.files.storage import FileSystemStorage, default_storage
from numpy.typing import DTypeLike, NDArray

from core.errors import CounterpartError

PART = ".part-"
"""Begins the name of a folder with something unfinished. One that stays was left by a process that was killed."""
STALE_DAYS = 14
IN_MEMORY = 1 << 24  # bytes of arrays on their way to or from a file


class WholeFileStorage(FileSystemStorage):
    """A folder in which files appear whole or not at all, even if the process that writes them dies: each is written
    under a hidden name and then renamed, over an existing one if need be."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_overwrite=True)

    def _save(self, name: str, content: File) -> str:
        folder, file_name = os.path.split(name)
        part = os.path.join(folder, f".{file_name}.{uuid4().hex[:8]}")
        try:
            super()._save(part, content)  # type: ignore[misc]  # missing in the stubs
            os.replace(self.path(part), self.path(name))
        except BaseException:
            self.delete(part)
            raise
        return name


@dataclass(frozen=True)
class StoredFile:
    """A file in the storage and the SHA-256 of its bytes (hex)."""

    path: str
    sha256: str


def write_file(path: str, content: bytes) -> StoredFile:
    """Store ``content`` at ``path`` and replace any file there, at once for all readers."""
    return StoredFile(default_storage.save(path, ContentFile(content)), hashlib.sha256(content).hexdigest())


def read_file(path: str) -> bytes:
    """Return the content of a file of the storage. Raises FileNotFoundError without one."""
    with default_storage.open(path, "rb") as file:
        content: bytes = file.read()
    return content


def write_json(path: str, value: Any) -> None:
    """Store ``value`` as JSON, as ``write_file`` does. Numbers that JSON does not know become floats."""
    write_file(path, json.dumps(value, default=float).encode())


def read_json(path: str) -> Any:
    """Return what ``write_json`` stored; None without a file."""
    return json.loads(read_file(path)) if default_storage.exists(path) else None


def copy_file(local: Path, path: str) -> None:
    """Store a local file at ``path`` and replace any file there, at once for all readers."""
    with local.open("rb") as content:
        default_storage.save(path, File(content))


@dataclass(frozen=True)
class Rows:
    """An array to be written block by block: its shape and type, and its rows in order."""

    shape: tuple[int, ...]
    dtype: DTypeLike
    blocks: Iterable[NDArray]


def write_arrays(prefix: str, **arrays: NDArray | Rows) -> StoredFile:
    """Store arrays as ``<prefix>-<first digits of the checksum>.npz``. Equal arrays give equal bytes, also by rows."""
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as file:
        with ZipFile(file, "w") as archive:
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    _write_array(member, array)
        file.seek(0)
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        return StoredFile(default_storage.save(f"{prefix}-{checksum[:12]}.npz", File(file)), checksum)


def _write_array(file: IO[bytes], array: NDArray | Rows) -> None:
    if not isinstance(array, Rows):
        np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
        return
    described = {"descr": np.lib.format.dtype_to_descr(np.dtype(array.dtype)), "fortran_order": False}
    np.lib.format.write_array_header_1_0(file, described | {"shape": array.shape})
    for block in array.blocks:
        file.write(np.ascontiguousarray(block, array.dtype).tobytes())


def read_arrays(stored: StoredFile) -> dict[str, NDArray]:
    """Read what ``write_arrays`` stored. Raises CounterpartError if the file is missing or was changed."""
    with np.load(local_copy(stored), allow_pickle=False) as arrays:
        return dict(arrays)


def read_rows(stored: StoredFile, name: str, rows: NDArray[np.int64] | None = None) -> NDArray:
    """Read one of the arrays that ``write_arrays`` stored: some of its rows, by their ascending numbers, or all.

    Memory holds these rows and one block. Raises CounterpartError as ``read_arrays``, and KeyError for another name.
    """
    taken = []
    first = 0
    for block in row_blocks(stored, name):
        last = first + len(block)
        if rows is not None:
            begin, end = np.searchsorted(rows, (first, last))
            block = block[rows[begin:end] - first]
        taken.append(block)
        first = last
    return np.concatenate(taken)


def row_blocks(stored: StoredFile, name: str, *, each: int | None = None) -> Iterator[NDArray]:
    """Yield the rows of one of the arrays that ``write_arrays`` stored, in blocks of ``each`` rows or of IN_MEMORY; at
    least one block, which may be empty. Raises as ``read_rows``."""
    with ZipFile(local_copy(stored)) as archive, archive.open(f"{name}.npy") as member:
        np.lib.format.read_magic(member)
        shape, _, dtype = np.lib.format.read_array_header_1_0(member)
        bytes_a_row = dtype.itemsize * math.prod(shape[1:])
        each = each or max(1, IN_MEMORY // bytes_a_row)
        for _ in range(0, max(shape[0], 1), each):
            yield np.frombuffer(member.read(each * bytes_a_row), dtype).reshape(-1, *shape[1:])


def local_copy(stored: StoredFile) -> Path:
    """Return the path of a verified local copy, fetched from the storage once per checksum.

    Raises CounterpartError if the file is missing or was changed.
    """
    cached = Path(settings.FILE_CACHE) / stored.sha256
    if cached.exists():
        return cached
    try:
        file = default_storage.open(stored.path, "rb")
    except FileNotFoundError as error:
        raise CounterpartError(f"The file {stored.path} is missing from the storage; create it again.") from error
    cached.parent.mkdir(parents=True, exist_ok=True)
    with file, tempfile.TemporaryDirectory(dir=cached.parent, prefix=PART) as folder:
        part = Path(folder) / "part"
        digest = hashlib.sha256()
        with part.open("xb") as copy:
            for chunk in file.chunks():
                digest.update(chunk)
                copy.write(chunk)
        if digest.hexdigest() != stored.sha256:
            raise CounterpartError(f"The file {stored.path} was changed after it was written; create it again.")
        os.replace(part, cached)
    return cached


def check_new_file(path: Path, suffix: str, what: str) -> None:
    """Raise CounterpartError unless the path ends in the suffix, nothing is there, and its folder exists; ``what`` is
    to be written, in the plural."""
    if path.suffix != suffix:
        raise CounterpartError(f"{what} are written as {suffix}, not {path.name!r}; change the suffix.")
    if path.exists():
        raise CounterpartError(f"{path} already exists; remove it, or choose another name.")
    if not path.absolute().parent.is_dir():
        raise CounterpartError(f"The folder {path.parent} does not exist; create it first.")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a path to write to. The file appears at ``path`` when the body is over; if it raises, nothing is left.

    Raises CounterpartError if ``path`` exists and is not a file, such as a folder or a device.
    """
    if path.exists() and not path.is_file():
        raise CounterpartError(f"{path} is not a file; choose another name.")
    with tempfile.TemporaryDirectory(dir=path.absolute().parent, prefix=PART) as folder:
        part = Path(folder) / path.name
        yield part
        os.replace(part, path)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a folder for files that are needed until the body ends, on the disk of the local cache."""
    cache = Path(settings.FILE_CACHE)
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=PART) as folder:
        yield Path(folder)


def remove_stale(root: Path, pattern: str = "*", *, days: float = STALE_DAYS) -> int:
    """Remove the folders in ``root`` to which nothing was added for ``days``. Returns how many."""
    before = time.time() - days * 24 * 3600
    stale = [folder for folder in root.glob(pattern) if _changed_at(folder) < before]
    for folder in stale:
        shutil.rmtree(folder, ignore_errors=True)
    return len(stale)


def _changed_at(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except FileNotFoundError:
        return float("inf")


def files_in(folder: str) -> list[str]:
    """Return the paths of the files in a folder of the storage; none where it does not exist."""
    return _listed(folder)[1]


def folders_in(folder: str) -> list[str]:
    """Return the paths of the folders in a folder of the storage; none where it does not exist."""
    return _listed(folder)[0]


def _listed(folder: str) -> list[list[str]]:
    try:
        return [[f"{folder}/{name}" for name in names] for names in default_storage.listdir(folder)]
    except FileNotFoundError:
        return [[], []]


def remove_file(stored: StoredFile) -> None:
    """Delete the file and its local copy. Does nothing if it is already gone."""
    default_storage.delete(stored.path)
    (Path(settings.FILE_CACHE) / stored.sha256).unlink(missing_ok=True)


@dataclass(frozen=True)
class Part:
    """The rows ``first`` to ``first + rows`` (exclusive) of a side, in a stored file with this SHA-256 (hex)."""

    path: str
    sha256: str
    first: int
    rows: int
