"""The page that orders further votes on doubtful pairs: what they correct and cost first, then what was shown."""

from decimal import Decimal

from annotation.work.disputes import top_up
from core.models import Event
from evaluation.asking.planned_top_ups import add_planned
from evaluation.asking.round_top_ups import JudgeAgain
from tests.annotation.cast import answer
from tests.evaluation.asking.doubtful import doubtful, judged

__all__ = ["judged"]
URL = "/rounds/round-1/again/"


def test_the_page_shows_what_a_budget_corrects_and_orders_what_it_showed(judged, researcher):
    preview = researcher.get(URL, {"again": "0.50"}).context
    again = preview["again"]
    assert (again.wrong, again.left < again.wrong, len(again.pairs), again.votes) == (1.2, True, 2, 1)
    assert (preview["cost"], preview["free"]) == (Decimal("0.50"), 20)
    assert not judged.top_ups.exists()
    page = researcher.post(URL, {"again": "0.50"})
    assert "Order 2 votes for $0.50" in page.text
    shown = page.context["shown"]
    assert researcher.post(URL, {"again": "2", "shown": shown}).status_code == 200  # another budget than was shown
    assert not judged.top_ups.exists()
    assert researcher.post(URL, {"again": "0.50", "shown": shown}).status_code == 302
    items = judged.hits.get(top_up__isnull=False).items.filter(control=None)
    assert set(items.values_list("image", "caption")) == set(doubtful())
    assert researcher.post(URL, {"again": "0.50", "shown": shown}).status_code == 422  # a second click


def test_the_page_of_the_round_lists_its_orders_and_the_votes_that_arrived(judged, researcher):
    assert researcher.get("/rounds/round-1/").context["orders"] == []
    add_planned(JudgeAgain(again=Decimal("0.50")).plan(judged), actor="ada")
    (order,) = researcher.get("/rounds/round-1/").context["orders"]
    assert (order.by, order.pairs, order.votes, order.arrived, order.cost) == ("ada", 2, 2, 0, Decimal("0.50"))
    assert (order.wrong, order.left < order.wrong) == (1.2, True)
    answer(judged.hits.get(top_up__isnull=False), 4, 4)
    assert '<td class="n">$0.50</td>' in researcher.get("/rounds/round-1/").text


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


def test_an_order_of_an_earlier_program_has_no_expected_verdicts(judged, researcher):
    add_planned(JudgeAgain(again=Decimal("0.50")).plan(judged), actor="ada")
    event = Event.objects.get(verb="topped up")
    event.data = {"number": 1, "hits": 1}
    event.save()
    (order,) = researcher.get("/rounds/round-1/").context["orders"]
    assert (order.by, order.votes, order.wrong) == ("ada", 2, None)


def test_an_invalid_budget_is_refused_and_orders_nothing(judged, researcher):
    assert [researcher.post(URL, {"again": again}).status_code for again in ("0.10", "x")] == [422, 422]
    assert not judged.top_ups.exists()
