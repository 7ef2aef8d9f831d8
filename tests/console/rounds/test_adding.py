"""The page that adds HITs to a round: the cost first, then what was shown and nothing else."""

import pytest

from tests.evaluation.registering import register
from tests.evaluation.worlds import AUDIT, judge_all, known_pool, published
from tests.hits.pools import pack

pytestmark = pytest.mark.django_db
URL = "/rounds/audit/add/"


@pytest.fixture(scope="module")
def audit(lasting):
    pool = known_pool()
    register(pool, lasting)
    return published(pack("audit", pool, **AUDIT))


def shown_by(client, **fields) -> str:
    """Return the hash of the plan that the page shows for these fields."""
    return client.post(URL, fields).context["shown"].key


def test_the_page_shows_the_cost_and_adds_what_it_showed(audit, researcher):
    assert researcher.get(URL).context["shown"] is None
    page = researcher.post(URL, {"models": ["new"]})
    assert page.context["shown"].plan.cost > 0
    assert audit.top_ups.count() == 0
    shown = page.context["shown"].key
    assert researcher.post(URL, {"models": ["new"], "shown": shown}).status_code == 302
    assert audit.top_ups.get().rankings.keys() == {"new"}
    assert "first items of new" in researcher.get("/rounds/audit/").text


def test_a_second_click_and_fields_changed_after_the_cost_was_shown_add_nothing(audit, researcher):
    shown = shown_by(researcher, audit_share="0.75")
    changed = researcher.post(URL, {"audit_share": "0.9", "shown": shown})
    assert changed.context["shown"].key != shown
    assert audit.top_ups.count() == 0
    for status in (302, 409):
        assert researcher.post(URL, {"audit_share": "0.75", "shown": shown}).status_code == status
    assert audit.top_ups.count() == 1


def test_wrong_shares_and_models_are_refused_and_change_nothing(audit, researcher):
    for fields, message in [({"audit_share": "0.5"}, "50%"), ({"models": ["a"]}, "a is not one")]:
        answer = researcher.post(URL, fields)
        assert (answer.status_code >= 409, message in answer.text) == (True, True), fields
    assert audit.top_ups.count() == 0


def test_likely_matches_are_added_once_the_audit_is_judged(audit, researcher):
    assert researcher.post(URL, {"likely": "2"}).status_code == 409
    judge_all(audit)
    assert researcher.post(URL, {"likely": "2", "shown": shown_by(researcher, likely="2")}).status_code == 302
    assert audit.top_ups.get().opened is not None
    assert "2 HITs for likely matches" in researcher.get("/rounds/audit/").text
    everything = published(pack("all", audit.pool, design=AUDIT["design"]))
    assert 'name="likely"' not in researcher.get(f"/rounds/{everything}/add/").text
