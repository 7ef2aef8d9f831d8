"""Where uploaded files wait for the job that reads them, and for how long."""

from datetime import timedelta
from pathlib import PurePath

from django.core.files.storage import default_storage
from django.utils import timezone

from core.files.stored_files import StoredFile, files_in, remove_file
from core.models import Job
from core.work.jobs import LIVE

FOLDER = "uploads"
KEPT = timedelta(days=1)


def upload_at(path: str) -> StoredFile:
    """Return the uploaded file at a path of the storage: its name begins with its SHA-256."""
    return StoredFile(path, PurePath(path).name[:64])


def needed_uploads() -> set[str]:
    """Return the paths of the files that unfinished jobs read."""
    live = Job.objects.filter(state__in=LIVE, params__has_key="files").values_list("params", flat=True)
    return {described["path"] for params in live for described in params["files"].values()}


def remove_unused_uploads() -> int:
    """Remove the files that are a day old or older and that no job needs. Return their number."""
    before = timezone.now() - KEPT
    old = [path for path in files_in(FOLDER) if default_storage.get_modified_time(path) < before]
    unused = set(old) - needed_uploads()
    for path in unused:
        remove_file(upload_at(path))
    return len(unused)
