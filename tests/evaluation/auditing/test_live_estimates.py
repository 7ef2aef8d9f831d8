"""Live estimates: an audit at looks that were fixed in advance, while its HITs arrive and after it was closed."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from math import ceil

import pytest
from django.core.management import CommandError
from django.utils import timezone

from annotation.models import Assignment
from annotation.money.payments import owe
from core.errors import CounterpartError
from evaluation.auditing.live_estimates import LiveParameters, measure_live
from evaluation.auditing.round_estimates import EstimateParameters, estimate_round
from evaluation.auditing.whole_queries import whole_queries
from evaluation.round_looks import look_sizes
from hits.models import HIT, Round, Seat
from tests.evaluation.analysing import analyse, figures_of, written
from tests.evaluation.worlds import AUDIT, SMALL, START, judge, judge_all, known_pool, published
from tests.hits.pools import pack

pytestmark = pytest.mark.django_db

TWO = LiveParameters(metric=("mAP@R",), looks=2)
PAID = AUDIT | {"reward": "0.50"}


@pytest.fixture(scope="module")
def packed(lasting) -> Round:
    return published(pack("audit", known_pool(), **PAID))


@pytest.fixture
def audit(packed) -> Round:
    """An open audit whose HITs are not judged."""
    return Round.objects.get(pk=packed.pk)


@pytest.fixture(scope="module")
def judged(packed) -> Round:
    return judge_all(published(pack("finished", packed.pool, **PAID)))


@pytest.fixture
def finished(judged) -> Round:
    """The same audit with all HITs judged."""
    return Round.objects.get(pk=judged.pk)


def judge_in_order(hits: Sequence[HIT]) -> None:
    for minutes, hit in enumerate(hits):
        judge(hit, minutes=minutes)


def test_one_look_at_a_finished_audit_is_its_estimate(finished):
    whole = estimate_round(finished)
    live = measure_live(finished, LiveParameters(looks=1))
    assert live.is_finished
    assert tuple(one for side in live.directions for one in side.last.models) == whole.models
    assert tuple(one for side in live.directions for one in side.last.differences) == whole.differences


def test_a_look_is_the_estimate_of_an_audit_of_its_first_queries(finished):
    live = measure_live(finished, TWO)
    for side in live.directions:
        assert side.planned == tuple(look.queries for look in side.looks) == (4, 7)
        assert [look.share for look in side.looks] == pytest.approx([4 / 7, 1])
        for look in side.looks:
            assert {one.estimate.n_audited for one in look.models} == {look.queries}
            assert {one.missing for one in look.models} == {0}
    # The shorter audit, which the same seed draws, at the confidence of one of two looks.
    shorter = judge_all(published(pack("short", finished.pool, **PAID | {"audit_share": 4 / 14})))
    values = {
        (one.model, one.metric, one.direction): one.estimate
        for one in estimate_round(shorter, EstimateParameters(confidence=0.975)).models
    }
    for one in (one for side in live.directions for one in side.looks[0].models):
        assert one.estimate == replace(values[one.model, one.metric, one.direction], estimand="pool of finished")


def test_looks_come_as_hits_arrive_and_those_that_were_reached_stay_as_they_were(audit):
    first, *others, before_last, last = audit.hits.order_by("number")
    judge(first)
    with pytest.raises(CounterpartError, match="judged whole of 7"):
        measure_live(audit, TWO)
    judge_in_order(others)
    seen = []
    for minutes, hit in enumerate((before_last, last), 60):
        judge(hit, minutes=minutes)
        live = measure_live(audit, TWO)
        looks = [look for side in live.directions for look in side.looks]
        assert len(looks) > len(seen)
        assert all(look in looks for look in seen)
        seen = looks
    assert len(seen) == 4
    assert live.is_finished


def test_a_query_that_is_finished_before_an_earlier_one_waits(finished):
    first = finished.hits.order_by("number").first()
    Assignment.objects.filter(hit=first).update(state="excluded")
    Seat.objects.filter(hit=first).update(state="open")
    missing = {one.direction: int((one.drawn & ~one.audited).sum()) for one in whole_queries(finished)}
    live = measure_live(finished, TWO)
    for side in live.directions:
        assert side.counting + side.waiting + missing[side.direction] == side.units
        assert all(look.queries <= side.counting for look in side.looks)
    assert any(side.waiting for side in live.directions)


def test_a_look_says_when_it_was_reached_and_what_was_spent_until_then(finished):
    for done in Assignment.objects.all():
        owe(done)
    live = measure_live(finished, TWO)
    last = max((side.last for side in live.directions), key=lambda look: look.at)
    hits = finished.hits.count()
    assert (last.hits, last.answer_sets) == (hits, hits)
    assert last.dollars == finished.seat_cost * hits
    for side in live.directions:
        times = [look.at for look in side.looks]
        assert times == sorted(times)
        for look in side.looks:
            minutes = (look.at - START) // timedelta(minutes=1)
            assert look.hits == look.answer_sets == minutes + 1  # a HIT a minute
            assert look.dollars == Decimal("0.50") * look.hits


def test_stopping_saves_the_answer_sets_that_are_not_begun_and_gives_up_width(audit):
    judge_in_order(audit.hits.order_by("number")[: audit.hits.count() - 1])
    live = measure_live(audit, TWO)
    assert (live.saving.hits, live.saving.answer_sets, live.saving.dollars) == (1, 1, audit.seat_cost)
    Seat.objects.filter(pk=Seat.objects.filter(round=audit, state="open").first().pk).update(state="taken")
    live = measure_live(audit, TWO)
    assert (live.saving.hits, live.saving.answer_sets, live.saving.dollars) == (0, 0, 0)
    assert all(side.looks for side in live.directions)
    for side in live.directions:
        for width, one in zip(side.last.widths, side.last.models, strict=True):
            assert width.now == one.estimate.high - one.estimate.low
            assert 0 <= width.finished <= width.now
    Round.objects.filter(pk=audit.pk).update(closed_at=timezone.now())
    audit.refresh_from_db()
    closed = measure_live(audit, TWO)
    assert closed.saving is None
    assert closed.directions == live.directions


def test_a_finished_audit_gives_up_nothing(finished):
    live = measure_live(finished, TWO)
    assert live.saving.answer_sets == 0
    assert all(width.now == width.finished for side in live.directions for width in side.last.widths)


def test_a_query_waits_until_every_wanted_vote_on_its_pairs_is_in(audit):
    audit = published(pack("twice", audit.pool, replication=2, **PAID))
    judge_all(audit)
    assert all(side.counting == 0 for side in measure_live(audit, TWO).directions)
    for hit in audit.hits.all():
        judge(hit, seat=2)
    assert measure_live(audit, TWO).is_finished


def test_looks_are_spread_evenly_and_none_has_fewer_than_three_queries():
    sizes = partial(look_sizes, least=3, whole=ceil)
    assert sizes(100, 5) == (20, 40, 60, 80, 100)
    assert sizes(7, 3) == (3, 5, 7)
    assert sizes(5, 5) == (3, 4, 5)


def test_rounds_that_are_no_audits_and_rounds_without_answers_are_refused(audit):
    with pytest.raises(CounterpartError, match="no judgments that count"):
        measure_live(audit)
    every = judge_all(published(pack("all", audit.pool, design=SMALL)))
    with pytest.raises(CounterpartError, match="asks all pairs"):
        measure_live(every)


def test_the_command_prints_the_looks_and_what_stopping_saves_and_gives_up(audit, tmp_path):
    judge_in_order(audit.hits.order_by("number")[: audit.hits.count() - 1])
    printed = analyse("live", "audit", "--metric", "mAP@R", "--looks", "2")
    assert "of 7 drawn queries" in printed
    assert "Rests on 4 queries: judge more queries before you compare." in printed
    assert "a is above b by" in printed or "open: " in printed
    assert "Stop here:" in printed
    rows = written(tmp_path, "live", "audit", "--metric", "mAP@R", "--looks", "2")
    assert {row["metric"] for row in rows} == {"mAP@R"}
    figures = figures_of("live", "audit", "--metric", "R-P", "--looks", "2")
    assert figures["stop"]["answer_sets"] > 0
    assert [one["planned"] for one in figures["directions"]] == [[4, 7], [4, 7]]
    with pytest.raises(CommandError, match="Unknown metric nDCG"):
        analyse("live", "audit", "--metric", "nDCG")
