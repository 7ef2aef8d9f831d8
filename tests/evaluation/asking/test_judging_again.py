"""Further votes on doubtful pairs for a budget: which pairs, what they are expected to correct, and the order."""

import json
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from core.errors import CounterpartError
from dataset.judged.verdict_worth import wrong_range
from dataset.models import Aggregation, Review, Verdict
from dataset.verdicts import aggregate_round
from evaluation.asking.judging_again import JudgeAgain, JudgeTwice, judge_again, judge_twice
from evaluation.asking.planned_top_ups import add_planned
from hits.models import Item
from tests.annotation.cast import answer
from tests.commands import output_of
from tests.dataset.judged.figures import SILENT
from tests.evaluation.asking.doubtful import DOUBTFUL, doubtful, judged

__all__ = ["judged"]


def test_the_doubtful_pairs_are_chosen_with_what_their_votes_correct(judged):
    again = judge_again(judged, Decimal(2))
    assert again.pairs == doubtful()
    assert (again.drawn, again.wrong) == ([], (1, 0, 3))
    assert again.left == wrong_range(DOUBTFUL, corrected=again.gain)
    alone = judge_again(judged, Decimal("0.50"))
    assert (alone.votes, alone.gain < again.gain) == (1, True)


def test_pairs_that_wait_are_reviewed_or_excluded_get_no_votes(judged, django_user_model):
    (image, caption), second = doubtful()
    by = django_user_model.objects.create_user("rae")
    Review.objects.create(
        collection=judged.pool.collection, image_id=image, caption_id=caption, conclusion="level", level=1, by=by
    )
    assert judge_again(judged, Decimal(2)).pairs == [second]
    Item.objects.get(hit__round=judged, image=second[0], caption=second[1]).hit.seats.create(round=judged, number=9)
    with pytest.raises(CounterpartError, match="No further vote"):
        judge_again(judged, Decimal(2))


def test_an_order_asks_its_pairs_once_more_under_the_ceiling(judged):
    planned = JudgeAgain(again=Decimal("0.50")).plan(judged)
    assert (planned.pairs, planned.seats, planned.cost) == (2, 1, Decimal("0.50"))
    add_planned(planned, actor="robin")
    added = judged.hits.get(top_up__isnull=False)
    assert set(added.items.filter(control=None).values_list("image", "caption")) == set(doubtful())
    assert added.items.filter(control__isnull=False).exists()
    with pytest.raises(CounterpartError, match="No further vote"):  # they wait for the votes
        JudgeAgain(again=Decimal("0.50")).plan(judged)
    answer(added, 1, 4)
    aggregate_round(judged, method="dawid-skene")
    assert set(Verdict.objects.filter(votes=2).values_list("image", "caption")) == set(
        added.items.filter(control=None).values_list("image", "caption")
    )


def test_verdicts_without_probabilities_or_newer_votes_are_counted_first(judged):
    Aggregation.objects.update(judgments=11)
    with pytest.raises(CounterpartError, match="12 votes .* by 11"):
        judge_again(judged, Decimal(2))
    for certainty in (None, {"found": 0.98, "refused": 0.98, "expected_wrong": 1.2}):  # of earlier programs
        Aggregation.objects.update(certainty=certainty)
        with pytest.raises(CounterpartError, match="Aggregate it first"):
            judge_again(judged, Decimal(2))


def test_a_budget_below_one_answer_set_is_refused(judged):
    with pytest.raises(CounterpartError, match=r"costs \$0.50"):
        judge_again(judged, Decimal("0.49"))


def test_verdicts_of_a_file_are_judged_again_like_rows(judged, monkeypatch):
    aggregate_round(judged, method="dawid-skene")
    in_rows = judge_again(judged, Decimal(5))
    monkeypatch.setattr("dataset.verdicts.LARGE", 3)
    aggregate_round(judged, method="dawid-skene")
    in_file = judge_again(judged, Decimal(5))
    assert sorted(in_file.pairs) == sorted(in_rows.pairs)
    assert (in_file.votes, in_file.gain) == (in_rows.votes, pytest.approx(in_rows.gain))


def test_a_round_of_too_few_controls_has_an_order_but_no_numbers(judged):
    Aggregation.objects.update(certainty=SILENT)
    again = judge_again(judged, Decimal(2))
    assert (again.pairs, again.wrong, again.left) == (doubtful(), None, None)
    assert again.figures == {"verdicts": SILENT["verdicts"], "votes_each": again.votes, "drawn_at_random": 0}


def test_a_tenth_of_the_pairs_is_drawn_at_random_with_doubtful_ones(judged, monkeypatch):
    Verdict.objects.update(probability=0.6)
    again = judge_again(judged, Decimal(5))
    assert (len(again.pairs), len(again.drawn)) == (12, 1)
    sure = Verdict.objects.order_by("pk").last()
    Verdict.objects.filter(pk=sure.pk).update(probability=0.9999)
    assert judge_again(judged, Decimal(5)).pairs[-1] == (sure.image_id, sure.caption_id)


def test_pairs_that_are_judged_twice_are_drawn_from_those_of_one_vote(judged):
    twice = judge_twice(judged, 5)
    assert (len(twice.pairs), twice.votes, twice.gain) == (5, 1, None)
    assert judge_twice(judged, 50).pairs[:5] == twice.pairs
    planned = JudgeTwice(twice=5).plan(judged)
    assert (planned.pairs, planned.seats, planned.cost) == (5, 1, Decimal("0.50") * planned.plan.n_hits)
    add_planned(planned, actor="robin")
    drawn = judge_twice(judged, 50).pairs
    assert len(drawn) == 7
    assert not set(drawn) & set(twice.pairs)
    Verdict.objects.update(votes=2)
    with pytest.raises(CounterpartError, match="no pair of one vote"):
        judge_twice(judged, 5)


def test_the_command_shows_an_order_and_adds_it(judged):
    shown = json.loads(output_of("add", "round-1", "--again", "0.50", "--json"))
    assert (shown["pairs"], shown["votes_each"], shown["verdicts"], shown["would_add"]) == (2, 1, 12, 1)
    assert (shown["wrong"], shown["wrong_after"]["about"]) == ({"about": 1, "low": 0, "high": 3}, 1)
    assert not judged.top_ups.exists()
    call_command("add", "round-1", "--again", "0.50", "--yes", stdout=StringIO())
    assert judged.top_ups.get().purpose == "further votes on pairs asked before"
    with pytest.raises(CommandError, match="--likely: not allowed"):
        call_command("add", "round-1", "--again", "0.50", "--likely", "2")
