"""Filters of the pairs table that a person keeps under a name."""

import pytest
from django.contrib.auth.models import User

from dataset.models import SavedFilter
from tests.conftest import client_of
from tests.factories import make_round

SAVE = "/rounds/round-1/pairs/filters/"


@pytest.fixture
def plain_round(db):
    return make_round()


def test_a_filter_is_saved_under_a_name_and_leads_to_the_same_pairs_anywhere(researcher, plain_round):
    page = researcher.post(f"{SAVE}?text=dog+%26+cat&level=1&page=2&sort=", {"name": "<Dogs>"}, follow=True)
    assert page.redirect_chain == [("/rounds/round-1/pairs/?text=dog+%26+cat&level=1", 302)]
    pool = f"/pools/{plain_round.pool}/pairs/"
    assert 'level=1">&lt;Dogs&gt;' in researcher.get(pool).text


def test_a_filter_comes_back_in_its_order_view_and_columns(researcher, plain_round):
    chosen = "level=1&sort=unsure&view=table&columns=votes&columns=keys&size=60"
    page = researcher.post(f"{SAVE}?{chosen}&page=2", {"name": "Mine"}, follow=True)
    assert page.redirect_chain == [(f"/rounds/round-1/pairs/?{chosen}", 302)]
    assert page.context["kept"] == SavedFilter.objects.get().query == chosen


def test_a_default_layout_is_not_stored(researcher, plain_round):
    """So a saved filter is marked as the one shown, whether or not a form has written out the default layout."""
    layout = "view=grid&columns=proposed&columns=verdict&columns=review&size=24"
    researcher.post(f"{SAVE}?level=1&{layout}", {"name": "Mine"})
    assert SavedFilter.objects.get().query == "level=1"
    assert researcher.get(f"/rounds/round-1/pairs/?level=1&{layout}").context["kept"] == "level=1"


def test_a_filter_saved_again_under_its_name_is_replaced(researcher, plain_round):
    for level in "12":
        researcher.post(f"{SAVE}?level={level}", {"name": "Mine"})
    assert list(SavedFilter.objects.values_list("name", "query")) == [("Mine", "level=2")]


def test_no_filter_or_no_name_saves_nothing(researcher, plain_round):
    for query, name in (("", "Empty"), ("?level=1", ""), ("?level=1", "a" * 41), ("?level=9", "No")):
        assert researcher.post(SAVE + query, {"name": name}).status_code == 422, name
    assert not SavedFilter.objects.exists()


def test_everybody_sees_and_removes_only_their_own(researcher, plain_round):
    other = client_of("reviewer")
    theirs = SavedFilter.objects.create(owner=User.objects.get(username="reviewer"), name="Theirs", query="level=1")
    assert "Theirs" not in researcher.get("/rounds/round-1/pairs/").text
    assert researcher.post(f"{SAVE}{theirs.pk}/").status_code == 404
    assert "Theirs" in other.get("/rounds/round-1/pairs/").text
    assert other.post(f"{SAVE}{theirs.pk}/?level=2").url == "/rounds/round-1/pairs/?level=2"
    assert not SavedFilter.objects.exists()
