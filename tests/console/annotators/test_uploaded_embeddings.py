"""Bring your own embeddings: a file becomes an annotator, or is refused in one line and not kept."""

from io import BytesIO

import numpy as np
import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import OperationalError

from console.upload_jobs import add_annotator
from core.models import Job
from mitl import registration
from mitl.models import Annotator
from tests.factories import make_collection

pytestmark = pytest.mark.django_db
PAGE = "/collections/zoo/embeddings/"


@pytest.fixture
def zoo():
    return make_collection(images=3)


def arrays(zoo, *, images: int | None = None) -> bytes:
    keys = [list(rows.values_list("key", flat=True)) for rows in (zoo.images, zoo.captions)]
    keys[0] = keys[0][:images]
    file, rng = BytesIO(), np.random.default_rng(0)
    vectors = [rng.random((len(side), 4), np.float32) for side in keys]
    np.savez(file, image_ids=keys[0], images=vectors[0], caption_ids=keys[1], captions=vectors[1])
    return file.getvalue()


def upload(client, content: bytes, name: str = "mine.npz", annotator: str = "mine"):
    return client.post(PAGE, {"name": annotator, "file": SimpleUploadedFile(name, content)})


@pytest.mark.slow
def test_uploaded_embeddings_become_an_annotator_that_searches(researcher, zoo, jobs_run):
    with jobs_run():
        answer = upload(researcher, arrays(zoo))
    job = Job.objects.get()
    assert answer.url == f"/jobs/{job.pk}/"
    assert (job.state, job.message.split(":")[0]) == ("done", "Annotator mine is added. It can search")
    assert "/annotators/mine/" in researcher.get(answer.url).content.decode()
    call_command("retrieve", "zoo", "--annotators=mine", "--depth=2")
    assert Annotator.objects.get().retrievals.get().depth == 2
    add_annotator(str(job.pk))  # delivered twice
    assert Annotator.objects.count() == 1
    assert not default_storage.exists(job.params["files"]["checkpoint"]["path"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no zip", "mine.npz does not contain the arrays image_ids, images, caption_ids, captions"),
        (2, "mine.npz has no embedding of 1 images of zoo: 2. Embed the whole gallery"),
    ],
)
def test_a_file_that_is_not_valid_fails_in_one_line_and_is_not_kept(researcher, zoo, jobs_run, content, message):
    with jobs_run():
        upload(researcher, content if isinstance(content, bytes) else arrays(zoo, images=content))
    job = Job.objects.get()
    assert (job.state, job.message[: len(message)]) == ("failed", message)
    assert "\n" not in job.message
    assert not default_storage.exists(job.params["files"]["checkpoint"]["path"])
    assert not Annotator.objects.exists()


def test_a_job_that_lost_the_database_still_has_the_file_when_it_is_sent_again(researcher, zoo, monkeypatch):
    upload(researcher, arrays(zoo))
    job = Job.objects.get()
    with monkeypatch.context() as patch:
        patch.setattr(registration, "add_annotator", cut_off)
        with pytest.raises(OperationalError):
            add_annotator(str(job.pk))
    Job.objects.update(state="queued")
    add_annotator(str(job.pk))
    assert Annotator.objects.get().name == "mine"


def cut_off(*_, **__):
    raise OperationalError("the connection was closed")
