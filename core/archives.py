"""One file that holds many: a tar archive whose last member, the manifest, has the SHA-256 of all others."""

import hashlib
import json
import os
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, Any

from core.errors import CounterpartError, some_of
from core.progress import Progress, silent

MANIFEST = "manifest.json"
_BLOCK = 1 << 20


class ArchiveWriter:
    """Adds files to an archive that is being made. ``scratch`` is a folder that is deleted afterwards."""

    def __init__(self, tar: tarfile.TarFile, scratch: Path) -> None:
        self._tar, self.scratch = tar, scratch
        self.files: dict[str, dict[str, Any]] = {}

    def add(self, name: str, path: Path) -> None:
        """Add the file at ``path`` under ``name``, as long as it is when it is opened."""
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            hashing = _Hashing(file)
            self._tar.addfile(_member(name, size), hashing)  # type: ignore[arg-type]  # it only reads
        self.files[name] = {"sha256": hashing.digest.hexdigest(), "bytes": size}

    def describe(self, description: dict[str, Any]) -> None:
        """Add the manifest: the description and the checksums of all files."""
        path = self.scratch / MANIFEST
        path.write_text(json.dumps({**description, "files": self.files}, indent=1))
        with path.open("rb") as file:
            self._tar.addfile(_member(MANIFEST, path.stat().st_size), file)


@contextmanager
def new_archive(target: Path) -> Iterator[ArchiveWriter]:
    """Write an archive that appears at ``target`` when it is whole and on the disk. Its owner alone may read it.

    Raises CounterpartError if there is a file already, or no such folder.
    """
    if not target.absolute().parent.is_dir():
        raise CounterpartError(f"There is no folder {target.parent}. Create it first.")
    if target.exists():
        raise CounterpartError(f"{target} exists already. Choose another name, or delete it first.")
    with TemporaryDirectory(dir=target.absolute().parent, prefix=".backup-") as folder:
        part = Path(folder) / "archive.tar"
        with part.open("xb") as file:
            part.chmod(0o600)
            with tarfile.open(fileobj=file, mode="w") as tar:
                yield ArchiveWriter(tar, Path(folder))
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)


def checked_manifest(path: Path, *, progress: Progress = silent) -> dict[str, Any]:
    """Read the whole archive and return its manifest. Raises CounterpartError if anything is missing or damaged."""
    found: dict[str, str] = {}
    manifest: dict[str, Any] = {}
    with _opened(path) as members:
        for done, (name, file) in enumerate(members, 1):
            if name == MANIFEST:
                manifest = json.loads(file.read())
            else:
                found[name] = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
            progress("checking files", done, None)
    if "files" not in manifest:
        raise CounterpartError(f"{path} is cut short, or no backup of Counterpart. Use another.")
    named = {name: described["sha256"] for name, described in manifest["files"].items()}
    wrong = sorted(name for name in named.keys() | found.keys() if named.get(name) != found.get(name))
    if wrong:
        raise CounterpartError(f"Damaged files in {path}: {len(wrong)} ({some_of(wrong)}). Use another backup.")
    return manifest


def extract(path: Path, folder: Path, *, progress: Progress = silent) -> None:
    """Write all files of the archive into ``folder``, for their owner alone."""
    with _opened(path) as members:
        for done, (name, file) in enumerate(members, 1):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as out:
                target.chmod(0o600)
                shutil.copyfileobj(file, out, _BLOCK)
            progress("restoring files", done, None)


@contextmanager
def _opened(path: Path) -> Iterator[Iterator[tuple[str, IO[bytes]]]]:
    """Give the archive's files, one after the other. Raises CounterpartError where the archive cannot be read."""
    try:
        with tarfile.open(path, "r|") as tar:
            yield _members(path, tar)
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise CounterpartError(
            f"{path} is cut short, or no backup of Counterpart ({error}). Use another one."
        ) from error


def _members(path: Path, tar: tarfile.TarFile) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the name and the content of each file. Names that lead out of the archive are refused."""
    for member in tar:
        name = PurePosixPath(member.name)
        file = tar.extractfile(member) if member.isfile() else None
        if file is None or name.is_absolute() or ".." in name.parts:
            raise CounterpartError(f"{path} holds {member.name}, which is no part of a backup. Nothing was changed.")
        yield member.name, file
        tar.members = []  # type: ignore[attr-defined]  # or it keeps all that it has read


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    return member


class _Hashing:
    """Reads a file and computes its SHA-256 on the way."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.digest = file, hashlib.sha256()

    def read(self, size: int) -> bytes:
        block = self._file.read(size)
        self.digest.update(block)
        return block
