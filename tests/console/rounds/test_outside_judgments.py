"""Judgments that were given elsewhere, uploaded into a round: all of them or none."""

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

    def send(content: bytes, round: str = "again", **fields: str):
        with django_capture_on_commit_callbacks(execute=True):
            file = SimpleUploadedFile("judgments.csv", content)
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


def test_a_file_of_another_kind_keeps_the_form(researcher, again):
    file = SimpleUploadedFile("judgments.pdf", b"%PDF")
    page = researcher.post("/rounds/again/judgments/", {"file": file, "from_round": "done"})
    assert (page.status_code, "Choose a file that ends in .csv" in page.text) == (422, True)
    assert page.context["form"]["from_round"].value() == "done"


def test_an_open_round_takes_none_and_says_so(researcher, site):
    assert "The round is open" in researcher.get("/rounds/open/judgments/").text
    assert "/rounds/open/judgments/" not in researcher.get("/rounds/open/").text
    assert "/rounds/draft/judgments/" in researcher.get("/rounds/draft/").text
