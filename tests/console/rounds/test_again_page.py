"""The page that orders further votes on doubtful pairs: what they correct and cost first, then what was shown."""

import pytest

from tests.evaluation.asking.test_judging_again import doubtful, judged

__all__ = ["judged"]
URL = "/rounds/round-1/again/"


def test_the_page_shows_what_a_budget_corrects_and_orders_what_it_showed(judged, researcher):
    assert "Show the order" in researcher.get(URL).text
    preview = researcher.get(URL, {"again": "0.50"}).text
    for told in (
        "1.2 → 0.",
        "of 12, match taken for no match",
        "<dd>2, 1 further vote each",
        "$0.50; the round has $20",
    ):
        assert told in preview
    assert not judged.top_ups.exists()
    page = researcher.post(URL, {"again": "0.50"}).text
    assert "Order 2 votes for $0.50" in page
    shown = page.partition('name="shown" value="')[2].partition('"')[0]
    assert researcher.post(URL, {"again": "0.50", "shown": shown}).status_code == 302
    items = judged.hits.get(top_up__isnull=False).items.filter(control=None)
    assert set(items.values_list("image", "caption")) == set(doubtful())
    assert researcher.post(URL, {"again": "0.50", "shown": shown}).status_code == 422  # a second click


def test_a_budget_that_changed_after_it_was_shown_orders_nothing(judged, researcher):
    page = researcher.post(URL, {"again": "0.50"}).text
    shown = page.partition('name="shown" value="')[2].partition('"')[0]
    assert researcher.post(URL, {"again": "2", "shown": shown}).status_code == 200
    assert not judged.top_ups.exists()


@pytest.mark.parametrize("again", ["0.10", "", "x", "-1"])
def test_an_invalid_budget_is_named_and_orders_nothing(judged, researcher, again):
    assert researcher.post(URL, {"again": again}).status_code == 422
    assert not judged.top_ups.exists()


def test_a_round_that_is_closed_or_without_verdicts_says_so(judged, researcher):
    judged.aggregations.all().delete()
    assert "Aggregate it first" in researcher.get(URL, {"again": "1"}).text
    judged.closed_at = judged.published_at
    judged.save()
    assert "is closed: no HIT can be added" in researcher.get(URL, {"again": "1"}).text
