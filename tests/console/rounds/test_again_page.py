"""The page that orders further votes on doubtful pairs: what they correct and cost first, then what was shown."""

from decimal import Decimal

import pytest

from annotation.work.disputes import top_up
from core.models import Event
from evaluation.asking.planned_top_ups import add_planned
from evaluation.asking.round_top_ups import JudgeAgain
from tests.annotation.cast import answer
from tests.evaluation.asking.doubtful import doubtful, judged

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


def test_the_page_of_the_round_tells_who_ordered_what_and_which_votes_arrived(judged, researcher):
    assert "Judged again" not in researcher.get("/rounds/round-1/").text
    add_planned(JudgeAgain(again=Decimal("0.50")).plan(judged), actor="ada")
    (order,) = researcher.get("/rounds/round-1/").context["orders"]
    assert (order.by, order.pairs, order.votes, order.arrived, order.cost) == ("ada", 2, 2, 0, Decimal("0.50"))
    assert (order.wrong, order.left < order.wrong) == (1.2, True)
    answer(judged.hits.get(top_up__isnull=False), 4, 4)
    text = researcher.get("/rounds/round-1/").text
    assert "Judged again" in text
    assert '<td class="n">2 of 2</td><td class="n">$0.50</td><td class="n">1.2 → 0.' in text


def test_further_votes_on_disputed_pairs_are_no_order(judged, researcher):
    judged.top_up = 2
    judged.save()
    add_planned(JudgeAgain(again=Decimal("0.50")).plan(judged), actor="ada")
    answer(judged.hits.get(top_up__isnull=False), 4, 4)
    assert top_up(judged, actor="reconciler") == 1
    page = researcher.get("/rounds/round-1/")
    assert (len(page.context["orders"]), page.context["n_added"]) == (1, 1)
    judged.top_ups.filter(number=1).update(rankings={"a": "0"})  # as if it asked the first items of a model
    assert [one.by for one in researcher.get("/rounds/round-1/").context["orders"]] == []


def test_an_order_of_an_earlier_program_is_told_without_what_was_expected(judged, researcher):
    add_planned(JudgeAgain(again=Decimal("0.50")).plan(judged), actor="ada")
    event = Event.objects.get(verb="topped up")
    event.data = {"number": 1, "hits": 1}
    event.save()
    (order,) = researcher.get("/rounds/round-1/").context["orders"]
    assert (order.by, order.votes, order.wrong) == ("ada", 2, None)


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
