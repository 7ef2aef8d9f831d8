"""An annotator of any kind is added from a page, by the options that its kind declares."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from core.models import Event, Job
from mitl.annotators import kind_of, kinds
from mitl.hosting.option_fields import ServerText
from mitl.models import Annotator
from tests.console.collections.zip_files import zipped_as

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
