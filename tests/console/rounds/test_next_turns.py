"""The page of the next turn: what teaches, who proposes, and the job that plans it."""

import pytest

from core.models import Job
from dataset.jobs import turn as turn_task
from hits.models import Round
from mitl.models import Annotator
from tests.dataset.turning import first_round, release

pytestmark = pytest.mark.django_db
URL = "/rounds/first/turn/"


@pytest.fixture
def first(tmp_path) -> Round:
    return first_round(tmp_path)


def test_a_round_in_no_version_has_no_next_turn(first, researcher):
    assert URL not in researcher.get("/rounds/first/").text
    page = researcher.get(URL).text
    assert "Nothing to learn from yet" in page
    assert "Release it first" in page
    assert researcher.post(URL, {"name": "second"}).status_code == 422
    assert not Job.objects.exists()


def test_the_page_plans_the_turn_by_a_job(first, researcher):
    release("v1", first)
    assert URL in researcher.get("/rounds/first/").text
    assert "v1 teaches the annotators" in researcher.get(URL).text
    sent = researcher.post(URL, {"name": "second", "audit_share": "0.5"})
    job = Job.objects.get()
    assert sent.headers["Location"] == f"/jobs/{job.pk}/?follow=yes"
    turn_task(str(job.pk))
    job.refresh_from_db()
    made = Round.objects.get(name="second")
    assert job.message == f"Round second is packed: {made.hits.count()} HITs of pairs beyond v1."
    assert Annotator.objects.filter(name="seen-v1").exists()
    assert "v1: the pairs that it knows are left out" in researcher.get("/pools/second-pool/").text
    assert '2, beyond <a href="/versions/v1/">v1</a>' in researcher.get("/rounds/second/").text


def test_two_clicks_open_one_job(first, researcher):
    release("v1", first)
    for _ in range(2):
        assert researcher.post(URL, {"name": "second"}).status_code == 302
    assert Job.objects.count() == 1


def test_a_name_that_is_taken_and_a_wrong_share_are_told(first, researcher):
    release("v1", first)
    for fields, told in [
        ({"name": "first"}, "There is a round first already"),
        ({"name": "second", "audit_share": "2"}, "less than or equal to 1"),
        ({"name": "second", "annotators": ["nobody"]}, "nobody is not one of the available choices"),
    ]:
        answer = researcher.post(URL, fields)
        assert (answer.status_code, told in answer.text) == (422, True), fields
    assert not Job.objects.exists()


def test_a_reviewer_is_not_led_to_the_page(first, reviewer):
    release("v1", first)
    assert URL not in reviewer.get("/rounds/first/").text
    assert reviewer.get(URL).status_code == 403
