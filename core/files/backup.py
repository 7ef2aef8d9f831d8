"""Backup and restore: the database as it is at one moment, the stored files that it names, and the keys."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from core import clock
from core.database.upgrades import LAST_STEP, OLDEST, is_too_old, known_migrations
from core.errors import CounterpartError, some_of
from core.files.archives import (
    checked_manifest,
    copy_sqlite,
    extract,
    load_snapshot,
    new_archive,
    snapshot_name,
    take_snapshot,
)
from core.progress import Progress, silent, tracked
from core.site.version import software_version
from core.text import counted
from core.untrusted import whole_number

KEYS = "secret_key"
MEDIA = "media"
OLD_LEDGER = "chat.sqlite3"  # in backups of versions that kept the answers of chat models there; migrate reads it
# Rows that migrate itself makes, and the queue.
NOTHING_TO_LOSE = {
    "core_heartbeat",
    "django_migrations",
    "django_content_type",
    "auth_group",
    "auth_permission",
    "auth_group_permissions",
}


@dataclass(frozen=True)
class Backup:
    """What was written: the size in bytes, the number of stored files, and the bucket whose files were left there."""

    size: int
    stored_files: int
    bucket: str


def back_up(target: Path, *, progress: Progress = silent) -> Backup:
    """Write everything that a restored site needs to ``target``.

    The site may be in use. The database comes first: a stored file is written before the row that names it and never
    changes, so the files that are read later are those that the rows name, and perhaps some newer ones. Files in a
    bucket are left there.
    """
    media = Path(settings.MEDIA_ROOT)
    if target.absolute().is_relative_to(media.absolute()):
        raise CounterpartError(f"{target} is among the stored files. Write the backup to another folder.")
    with new_archive(target) as archive:
        progress("database", 0, None)
        snapshot = archive.scratch / snapshot_name()
        take_snapshot(snapshot)
        archive.add(snapshot.name, snapshot)
        keys = archive.scratch / KEYS
        keys.write_text("\n".join(_site_keys()) + "\n")
        archive.add(KEYS, keys)
        stored = [] if settings.AWS_STORAGE_BUCKET_NAME else list(_files_in(media))
        for path in tracked(stored, "stored files", progress, total=len(stored)):
            with suppress(FileNotFoundError):  # Deleted since: an unfinished search has ended.
                archive.add(f"{MEDIA}/{path.relative_to(media).as_posix()}", path)
        applied = set(MigrationRecorder(connection).applied_migrations())
        archive.describe(
            {
                "software": f"counterpart {software_version()}",
                "made_at": clock.now().isoformat(timespec="seconds"),
                "engine": connection.vendor,
                "migrations": [f"{app}.{name}" for app, name in sorted(applied)],
                "bucket": settings.AWS_STORAGE_BUCKET_NAME,
            }
        )
    return Backup(target.stat().st_size, len(stored), settings.AWS_STORAGE_BUCKET_NAME)


def restore(source: Path, *, replace: bool, progress: Progress = silent) -> dict[str, Any]:
    """Put the backup in the place of the database, the stored files and the keys; return its manifest.

    Raises CounterpartError and changes nothing if a checksum is wrong, the backup is of another engine or a newer
    version, or there is something to lose and ``replace`` is False. The site has to be stopped.
    """
    manifest = checked_manifest(source, progress=progress)
    _refuse_other_sites(manifest)
    if not replace and (found := occupied()):
        raise CounterpartError(f"{found} Pass --replace to lose that, or restore into an empty VAR_DIR and database.")
    media = Path(settings.MEDIA_ROOT)
    media.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _scratch_in(media) as scratch:
        unpacked = scratch / "new"
        extract(source, unpacked, progress=progress)
        _refuse_other_keys((unpacked / KEYS).read_text().split())
        (unpacked / MEDIA).mkdir(exist_ok=True)
        stored = nullcontext() if manifest["bucket"] else _replaced(media, unpacked / MEDIA, scratch)
        with stored:
            progress("database", 0, None)
            load_snapshot(unpacked / snapshot_name())
        _restore_keys(unpacked)
    return manifest


def occupied() -> str:
    """Return in a sentence what a restored backup would replace; nothing if the database and MEDIA_ROOT are empty."""
    with connection.cursor() as cursor:
        tables = sorted(set(connection.introspection.table_names(cursor)) - NOTHING_TO_LOSE)
        filled = []
        for table in tables:
            cursor.execute(f"SELECT EXISTS (SELECT 1 FROM {connection.ops.quote_name(table)})")  # noqa: S608  names of tables
            if cursor.fetchone()[0]:
                filled.append(table)
    if filled:
        return f"The database has rows in {counted(len(filled), 'table')}: {some_of(filled)}."
    if any(_files_in(Path(settings.MEDIA_ROOT))):
        return f"There are files in {settings.MEDIA_ROOT}."
    return ""


def _site_keys() -> list[str]:
    return [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]


def _files_in(media: Path) -> Iterator[Path]:
    """Yield the stored files; hidden ones are being written."""
    for folder, folders, files in os.walk(media, followlinks=True):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(folder) / name for name in sorted(files) if not name.startswith("."))


def _refuse_other_sites(manifest: dict[str, Any]) -> None:
    if manifest["engine"] != connection.vendor:
        raise CounterpartError(
            f"The backup is of {manifest['engine']}, and this database is {connection.vendor}. Change DATABASE_URL."
        )
    applied = {tuple(name.split(".", 1)) for name in manifest["migrations"]}
    newer = [f"{app}.{name}" for app, name in sorted(applied - known_migrations())]
    if newer or _number(manifest["software"]) > _number(software_version()):
        raise CounterpartError(
            f"The backup is of a newer version, {manifest['software']}; this is {software_version()}"
            f"{f' without {some_of(newer)}' if newer else ''}. Install the newer version first."
        )
    if is_too_old(applied):
        raise CounterpartError(
            f"The backup is of a version before {OLDEST}. Restore it with {LAST_STEP}, migrate and back up there."
        )
    if manifest["bucket"] != settings.AWS_STORAGE_BUCKET_NAME:
        where = f"the bucket {manifest['bucket']}" if manifest["bucket"] else "the backup itself"
        raise CounterpartError(
            f"The stored files of this backup are in {where}. Set AWS_STORAGE_BUCKET_NAME accordingly."
        )


def _number(software: str) -> tuple[int, ...]:
    parts = map(whole_number, software.split()[-1].split("."))
    return tuple(part for part in parts if part is not None)


def _refuse_other_keys(keys: list[str]) -> None:
    """Raise CounterpartError if the environment gives another key than the one that signed the codes and links."""
    if os.environ.get("SECRET_KEY") and not set(keys) <= set(_site_keys()):
        raise CounterpartError(
            f"The backup has other keys than SECRET_KEY and SECRET_KEY_FALLBACKS. Add those in its file {KEYS} "
            f"(tar -xOf FILE {KEYS}), or unset SECRET_KEY."
        )


@contextmanager
def _scratch_in(media: Path) -> Iterator[Path]:
    """Make a hidden folder on the file system of the stored files. It stays if its files could not be moved back."""
    scratch = Path(tempfile.mkdtemp(dir=media, prefix=".restore-"))
    old = scratch / "old"
    old.mkdir()
    try:
        yield scratch
    finally:
        if not any(old.iterdir()):
            shutil.rmtree(scratch)


@contextmanager
def _replaced(media: Path, new: Path, scratch: Path) -> Iterator[None]:
    """Put the files in ``new`` in the place of those in ``media``, and back again if the body fails."""
    old = scratch / "old"
    put: list[Path] = []
    try:
        for entry in list(media.iterdir()):
            if entry != scratch:
                entry.rename(old / entry.name)
        for entry in list(new.iterdir()):
            put.append(entry.rename(media / entry.name))
        yield
    except BaseException:
        for entry in put:
            entry.rename(new / entry.name)
        for entry in list(old.iterdir()):
            entry.rename(media / entry.name)
        raise
    shutil.rmtree(old)
    old.mkdir()


def _restore_keys(unpacked: Path) -> None:
    """Restore the keys, unless the environment gives them, and the ledger of chat models that older backups have."""
    if not os.environ.get("SECRET_KEY"):
        descriptor, whole = tempfile.mkstemp(dir=settings.VAR_DIR)  # mode 0600
        with os.fdopen(descriptor, "w") as file:
            file.write((unpacked / KEYS).read_text())
        os.replace(whole, settings.VAR_DIR / KEYS)
    if (unpacked / OLD_LEDGER).exists():
        copy_sqlite(unpacked / OLD_LEDGER, settings.VAR_DIR / OLD_LEDGER)
