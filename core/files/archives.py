"""Backups as one tar archive with checksums, and snapshots of the database that go into it."""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from time import monotonic
from typing import IO, Any

from django.db import connection

from core.errors import CounterpartError, some_of
from core.progress import Progress, silent
from core.site.environment import LOCK_SECONDS

MANIFEST = "manifest.json"
_BLOCK = 1 << 20


class ArchiveWriter:
    """Adds files to an archive that is being made. ``scratch`` is a folder that is deleted afterwards."""

    def __init__(self, tar: tarfile.TarFile, scratch: Path) -> None:
        self._tar = tar
        self.scratch = scratch
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
        raise CounterpartError(f"The folder {target.parent} does not exist. Create it first.")
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
        raise CounterpartError(f"{path} is incomplete, or not a backup of Counterpart. Use another one.")
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
            f"{path} is incomplete, or not a backup of Counterpart ({error}). Use another one."
        ) from error


def _members(path: Path, tar: tarfile.TarFile) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the name and the content of each file. Names that lead out of the archive are refused."""
    for member in tar:
        name = PurePosixPath(member.name)
        file = tar.extractfile(member) if member.isfile() else None
        if file is None or name.is_absolute() or ".." in name.parts:
            raise CounterpartError(f"{path} holds {member.name}, which is not part of a backup. Nothing was changed.")
        yield member.name, file
        tar.members = []  # type: ignore[attr-defined]  # or it keeps all that it has read


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size = size
    member.mode = 0o600
    return member


class _Hashing:
    """Reads a file and computes its SHA-256 on the way."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int) -> bytes:
        block = self._file.read(size)
        self.digest.update(block)
        return block


PATIENCE = 30  # seconds that a restored SQLite database waits for others' writes
_HELD = (5, 6)  # SQLITE_BUSY, SQLITE_LOCKED
_WAIT = f"--lock-wait-timeout={LOCK_SECONDS}s"


def snapshot_name() -> str:
    """Return the name of the snapshot's file in a backup."""
    return "database.sqlite3" if connection.vendor == "sqlite" else "database.dump"


def take_snapshot(target: Path) -> None:
    """Write the database as it is at one moment. Raises CounterpartError in one line if that fails."""
    if connection.vendor == "sqlite":
        copy_sqlite(Path(connection.settings_dict["NAME"]), target)
    else:
        _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={target}", _WAIT)


def load_snapshot(source: Path) -> None:
    """Replace the database by a snapshot, all of it or nothing. Raises CounterpartError in one line if that fails."""
    tables = connection.introspection.table_names()
    connection.close()
    if connection.vendor == "sqlite":
        copy_sqlite(source, Path(connection.settings_dict["NAME"]))
        return
    # pg_restore alone would leave tables of a newer version, which are not in the snapshot.
    drop = "; ".join(f"DROP TABLE {connection.ops.quote_name(table)} CASCADE" for table in tables)
    script = source.with_suffix(".sql")
    _run("pg_restore", "--no-owner", "--no-privileges", f"--file={script}", str(source))
    options = ("--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1")
    _run("psql", *options, f"--command={drop or 'SELECT 1'}", f"--file={script}")


def copy_sqlite(source: Path, target: Path) -> None:
    """Copy an SQLite database, over an existing one if there is one: in one transaction, safe while both are in use.

    Raises CounterpartError if the copy is damaged, or if others keep the target locked for PATIENCE seconds.
    """
    deadline = monotonic() + PATIENCE

    def give_up(status: int, remaining: int, total: int) -> None:
        if status in _HELD and monotonic() > deadline:
            raise CounterpartError("The database is in use. Stop the site and the worker, then try again.")

    try:
        with closing(sqlite3.connect(source)) as from_, closing(sqlite3.connect(target, timeout=1)) as to:
            from_.backup(to, progress=give_up)
            (found,) = to.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        raise CounterpartError(f"{source.name} could not be copied to {target}: {error}.") from error
    if found != "ok":
        raise CounterpartError(f"The database {source} is damaged ({found}).")


def _run(program: str, *options: str) -> None:
    """Run one of PostgreSQL's programs on our database. The password is passed in the environment."""
    if shutil.which(program) is None:
        raise CounterpartError(
            f"{program} is not installed. Install PostgreSQL's client programs of the server's version."
        )
    database = connection.settings_dict
    given = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGPASSWORD": "PASSWORD", "PGDATABASE": "NAME"}
    variables = {name: str(database[key]) for name, key in given.items() if database[key]}
    variables["PGOPTIONS"] = f"-c lock_timeout={LOCK_SECONDS}s"
    if mode := database["OPTIONS"].get("sslmode"):
        variables["PGSSLMODE"] = mode
    outcome = subprocess.run([program, *options], env=os.environ | variables, capture_output=True, text=True)
    if outcome.returncode:
        reason = next((line for line in outcome.stderr.splitlines() if "error" in line.lower()), outcome.stderr.strip())
        raise CounterpartError(f"{reason or program + ' failed'}. The database was not changed.")
