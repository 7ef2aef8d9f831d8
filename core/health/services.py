"""Whether the database, the clock, the storage and the disks can be used."""

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryFile

import redis
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from core.clock import LARGEST_SKEW, measure_skew
from core.errors import one_line

PROBE = bytes(64 * 1024)  # written to see whether there is room
LEAST_FREE = 2 * 1024**3  # bytes
logger = logging.getLogger(__name__)


def database_trouble() -> str:
    """Return why the database cannot be used; empty if it can."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Exception as error:  # each driver has its own
        return one_line(error)
    return ""


def find_database() -> Iterator[tuple[str, str]]:
    trouble = database_trouble()
    change = "DATABASE_URL=postgres://user:password@host/name" if trouble else ""
    yield trouble or f"{connection.display_name} answers", change


def find_migrations() -> Iterator[tuple[str, str]]:
    executor = MigrationExecutor(connection)
    if missing := executor.migration_plan(executor.loader.graph.leaf_nodes()):
        yield f"{len(missing)} migrations are not applied.", "python manage.py migrate"
    else:
        yield "all applied", ""


def clock_trouble() -> str:
    """Return by how much this computer's clock differs from the database's; an empty text if they agree. A computer
    with a wrong clock would end leases too early or too late."""
    try:
        skew = measure_skew()
    except DatabaseError as error:
        return one_line(error)
    if abs(skew) <= LARGEST_SKEW:
        return ""
    side = "behind" if skew > timedelta(0) else "ahead of"
    trouble = f"The clock of this computer is {abs(skew).total_seconds():.0f} s {side} the database's."
    logger.error("%s Set it right: timedatectl set-ntp true", trouble, extra={"outage": "clock"})
    return trouble


def find_clock() -> Iterator[tuple[str, str]]:
    """Compare this computer's clock with the database's, and with that of Redis."""
    now = timezone.now()
    wrong = [trouble] if (trouble := clock_trouble()) else []
    if settings.REDIS_URL:
        seconds, micro = redis.from_url(settings.REDIS_URL, socket_timeout=5).time()
        drift = abs(now.timestamp() - seconds - micro / 1e6)
        if drift > LARGEST_SKEW.total_seconds():
            wrong.append(f"The clock of Redis differs by {drift:.0f} s.")
    for found in wrong:
        yield found, "timedatectl set-ntp true"
    if not wrong:
        yield f"{now:%Y-%m-%d %H:%M:%S} UTC, as the database's", ""


def storage_trouble() -> str:
    """Return why no picture can be stored, or an empty text. A bucket is only asked; in a folder some kB are written to
    a temporary file that is deleted at once."""
    if settings.AWS_STORAGE_BUCKET_NAME:
        try:
            default_storage.exists("health")
        except Exception as error:
            return one_line(error)
        return ""
    if trouble := folder_trouble():
        return trouble
    try:
        with TemporaryFile(dir=_media_folder()) as file:
            file.write(PROBE)
    except OSError as error:
        return one_line(error)
    return ""


def folder_trouble() -> str:
    """Return why MEDIA_ROOT may not be written; empty if it may, even on a full disk."""
    folder = _media_folder()
    return "" if folder.is_dir() and os.access(folder, os.W_OK) else f"{settings.MEDIA_ROOT} cannot be written"


def _media_folder() -> Path:
    """Return MEDIA_ROOT, or where it will be made."""
    folder = Path(settings.MEDIA_ROOT).resolve()
    return next(parent for parent in (folder, *folder.parents) if parent.exists())


def find_storage() -> Iterator[tuple[str, str]]:
    """Write a file, read it and delete it."""
    if trouble := storage_trouble():
        yield trouble, "MEDIA_ROOT=<a folder that this user may write to>"
        return
    path = f"doctor-{token_hex(8)}"
    content = token_hex(8).encode()
    default_storage.save(path, ContentFile(content))
    with default_storage.open(path, "rb") as file:
        stored = file.read()
    default_storage.delete(path)
    where = settings.AWS_STORAGE_BUCKET_NAME or str(settings.MEDIA_ROOT)
    if stored != content:
        yield f"{where} gives back another file than was stored.", "Check the disk or the bucket."
        return
    yield f"{where} can be written", ""
    if not settings.AWS_STORAGE_BUCKET_NAME and is_open_to_others(Path(settings.MEDIA_ROOT)):
        yield f"Other users of this computer may enter {where}.", f"chmod 700 {where}"


def is_open_to_others(folder: Path) -> bool:
    """Whether other users of this computer may enter a folder."""
    return bool(folder.stat().st_mode & 0o077)


def find_disk() -> Iterator[tuple[str, str]]:
    named = {"VAR_DIR": settings.VAR_DIR, "MEDIA_ROOT": settings.MEDIA_ROOT, "TMPDIR": tempfile.gettempdir()}
    for variable, folder in named.items():
        path = Path(str(folder))
        there = next(folder for folder in (path, *path.parents) if folder.exists())
        free = shutil.disk_usage(there).free
        gigabytes = f"{free / 1024**3:.1f} GB"
        if free < LEAST_FREE:
            yield f"Only {gigabytes} are free for {folder}.", f"{variable}=<a folder on a larger disk>"
        else:
            yield f"{gigabytes} free for {variable}", ""
