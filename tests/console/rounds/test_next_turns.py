"""The page of the next turn: what teaches, who proposes, and the job that plans it."""

import pytest

from core.models import Job
from dataset.jobs import turn as turn_task
from hits.models import Round
from mitl.models import Annotator
from tests.dataset.releasing import release
from tests.dataset.turning import first_round

pytestmark = pytest.mark.django_db
URL = "/rounds/first/turn/"


@pytest.fixture
def first(tmp_path) -> Round:
    return first_round(tmp_path)


def test_a_round_in_no_version_has_no_next_turn(first, researcher):
    assert URL not in researcher.get("/rounds/first/").text
    refused = researcher.post(URL, {"name": "second"})
    assert (refused.status_code, "Release it" in refused.text) == (409, True)
    assert not Job.objects.exists()


def test_the_page_plans_the_turn_by_one_job(first, researcher):
    release(first)
    assert URL in researcher.get("/rounds/first/").text
    for _ in range(2):  # a second click
        sent = researcher.post(URL, {"name": "second", "audit_share": "0.5"})
    job = Job.objects.get()
    assert sent.headers["Location"] == f"/jobs/{job.pk}/?follow=yes"
    turn_task(str(job.pk))
    made = Round.objects.get(name="second")
    assert (made.pool.beyond, Annotator.objects.filter(name="seen-v1").exists()) == ("v1", True)
    assert 'beyond <a href="/versions/v1/' in researcher.get("/rounds/second/").text


def test_a_name_that_is_taken_and_a_wrong_choice_are_refused(first, researcher):
    release(first)
    for fields, message in [({"name": "first"}, "round first"), ({"name": "second", "annotators": ["x"]}, "x is not")]:
        answer = researcher.post(URL, fields)
        assert (answer.status_code >= 409, message in answer.text) == (True, True), fields
    assert not Job.objects.exists()
