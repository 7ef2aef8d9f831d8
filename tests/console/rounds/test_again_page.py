"""Orders of further votes: what they correct and cost first, then what was shown."""

from decimal import Decimal

from annotation.work.disputes import top_up
from console.rounds.vote_orders import repeats_of
from dataset.models import Aggregation, Verdict
from dataset.verdicts import aggregate_round
from evaluation.asking.judging_again import JudgeAgain, JudgeTwice
from evaluation.asking.planned_top_ups import add_planned
from tests.annotation.cast import answer
from tests.evaluation.asking.doubtful import DOUBTFUL, doubtful, judged

__all__ = ["judged"]
URL = "/rounds/round-1/again/"
TWICE = "/rounds/round-1/twice/"


def test_the_act_shows_what_a_budget_corrects_and_orders_what_it_showed(judged, researcher):
    page = researcher.post(URL, {"again": "0.50"})
    assert "Order 2 votes for $0.50" in page.text
    facts = dict(page.context["facts"])
    assert facts["Wrong verdicts"] == "about 1 (0 to 3), about 1 (0 to 3) after"
    assert facts["Cost"] == "$0.50; the round has $20.00 left"
    shown = page.context["shown"].key
    assert researcher.post(URL, {"again": "2", "shown": shown}).status_code == 200  # another budget than was shown
    assert not judged.top_ups.exists()
    assert researcher.post(URL, {"again": "0.50", "shown": shown}).status_code == 302
    items = judged.hits.get(top_up__isnull=False).items.filter(control=None)
    assert set(items.values_list("image", "caption")) == set(doubtful())
    assert researcher.post(URL, {"again": "0.50", "shown": shown}).status_code == 409  # a second click


def test_the_page_of_the_round_lists_its_orders_and_the_votes_that_arrived(judged, researcher):
    assert researcher.get("/rounds/round-1/results/").context["orders"] == []
    add_planned(JudgeAgain(again=Decimal("0.50")).plan(judged), actor="ada")
    (order,) = researcher.get("/rounds/round-1/results/").context["orders"]
    assert (order["by"], order["pairs"], order["votes"], order["arrived"], order["cost"]) == (
        "ada",
        2,
        2,
        0,
        Decimal("0.50"),
    )
    assert (str(order["wrong"]), str(order["left"]), order["then"]) == ("1 (0 to 3)", "1 (0 to 3)", None)
    answer(judged.hits.get(top_up__isnull=False), 4, 4)
    assert '<td class="n">$0.50</td>' in researcher.get("/rounds/round-1/results/").text


def test_an_order_shows_what_was_measured_once_its_votes_were_counted(judged, researcher):
    add_planned(JudgeAgain(again=Decimal("0.50")).plan(judged), actor="ada")
    answer(judged.hits.get(top_up__isnull=False), 4, 4)
    assert researcher.get("/rounds/round-1/results/").context["orders"][0]["then"] is None  # not counted yet
    aggregate_round(judged, method="dawid-skene")
    Aggregation.objects.update(certainty=DOUBTFUL | {"expected_wrong": 0.8, "wrong_low": 0.2, "wrong_high": 3.6})
    page = researcher.get("/rounds/round-1/results/")
    assert str(page.context["orders"][0]["then"]) == "1 (0 to 4)"
    assert '<td class="n">1 (0 to 4)</td>' in page.text
    Verdict.objects.update(probability=0.6)
    add_planned(JudgeAgain(again=Decimal("0.50")).plan(judged), actor="ada")
    newest, before = researcher.get("/rounds/round-1/results/").context["orders"]
    assert (newest["then"], before["then"]) == (None, newest["wrong"])


def test_pairs_drawn_at_random_get_a_second_vote(judged, researcher):
    page = researcher.post(TWICE, {"twice": "4"})
    assert dict(page.context["facts"])["Drawn at random"] == "4 of the pairs"
    assert researcher.post(TWICE, {"twice": "4", "shown": page.context["shown"].key}).status_code == 302
    assert judged.hits.get(top_up__isnull=False).items.filter(control=None).count() == 4
    (order,) = researcher.get("/rounds/round-1/results/").context["orders"]
    assert (order["pairs"], order["votes"], order["left"]) == (4, 4, None)


def test_further_votes_on_disputed_pairs_are_no_order(judged, researcher):
    judged.top_up = 2
    judged.save()
    add_planned(JudgeAgain(again=Decimal("0.50")).plan(judged), actor="ada")
    answer(judged.hits.get(top_up__isnull=False), 4, 4)
    assert top_up(judged, actor="reconciler") == 1
    page = researcher.get("/rounds/round-1/results/")
    assert len(page.context["orders"]) == 1


def test_what_became_of_pairs_drawn_at_random_is_compared_with_what_was_called_before(judged):
    planned = JudgeTwice(twice=4).plan(judged)
    add_planned(planned, actor="ada")
    (aggregation,) = judged.aggregations.all()
    assert repeats_of(aggregation) == []  # no vote has come
    Verdict.objects.update(votes=2, probability=0.75)
    called = sorted(round(one.probability, 3) for one in planned.again.drawn)
    assert sorted(repeats_of(aggregation)) == [(one, 0.75) for one in called]
    first = Verdict.objects.get(image=planned.again.drawn[0].image, caption=planned.again.drawn[0].caption)
    Verdict.objects.filter(pk=first.pk).update(level=5 - first.level)  # the side of the first vote did not hold
    assert [held for _, held in repeats_of(aggregation)].count(0.25) == 1


def test_an_invalid_budget_is_refused_and_orders_nothing(judged, researcher):
    assert [researcher.post(URL, {"again": again}).status_code for again in ("0.10", "x")] == [409, 422]
    assert not judged.top_ups.exists()
