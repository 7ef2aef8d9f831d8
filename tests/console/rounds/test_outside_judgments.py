"""Judgments that were given elsewhere, uploaded into a round: all of them or none."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Judgment
from core.events import subject_of
from core.models import Event, Job
from dataset.exports import export_version
from hits.models import Round
from tests.console.collections.zip_files import zipped_as
from tests.factories import make_round


@pytest.fixture
def exported(site, tmp_path) -> bytes:
    """The judgments of the released round, as an export writes them."""
    return export_version(site.version, format="judgments-long", out=tmp_path)[0].read_bytes()


@pytest.fixture
def again(site) -> Round:
    """A round of the same pairs without answers."""
    return make_round(site.collection, "again", published=False)


@pytest.fixture
def upload(researcher, commit):
    """Upload a file into a round; the page of its job."""

    def send(content: bytes, round: str = "again", *, name: str = "judgments.csv", **fields: object):
        with commit(execute=True):
            file = SimpleUploadedFile(name, content)
            answer = researcher.post(f"/rounds/{round}/judgments/", {"file": file, **fields}, follow=True)
        return researcher.get(answer.request["PATH_INFO"])

    return send


def test_uploaded_judgments_become_the_rounds_once(upload, again, exported):
    page = upload(exported)
    assert "4 judgments of 1 worker" in page.text
    assert 'href="/rounds/again/"' in page.text
    assert Event.objects.get(verb="imported", subject=subject_of(again)).actor == "researcher"
    assert "imported before" in upload(exported).text
    assert Judgment.objects.filter(assignment__hit__round=again).count() == 4


def test_a_file_with_an_error_fails_the_job_and_changes_nothing(upload, again, exported):
    assert "no round done" in upload(exported.replace(b"done", b"other"), from_round="done").text
    assert not Judgment.objects.filter(assignment__hit__round=again).exists()
    assert Job.objects.get().state == "failed"


def test_a_file_of_another_tool_is_read_with_the_choices_of_the_form(upload, again):
    [image, caption] = again.hits.get().items.values_list("image__key", "caption__key")[0]
    users = {"q.responses": ["Sure", "No"], "q.responses.users": ["a", "b"]}
    users["q.responses.status"] = ["submitted", "draft"]
    records = [{"id": "r", "picture": f"http://host/{image}.jpg", "caption": caption} | users]
    fields = {"format": "argilla", "image": "picture", "answer": "q", "levels": "Sure=1"}
    upload(json.dumps(records).encode(), name="records.json", **fields)
    assert Judgment.objects.get(assignment__hit__round=again).level == 1


def test_the_folder_of_a_potato_project_comes_as_a_zip_file(upload, again):
    [image, caption] = again.hits.get().items.values_list("image__key", "caption__key")[0]
    items = SimpleUploadedFile("items.json", json.dumps([{"id": "p", "image": image, "caption": caption}]).encode())
    state = {"instance_id_to_label_to_value": {"p": [[{"schema": "q", "name": "1"}, "1"]]}}
    users = {f"{user}/user_state.json": {"user_id": user, **state} for user in ("ada", "ben")}
    folder = zipped_as({path: json.dumps(one).encode() for path, one in users.items()})
    upload(folder, name="annotations.zip", items=items)
    assert Judgment.objects.filter(assignment__hit__round=again).count() == 2


def test_an_open_round_takes_none_and_says_so(researcher, site):
    assert "The round is open" in researcher.get("/rounds/open/judgments/").text
    assert "/rounds/open/judgments/" not in researcher.get("/rounds/open/hits/").text
    assert "/rounds/draft/judgments/" in researcher.get("/rounds/draft/hits/").text
