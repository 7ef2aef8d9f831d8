"""The page on which a draft is rehearsed with a simulated crowd."""

import pytest

from annotation.models import Assignment, Judgment, Payment, Worker
from hits.models import Round
from tests.factories import make_round

PAGE = "/rounds/draft/rehearsals/"
CROWD = {"workers": "4", "profile": "careful"}


@pytest.fixture
def draft(db) -> Round:
    return make_round(name="draft", hits=2, published=False)


def test_a_crowd_rehearses_and_its_figures_can_be_discarded(researcher, draft, django_capture_on_commit_callbacks):
    assert "Nobody has rehearsed the round yet" in researcher.get(PAGE).text
    with django_capture_on_commit_callbacks(execute=True):
        answer = researcher.post(PAGE, CROWD)
    assert researcher.get(answer.url).url == PAGE
    page = researcher.get(PAGE)
    assert page.context["rehearsed"]["workers"] == 4
    assert "verdicts right" in page.text
    for model in (Assignment, Judgment, Payment, Worker):
        assert not model.objects.exists()
    researcher.post(PAGE, {"discard": "yes"})
    assert "Nobody has rehearsed the round yet" in researcher.get(PAGE).text


def test_an_invalid_crowd_is_told_at_its_field(researcher, draft):
    refused = researcher.post(PAGE, CROWD | {"workers": "0"})
    assert (refused.status_code, "greater than or equal to 1" in refused.text) == (422, True)


def test_a_published_round_is_not_rehearsed(researcher, db):
    make_round(name="draft")
    assert researcher.get(PAGE).url == "/rounds/draft/"
