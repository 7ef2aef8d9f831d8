"""Rounds of audit+greedy: batches follow by themselves, and stop for a stated reason."""

from io import StringIO

import pytest
from django.core.management import call_command

from core.models import Event
from evaluation.asking import greedy_rounds
from evaluation.asking.greedy_rounds import ask_in_open_rounds, ask_likely_matches, why_stopped
from evaluation.asking.planned_top_ups import add_planned
from evaluation.asking.round_top_ups import AskLikely
from evaluation.auditing.round_estimates import EstimateParameters, estimate_round
from hits.models import Round
from hits.rounds.packed_rounds import figures_of
from tests.evaluation.asking.likely import likely_matches
from tests.evaluation.worlds import GREEDY, judge, judge_all, judge_last_top_up, known_pool, published
from tests.hits.pools import pack


@pytest.fixture(scope="module")
def packed_once(lasting):
    return published(pack("greedy", known_pool(), **GREEDY)).pk


@pytest.fixture
def greedy(db, packed_once, monkeypatch):
    monkeypatch.setattr(greedy_rounds, "BATCH", 2)
    return Round.objects.get(pk=packed_once)


def test_the_round_is_packed_as_its_audit_and_keeps_that_matches_follow(greedy):
    figures = figures_of(greedy)
    assert (figures["judge"], figures["audit_share"]) == ("audit+greedy", 0.3)
    assert greedy.summary["judge"]["greedy"] is True
    plain = pack("plain", greedy.pool, **GREEDY | {"judge": "audit"})
    assert plain.plan_hash == greedy.plan_hash


def test_a_batch_comes_once_every_seat_is_filled_and_the_next_one_after_it(greedy):
    hits = list(greedy.hits.order_by("number"))
    for hit in hits[:-1]:
        judge(hit)
    assert ask_likely_matches(greedy, actor="robin") == 0
    judge(hits[-1])
    assert [ask_likely_matches(greedy, actor="robin") for _ in range(2)] == [2, 0]
    judge_last_top_up(greedy)
    assert ask_likely_matches(greedy, actor="robin") == 2
    assert greedy.top_ups.count() == 2


def test_the_round_stops_by_itself_where_enough_is_found_and_says_so(greedy, researcher):
    judge_all(greedy)
    while ask_likely_matches(greedy, actor="reconciler"):
        judge_last_top_up(greedy)
    assert likely_matches(greedy).recall.is_enough()
    stopped = Event.objects.get(verb="stopped asking")
    assert stopped.data["reason"] == why_stopped(greedy)
    assert "Enough: about" in why_stopped(greedy) or "is judged" in why_stopped(greedy)
    assert ask_likely_matches(greedy, actor="reconciler") == 0
    assert Event.objects.filter(verb="stopped asking").count() == 1
    assert "no further batch:" in researcher.get("/rounds/greedy/").text


def packed(pool, name="stops", **stops):
    return judge_all(published(pack(name, pool, **GREEDY, **stops)))


def test_the_round_stops_where_its_intervals_are_as_narrow_as_wished(greedy):
    stops = packed(greedy.pool, stop_width=0.999)
    assert ask_likely_matches(stops, actor="reconciler") == 0
    widths = [
        one.estimate.high - one.estimate.low
        for one in estimate_round(stops, EstimateParameters(metric=("mAP@R",))).models
    ]
    assert why_stopped(stops).startswith(f"No interval of mAP@R is wider than {max(widths):.3f}.")
    assert not stops.top_ups.exists()
    narrow = packed(greedy.pool, "narrow", stop_width=max(widths) - 0.001)
    assert ask_likely_matches(narrow, actor="reconciler") == 2


def test_the_round_stops_at_its_own_recall_and_may_go_on(greedy, researcher):
    stops = packed(greedy.pool, stop_recall=0.05)
    likely = likely_matches(stops)
    assert likely.recall.is_enough(0.05)
    assert not likely.recall.is_enough()
    assert ask_likely_matches(stops, actor="reconciler") == 0
    assert (
        why_stopped(stops)
        == likely.enough
        == (f"Enough: about {likely.recall.value:.0%} found; the 95% interval starts at {likely.recall.low:.0%}.")
    )
    shown = researcher.get("/rounds/stops/").text
    assert "no further batch: Enough: about" in shown
    assert "/rounds/stops/add/" in shown
    add_planned(AskLikely(likely=1).plan(stops), actor="robin")
    judge_last_top_up(stops)
    assert why_stopped(stops) == ""


def test_a_ceiling_that_is_reached_stops_the_round_until_it_is_raised(greedy):
    judge_all(greedy)
    Round.objects.update(ceiling="0.70")  # nothing is owed to the workers of these tests
    greedy.refresh_from_db()
    assert ask_likely_matches(greedy, actor="reconciler") == 0
    assert "Raise it with set_ceiling" in why_stopped(greedy)
    call_command("set_ceiling", "greedy", "900", stdout=StringIO())
    greedy.refresh_from_db()
    assert why_stopped(greedy) == ""
    assert ask_likely_matches(greedy, actor="reconciler") == 2


def test_the_clock_asks_in_open_rounds_of_this_design_alone(greedy):
    judge_all(greedy)
    judge_all(published(pack("plain", greedy.pool, **GREEDY | {"judge": "audit"})))
    assert ask_in_open_rounds() == "2 HITs added."
    assert [one.round.name for one in greedy.top_ups.all()] == ["greedy"]
    judge_last_top_up(greedy)
    Round.objects.filter(name="greedy").update(closed_at=greedy.published_at)
    assert ask_in_open_rounds() == "0 HITs added."
