"""Files that are uploaded stay as long as a job needs them."""

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile

from console import uploads
from console.uploads import remove_uploads, start_with_uploads
from core.models import Job
from core.work import jobs

pytestmark = pytest.mark.django_db
TASK = "console.tasks.import_collection"


def start(person, collection: str) -> Job:
    files = {
        "captions": SimpleUploadedFile("c.json", b"{}"),
        "images": SimpleUploadedFile("pictures.zip", b"many"),
    }
    return start_with_uploads("Import", TASK, {"collection": collection}, files, by=person)


def stored(job: Job) -> list[bool]:
    return [default_storage.exists(described["path"]) for described in job.params["files"].values()]


def end(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(state="failed")
    remove_uploads(str(job.pk))


def test_the_same_files_for_the_same_end_are_one_job(person):
    assert start(person, "zoo") == start(person, "zoo")


def test_files_go_with_the_last_job_that_needs_them(person):
    first, second = start(person, "zoo"), start(person, "farm")
    end(first)
    assert stored(second) == [True, True]
    end(second)
    assert stored(second) == [False, False]


def test_files_that_another_job_removes_while_they_come_in_are_stored_again(person, monkeypatch, commit):
    first, store = start(person, "zoo"), uploads.store_upload

    def store_slowly(upload, folder):
        if upload.name == "pictures.zip":
            end(first)
        return store(upload, folder)

    monkeypatch.setattr(uploads, "store_upload", store_slowly)
    monkeypatch.setattr(jobs, "send", lambda job: None)  # the job would read the files, and remove them at its end
    with commit(execute=True):
        second = start(person, "farm")
    assert stored(second) == [True, True]
