"""An annotator of any kind is added from a page, by the options that its kind declares."""

import json
from io import BytesIO

import numpy as np
import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import OperationalError

from console.upload_jobs import add_annotator
from core.models import Event, Job
from mitl import registration
from mitl.annotators import kind_of, kinds
from mitl.hosting.option_fields import ServerText
from mitl.models import Annotator
from tests.console.collections.zip_files import zipped_as
from tests.factories import make_collection

pytestmark = pytest.mark.django_db


PAGE = "/add-annotator/"


def add(client, kind: str, **fields):
    return client.post(f"{PAGE}?kind={kind}", {"name": "mine", **fields})


@pytest.mark.parametrize("kind", kinds())
def test_the_form_of_a_kind_has_its_options_and_adds_it_with_their_defaults(researcher, jobs_run, kind):
    shown = researcher.get(f"{PAGE}?kind={kind}").content.decode()
    offered = {name for name, option in kind_of(kind).options.items() if not isinstance(option, ServerText)}
    assert {name for name in kind_of(kind).options if f'name="option_{name}"' in shown} == offered
    if kind_of(kind).checkpoint == "required":
        return
    with jobs_run():
        add(researcher, kind)
    assert Job.objects.get().state == "done"
    added = Annotator.objects.get()
    assert (added.kind, added.options) == (kind, {name: one.initial for name, one in kind_of(kind).options.items()})
    assert Event.objects.get(verb="added").actor == "researcher"


def test_options_that_were_changed_are_stored_and_invalid_ones_are_refused_at_their_field(researcher, jobs_run):
    refused = add(researcher, "embedding", option_dim="1")
    assert (refused.status_code, "option_dim" in refused.context["form"].errors) == (422, True)
    with jobs_run():
        add(researcher, "embedding", option_dim="16", option_text="phrases")
    assert Annotator.objects.get().options == {"image": "patches", "text": "phrases", "dim": 16}


def test_files_of_the_server_and_keys_cannot_be_set_on_a_page(researcher, jobs_run):
    with jobs_run():
        add(researcher, "vlm", option_key_variable="SECRET_KEY", option_endpoint="https://evil.example/v1")
        add(researcher, "vse", name="other", option_trunk_from="/etc/passwd", option_vocabulary="/etc/passwd")
    mine = Annotator.objects.get(name="mine").options
    assert (mine["key_variable"], mine["endpoint"]) == ("", "http://localhost:8000/v1")
    other = Annotator.objects.get(name="other").options
    assert (other["trunk_from"], other["vocabulary"]) == ("", "")


def test_uploaded_lists_become_an_annotator_with_its_source(researcher, jobs_run):
    lists = json.dumps({"i2t": {"0": ["1"]}, "t2i": {"0": ["0"]}}).encode()
    with jobs_run():
        add(researcher, "files", checkpoint=SimpleUploadedFile("lists.json", lists), source="our lab", licence="MIT")
    added = Annotator.objects.get()
    assert (added.kind, added.source, added.licence, bool(added.checksum)) == ("files", "our lab", "MIT", True)


@pytest.mark.parametrize(("kind", "file"), [("clip", "folder.zip"), ("pvse", "weights.pth")])
def test_invalid_weights_fail_in_one_line_and_add_nothing(researcher, jobs_run, settings, kind, file):
    content = zipped_as({"clip/config.json": b"{}"}) if file == "folder.zip" else b"no weights"
    with jobs_run():
        add(researcher, kind, checkpoint=SimpleUploadedFile(file, content))
    job = Job.objects.get()
    assert job.state == "failed"
    assert not any(text in job.message for text in ("\n", "Unexpected", str(settings.FILE_CACHE)))
    assert not Annotator.objects.exists()


def test_a_vocabulary_without_weights_a_taken_name_and_an_unknown_kind_are_refused(researcher):
    words = SimpleUploadedFile("words.json", b"{}")
    Annotator.objects.create(name="mine", kind="overlap")
    refused = add(researcher, "pvse", option_vocabulary=words).context["form"].errors
    assert refused.keys() == {"name", "option_vocabulary"}
    assert "checkpoint" in add(researcher, "files").context["form"].errors
    assert add(researcher, "magic").status_code == 404
    assert not Job.objects.exists()


# Bring your own embeddings: a file becomes an annotator, or is refused in one line and not kept


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
    sent = {"collection": "zoo", "checkpoint": SimpleUploadedFile(name, content)}
    return add(client, "files", name=annotator, **sent)


@pytest.mark.slow
def test_uploaded_embeddings_become_an_annotator_that_searches(researcher, zoo, jobs_run):
    with jobs_run():
        answer = upload(researcher, arrays(zoo))
    job = Job.objects.get()
    assert answer.url == f"/jobs/{job.pk}/?follow=yes"
    assert (job.state, job.message.split(":")[0]) == ("done", "Annotator mine is added. It can search")
    assert researcher.get(answer.url).url == "/annotators/mine/"
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
