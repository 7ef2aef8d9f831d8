"""The page that adds HITs to a round: the cost first, then what was shown and nothing else."""

import pytest

from tests.evaluation.registering import register
from tests.evaluation.worlds import AUDIT, judge_all, known_pool, published
from tests.hits.pools import pack

pytestmark = pytest.mark.django_db
URL = "/rounds/audit/add/"


@pytest.fixture
def audit(tmp_path):
    pool = known_pool()
    register(pool, tmp_path)
    return published(pack("audit", pool, **AUDIT))


def shown_by(client, **fields) -> str:
    """Return the plan that the page shows for these fields."""
    page = client.post(URL, fields).text
    return page.partition('name="shown" value="')[2].partition('"')[0]


def test_the_page_shows_the_cost_and_adds_what_it_showed(audit, researcher):
    form = researcher.get(URL).text
    assert "The audit judges 50% of the queries" in form
    assert "Show the cost" in form
    page = researcher.post(URL, {"models": ["new"]}).text
    assert "the first items of new" in page
    assert audit.top_ups.count() == 0
    shown = shown_by(researcher, models=["new"])
    assert researcher.post(URL, {"models": ["new"], "shown": shown}).status_code == 302
    assert audit.top_ups.get().rankings.keys() == {"new"}
    assert "HITs for the first items of new" in researcher.get("/rounds/audit/").text


def test_a_second_click_and_fields_changed_after_the_cost_was_shown_add_nothing(audit, researcher):
    shown = shown_by(researcher, audit_share="0.75")
    changed = researcher.post(URL, {"audit_share": "0.9", "shown": shown})
    assert "an audit of 90% of the queries" in changed.text
    assert audit.top_ups.count() == 0
    for status in (302, 422):
        assert researcher.post(URL, {"audit_share": "0.75", "shown": shown}).status_code == status
    assert audit.top_ups.count() == 1


def test_wrong_shares_and_models_are_told_and_change_nothing(audit, researcher):
    for fields, told in [
        ({"audit_share": "0.5"}, "judges 50% of the queries. Continue it to more"),
        ({"audit_share": "2"}, "less than or equal to 1"),
        ({"models": ["a"]}, "a is not one of the available choices"),
        ({"models": ["new"], "audit_share": "0.75"}, "Top up one after the other"),
    ]:
        answer = researcher.post(URL, fields)
        assert (answer.status_code, told in answer.text) == (422, True), fields
    assert audit.top_ups.count() == 0


def test_likely_matches_are_added_once_the_audit_is_judged(audit, researcher):
    assert "has no judgments that count" in researcher.post(URL, {"likely": "2"}).text
    judge_all(audit)
    page = researcher.post(URL, {"likely": "2"}).text
    assert "likely matches: about" in page
    assert "of the matches are found" in page
    shown = shown_by(researcher, likely="2")
    assert researcher.post(URL, {"likely": "2", "shown": shown}).status_code == 302
    assert audit.top_ups.get().opened is not None
    assert "2 HITs for likely matches" in researcher.get("/rounds/audit/").text
    everything = published(pack("all", audit.pool, design=AUDIT["design"]))
    assert 'name="likely"' not in researcher.get(f"/rounds/{everything}/add/").text


def test_only_researchers_add_hits(audit, stranger, reviewer):
    assert stranger.get(URL).status_code == 302
    assert reviewer.post(URL, {"models": ["new"]}).status_code == 403
    assert "/rounds/audit/add/" not in reviewer.get("/rounds/audit/").text
