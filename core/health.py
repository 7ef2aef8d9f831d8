"""Whether the database, the broker and the storage can be used; and the heartbeat of the queue."""

import os
from datetime import datetime, timedelta
from pathlib import Path
from socket import gethostname
from tempfile import TemporaryFile

from celery import current_app
from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection
from django.utils import timezone

from core.models import Heartbeat

PROBE = bytes(64 * 1024)  # written to see whether there is room
MISSED = 3  # beats, after which a queue counts as stopped


def database_trouble() -> str:
    """Say why the database cannot be used; nothing if it can."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Exception as error:  # each driver has its own
        return _one_line(error)
    return ""


def broker_trouble() -> str:
    """Say why no task can be sent; nothing if one can."""
    if not settings.REDIS_URL:
        folder = Path(str(settings.CELERY_BROKER_TRANSPORT_OPTIONS["data_folder_out"]))
        return "" if os.access(folder, os.W_OK) else f"{folder} cannot be written"
    try:
        with current_app.connection_for_write() as broker:
            broker.ensure_connection(max_retries=1, interval_start=0, timeout=3)
    except Exception as error:
        return _one_line(error)
    return ""


def storage_trouble() -> str:
    """Return why no picture can be stored, or an empty text. A bucket is only asked; in a folder some kB are written to
    a temporary file that is deleted at once."""
    if settings.AWS_STORAGE_BUCKET_NAME:
        try:
            default_storage.exists("health")
        except Exception as error:
            return _one_line(error)
        return ""
    if trouble := folder_trouble():
        return trouble
    try:
        with TemporaryFile(dir=_media_folder()) as file:
            file.write(PROBE)
    except OSError as error:
        return _one_line(error)
    return ""


def folder_trouble() -> str:
    """Say why nobody may write to MEDIA_ROOT; nothing if it is allowed, even where no room is left."""
    folder = _media_folder()
    return "" if folder.is_dir() and os.access(folder, os.W_OK) else f"{settings.MEDIA_ROOT} cannot be written"


def _media_folder() -> Path:
    """Return MEDIA_ROOT, or where it will be made."""
    folder = Path(settings.MEDIA_ROOT).resolve()
    return next(parent for parent in (folder, *folder.parents) if parent.exists())


def beat() -> None:
    """Note that the clock has sent a task and a worker of this computer has run it."""
    sign = {"at": timezone.now(), "by": gethostname()[:100]}
    Heartbeat.objects.update_or_create(pk=Heartbeat.QUEUE, defaults=sign)


def last_beat() -> datetime | None:
    return Heartbeat.objects.filter(pk=Heartbeat.QUEUE).values_list("at", flat=True).first()


def queue_has_stopped() -> bool:
    patience = timedelta(seconds=max(60, MISSED * settings.RECONCILE_SECONDS))
    last = last_beat()
    return last is None or last < timezone.now() - patience


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
