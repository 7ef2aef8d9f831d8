"""Acts: one view asks before each and performs it; menus offer those that are possible."""

import pytest

from hits.models import Round
from tests.factories import make_assignment, make_round

CLOSE = "/rounds/round-1/close/"
PAUSE = "/rounds/round-1/pause/"


@pytest.fixture
def round(db) -> Round:
    return make_round(hits=2)


def test_an_act_asks_first_and_then_returns_to_where_the_person_came_from(researcher, round):
    page = researcher.get(PAUSE, headers={"Referer": "http://testserver/rounds/?page=2"})
    assert 'name="back" value="/rounds/?page=2"' in page.text
    answer = researcher.post(PAUSE, {"back": "/rounds/?page=2"})
    assert answer.url == "/rounds/?page=2"
    assert Round.objects.get().paused_at


@pytest.mark.parametrize(
    "back", ["https://elsewhere.example/rounds/", "//elsewhere.example/", "javascript:alert(1)", PAUSE]
)
def test_an_act_never_leads_to_another_site_or_back_to_itself(researcher, round, back):
    assert researcher.post(PAUSE, {"back": back}).url == "/rounds/round-1/"


def test_a_refused_act_says_why_and_changes_nothing(researcher, round):
    Round.objects.update(published_at=None)
    refused = researcher.post(CLOSE)
    assert refused.status_code == 409
    assert "draft" in refused.text
    assert Round.objects.get().closed_at is None


def test_an_act_needs_its_permission_and_a_login(client, member, round):
    assert member.get(CLOSE).status_code == member.post(CLOSE).status_code == 403
    assert client.post(CLOSE).url.startswith("/login/")


def test_what_follows_from_an_act_is_said_with_its_numbers(researcher, round):
    make_assignment(round.hits.first().seats.get())
    assert "1 worker is judging now" in researcher.get(CLOSE).text
