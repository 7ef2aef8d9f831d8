"""Judgments that were given elsewhere, uploaded into a round: all of them or none."""

import json
from io import BytesIO
from zipfile import ZipFile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Judgment
from core.events import subject_of
from core.models import Event, Job
from dataset.exports import export_version
from hits.models import Round
from tests.factories import make_round


@pytest.fixture
def exported(site, tmp_path) -> bytes:
    """The judgments of the released round, as an export writes them."""
    return export_version(site.version, format="judgments-long", out=tmp_path)[0].read_bytes()


@pytest.fixture
def again(site) -> Round:
    """A round of the same pairs that nobody answered."""
    return make_round(site.collection, "again", published=False)


@pytest.fixture
def upload(researcher, django_capture_on_commit_callbacks):
    """Upload a file into a round; the page of its job."""

    def send(content: bytes, round: str = "again", *, name: str = "judgments.csv", **fields: object):
        with django_capture_on_commit_callbacks(execute=True):
            file = SimpleUploadedFile(name, content)
            answer = researcher.post(f"/rounds/{round}/judgments/", {"file": file, **fields}, follow=True)
        return researcher.get(answer.request["PATH_INFO"])

    return send


def test_uploaded_judgments_become_the_rounds_once(upload, again, exported):
    page = upload(exported)
    n = Judgment.objects.filter(assignment__hit__round=again).count()
    assert n == 4
    assert "4 judgments of 1 worker imported in 1 answer set." in page.text
    assert 'href="/rounds/again/"' in page.text
    assert Event.objects.get(verb="imported", subject=subject_of(again)).actor == "researcher"
    assert "All 4 judgments were imported before; nothing is changed." in upload(exported).text
    assert Judgment.objects.filter(assignment__hit__round=again).count() == 4


def test_a_file_with_an_error_is_told_and_changes_nothing(upload, again, exported):
    page = upload(exported.replace(b"done", b"other"), from_round="done")
    assert "has no round done" in page.text
    assert not Judgment.objects.filter(assignment__hit__round=again).exists()
    assert Job.objects.get().state == "failed"


def zipped(**files: object) -> bytes:
    """A zip file of files with this JSON."""
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, json.dumps(content))
    return packed.getvalue()


def test_a_file_of_another_tool_is_read_with_the_choices_of_the_form(upload, again):
    [image, caption] = again.hits.get().items.values_list("image__key", "caption__key")[0]
    users = {
        "q.responses": ["Sure", "No"],
        "q.responses.users": ["a", "b"],
        "q.responses.status": ["submitted", "draft"],
    }
    records = [{"id": "r", "picture": f"http://host/{image}.jpg", "caption": caption} | users]
    fields = {"format": "argilla", "image": "picture", "answer": "q", "levels": "Sure=1"}
    page = upload(json.dumps(records).encode(), name="records.json", **fields)
    assert "1 judgment of 1 worker imported in 1 answer set; 1 answer was skipped or not submitted." in page.text
    assert Judgment.objects.get(assignment__hit__round=again).level == 1


def test_the_folder_of_a_potato_project_comes_as_a_zip_file(upload, again):
    [image, caption] = again.hits.get().items.values_list("image__key", "caption__key")[0]
    items = SimpleUploadedFile("items.json", json.dumps([{"id": "p", "image": image, "caption": caption}]).encode())
    state = {"instance_id_to_label_to_value": {"p": [[{"schema": "q", "name": "1"}, "1"]]}}
    users = {f"{user}/user_state.json": {"user_id": user, **state} for user in ("ada", "ben")}
    page = upload(zipped(**users), name="annotations.zip", items=items)
    assert "2 judgments of 2 workers imported in 2 answer sets." in page.text


def test_a_zipped_file_is_read_as_it_is(upload, again):
    page = upload(zipped(**{"records.json": [{"a": 1}]}), name="records.zip")
    assert "records.json begins with a, not as a file of one of the formats" in page.text


def test_levels_that_cannot_be_read_keep_the_form(researcher, again):
    file = SimpleUploadedFile("records.json", b"[]")
    page = researcher.post("/rounds/again/judgments/", {"file": file, "levels": "Yes"})
    assert (page.status_code, "Use answer=level with commas between them" in page.text) == (422, True)


def test_a_file_of_another_kind_keeps_the_form(researcher, again):
    file = SimpleUploadedFile("judgments.pdf", b"%PDF")
    page = researcher.post("/rounds/again/judgments/", {"file": file, "from_round": "done"})
    assert (page.status_code, "Choose a file that ends in .csv" in page.text) == (422, True)
    assert page.context["form"]["from_round"].value() == "done"


def test_an_open_round_takes_none_and_says_so(researcher, site):
    assert "The round is open" in researcher.get("/rounds/open/judgments/").text
    assert "/rounds/open/judgments/" not in researcher.get("/rounds/open/").text
    assert "/rounds/draft/judgments/" in researcher.get("/rounds/draft/").text
