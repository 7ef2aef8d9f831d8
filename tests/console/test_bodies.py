"""How much a visitor may send, and where; files that are uploaded stay as long as a job needs them."""

from pathlib import Path
from typing import Annotated

import pytest
from django import forms
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from console import uploads
from console.api.operations import read_body
from console.uploads import remove_uploads, start_with_uploads
from core.errors import CounterpartError
from core.models import Job
from core.parameters import Parameters
from core.web.middleware import LARGEST_BODY
from core.work import jobs

pytestmark = pytest.mark.django_db
TOO_MUCH = {"note": "x" * LARGEST_BODY}


@pytest.fixture
def unread(monkeypatch):
    """Fails the test if a body is read."""

    def fail(self, *args):
        raise AssertionError("the body was read")

    monkeypatch.setattr("django.test.client.FakePayload.read", fail)


@pytest.mark.parametrize("address", ["/login/", "/judge/me/x/take/", "/release/"])
def test_a_stranger_who_sends_too_much_is_refused_before_anything_is_read(stranger, unread, address):
    answer = stranger.post(address, TOO_MUCH)
    assert (answer.status_code, "Too much was sent" in answer.text) == (413, True)


def test_an_upload_of_a_stranger_is_refused_before_it_is_read(stranger, site, unread):
    address = reverse("run_register", args=[site.collection.name])
    assert stranger.post(address, {"file": SimpleUploadedFile("a.json", b"x" * LARGEST_BODY)}).status_code == 413


def test_pages_that_take_uploads_take_larger_ones_from_people_who_are_logged_in(researcher, releaser, site):
    rankings = reverse("run_register", args=[site.collection.name])
    upload = {"file": SimpleUploadedFile("a.json", b"x" * LARGEST_BODY)}
    assert researcher.post(rankings, upload).status_code == 302
    payments = reverse("payments_mark", args=["open"])
    assert releaser.post(payments, {"list": SimpleUploadedFile("a.csv", b"x" * 5_000_000)}).status_code == 409
    assert releaser.post(payments, {"list": SimpleUploadedFile("a.csv", b"x" * 5_100_000)}).status_code == 413


def test_a_body_of_unknown_length_is_refused(stranger):
    assert stranger.post("/login/", {}, headers={"transfer-encoding": "chunked"}).status_code == 411


class PlaceField(forms.Field):
    """Text that becomes a path."""

    def to_python(self, value: str) -> Path:
        return Path(value)


class Shearing(Parameters):
    """Parameters whose description does not say that a text becomes a path."""

    flock: Annotated[str | Path, PlaceField(help_text="flock to shear")]


def test_a_text_that_becomes_a_path_is_refused():
    with pytest.raises(CounterpartError, match="/etc/passwd"):
        read_body(Shearing, {"flock": "/etc/passwd"}, {})


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
