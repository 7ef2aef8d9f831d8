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


def test_a_crowd_rehearses_and_its_figures_can_be_discarded(researcher, draft, commit):
    assert researcher.get(PAGE).context["rehearsed"] is None
    with commit(execute=True):
        answer = researcher.post(PAGE, CROWD)
    assert researcher.get(answer.url).url == PAGE
    rehearsed = researcher.get(PAGE).context["rehearsed"]
    assert (rehearsed["workers"], 0 <= rehearsed["verdicts_right"] <= 1) == (4, True)
    for model in (Assignment, Judgment, Payment, Worker):
        assert not model.objects.exists()
    researcher.post(PAGE, {"discard": "yes"})
    assert researcher.get(PAGE).context["rehearsed"] is None


def test_an_invalid_crowd_is_refused_at_its_field(researcher, draft):
    refused = researcher.post(PAGE, CROWD | {"workers": "0"})
    assert (refused.status_code, "workers" in refused.context["form"].errors) == (422, True)


def test_a_published_round_is_not_rehearsed(researcher, db):
    make_round(name="draft")
    assert researcher.get(PAGE).url == "/rounds/draft/"
