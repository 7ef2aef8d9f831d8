"""Uploaded files: stored under their checksum, opened by the job that reads them, and removed when it has ended."""

import hashlib
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from typing import Any

from celery import Task
from django.contrib.auth.models import User
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from core.errors import CounterpartError, some_of
from core.files.stored_files import StoredFile, local_copy, remove_file, scratch_folder
from core.files.upload_files import FOLDER, needed_uploads, upload_at
from core.models import Job
from core.work.jobs import JobProgress, job, open_once

LARGEST_UPLOAD = 4 * 1024**3  # bytes of a file
ID = re.compile(r"[0-9a-f]{64}-[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")  # of a file that a program sent
Files = Mapping[str, Path]


def store_upload(upload: UploadedFile, folder: str) -> StoredFile:
    """Store an uploaded file in a folder of the storage, unless it is there; its suffix is kept."""
    sha256 = hashlib.sha256()
    for chunk in upload.chunks():
        sha256.update(chunk)
    path = f"{folder}/{sha256.hexdigest()}{Path(str(upload.name)).suffix.lower()}"
    _keep(upload, path)
    return StoredFile(path, sha256.hexdigest())


def _keep(upload: UploadedFile, path: str) -> None:
    if not default_storage.exists(path):
        upload.seek(0)
        default_storage.save(path, File(upload))


def start_with_uploads(
    title: str, task: str, params: Mapping[str, Any], uploads: Mapping[str, UploadedFile | None], *, by: User
) -> Job:
    """Store the files and open a job that reads them, or return the unfinished one of the same files and parameters."""
    given = {name: upload for name, upload in uploads.items() if upload}
    described = {
        name: {"name": short_name(str(upload.name)), "path": store_upload(upload, FOLDER).path}
        for name, upload in given.items()
    }
    wanted = {**params, "files": described}
    with transaction.atomic():
        for name, upload in given.items():
            # Another job that read it may have ended meanwhile. Once committed, and before the new job is sent.
            transaction.on_commit(partial(_keep, upload, described[name]["path"]))
        return open_once(title, task, wanted, lock=by, by=by)


def upload_id(sha256: str, name: str) -> str:
    """Return the id of a file that a program sends: its SHA-256, and its name, which readers look at."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", short_name(name)).lstrip(".-")
    return f"{sha256}-{plain or 'file'}"


def stored_upload(upload: str) -> StoredFile:
    """Return the file that a program sent. Raises CounterpartError if it was never sent or is removed."""
    path = f"{FOLDER}/{upload}"
    if not ID.fullmatch(upload) or not default_storage.exists(path):
        raise CounterpartError(
            f"Unknown upload {upload!r}. Send the file to /uploads; it is kept until a job has read it, or for a day."
        )
    return upload_at(path)


def start_with_sent(title: str, task: str, params: Mapping[str, Any], sent: Mapping[str, str], *, by: User) -> Job:
    """Open a job that reads files that a program sent, by their ids, or return the unfinished one of the same files.

    Raises CounterpartError as ``stored_upload`` does.
    """
    described = {
        name: {"name": upload.partition("-")[2], "path": stored_upload(upload).path}
        for name, upload in sent.items()
        if upload
    }
    return open_once(title, task, {**params, "files": described}, lock=by, by=by)


def start_with_files_of(job: Job, title: str, task: str, params: Mapping[str, Any], *, by: User) -> Job:
    """Open a job that reads the files of another one, which has ended. Raises CounterpartError where they are gone."""
    files = job.params["files"]
    if gone := [file["name"] for file in files.values() if not default_storage.exists(file["path"])]:
        raise CounterpartError(f"{some_of(gone)} is not kept any more. Upload it again.")
    return open_once(title, task, {**params, "files": files}, lock=by, by=by)


def upload_job(
    name: str, *, needs: tuple[str, ...], acts: bool = False, keeps: bool = False
) -> Callable[[Callable[[Job, Files, JobProgress], str]], Task]:
    """Make a Celery task, as ``core.work.jobs.job`` does, of work on the files that came with a job. The files are
    removed when the job has ended; one that ``keeps`` them leaves them for a day when it is done."""

    def make(work: Callable[[Job, Files, JobProgress], str]) -> Task:
        @wraps(work)
        def with_files(job: Job, progress: JobProgress) -> str:
            with opened_uploads(job) as files:
                return work(job, files, progress)

        return job(name, needs=needs, acts=acts, last=partial(remove_uploads, unless_done=keeps))(with_files)

    return make


@contextmanager
def local_upload(upload: UploadedFile) -> Iterator[Path]:
    """Give a small uploaded file under its own name, until the body ends."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / short_name(str(upload.name))
        with path.open("wb") as file:
            for chunk in upload.chunks():
                file.write(chunk)
        yield path


@contextmanager
def opened_uploads(job: Job) -> Iterator[dict[str, Path]]:
    """Give the files of a job by field, each under its own name, in a folder of its own that is deleted afterwards.

    The folder is removed from the message of a CounterpartError.
    """
    with scratch_folder() as folder:
        paths = {}
        for field, described in job.params["files"].items():
            paths[field] = folder / field / described["name"]  # readers look at its name and suffix
            paths[field].parent.mkdir()
            paths[field].symlink_to(local_copy(upload_at(described["path"])))
        try:
            yield paths
        except CounterpartError as error:
            message = str(error)
            for path in paths.values():
                message = message.replace(f"{path.parent}/", "").replace(str(path.parent), path.name)
            raise CounterpartError(message) from error


def remove_uploads(job_id: str, *, unless_done: bool = False) -> None:
    """Remove the files of a job that has ended, those that another job still needs excepted; with ``unless_done`` only
    those of a job that failed or was cancelled."""
    job = Job.objects.get(pk=job_id)
    if job.is_live or (unless_done and job.state == Job.State.DONE):
        return
    needed = needed_uploads()
    for described in job.params["files"].values():
        if described["path"] not in needed:
            remove_file(upload_at(described["path"]))


def short_name(name: str) -> str:
    """Return the name of a file, short enough for every file system."""
    given = Path(name)
    return f"{given.stem[:60]}{given.suffix[:10]}"
