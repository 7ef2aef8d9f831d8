"""Simulated rounds meet our rules: a wrong control is retired and costs no honest worker pay; disputed pairs are asked
again."""

from collections import Counter

import pytest

from annotation.models import Assignment, ControlRuling, Judgment, Payment
from annotation.work.disputes import disputed_pairs
from hits.models import Control, Round, Seat, TopUp
from hits.rounds.top_ups import plan_again
from simulation.simulated_rounds import simulate_round
from tests.hits.pools import opened, pack, pool_of

pytestmark = pytest.mark.slow

MOST_ANSWERS = 7  # what ControlPolicy's docstring promises for workers with the one other control of a first HIT


UNSURE = [[0.5, 0.5, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 0.5, 0.5]]


def open_round(pairs: int, **parameters: object) -> Round:
    """HITs of 4 candidates and 2 controls, in the browser pool."""
    design = {"name": "small", "candidates": 4, "positives": 1, "negatives": 1}
    return opened(pack("small", pool_of(pairs), design=design, **parameters))


@pytest.fixture
def many_seats(transactional_db) -> Round:
    """12 HITs, 8 seats each."""
    return open_round(48, replication=8, ceiling=1_000)


def plant(made: Round) -> Control:
    """Turn an original pair into a negative control, which everybody who looks answers wrongly."""
    control = made.controls.filter(polarity="positive").order_by("pk").first()
    Control.objects.filter(pk=control.pk).update(polarity="negative")
    return control


def simulate(made: Round, profile, **changes) -> dict:
    return simulate_round(made, workers=10, profile=profile(excluded=None, **changes), seed=1)


def test_a_planted_wrong_control_is_retired_within_seven_answers_and_everybody_is_paid(many_seats, profile):
    control = plant(many_seats)
    figures = simulate(many_seats, profile)
    ruling = ControlRuling.objects.get()
    before = Judgment.objects.filter(item__control=control, assignment__submitted_at__lte=ruling.at).count()
    assert (ruling.control_id, ruling.retired) == (control.pk, True)
    assert 3 <= before <= MOST_ANSWERS
    assert (figures["accepted"], figures["waiting for review"]) == (96, 0)
    assert set(Assignment.objects.values_list("state", flat=True)) == {Assignment.State.ACCEPTED}
    assert Payment.objects.count() == Assignment.objects.count() == 96


def test_careless_workers_neither_retire_a_sound_control_nor_keep_a_wrong_one(many_seats, profile):
    control = plant(many_seats)
    simulate(many_seats, profile, careless_workers=0.3)
    assert list(Control.objects.filter(state="retired")) == [control]
    flagged = Assignment.objects.filter(state=Assignment.State.FLAGGED)
    assert flagged.exists()
    assert not flagged.filter(control_failures=0).exists()


def test_disputed_pairs_are_asked_again_until_they_are_settled(transactional_db, profile):
    disputed = open_round(24, replication=2, top_up=2)
    figures = simulate_round(disputed, workers=40, profile=profile(confusion=UNSURE, excluded=None), seed=2)
    assert figures["seats still open"] == 0
    votes = Counter(Judgment.objects.counted().of_candidates().values_list("image", "caption"))
    assert set(votes.values()) == {2, 3}  # of two levels, a third vote settles it
    assert disputed_pairs(disputed) == []
    assert Seat.objects.filter(state=Seat.State.OPEN).count() == 0
    for made in TopUp.objects.all():
        assert plan_again(made).hash == made.plan_hash
