"""A wrong control in a simulated round: the rule retires it, and no honest worker loses pay by it."""

import pytest

from annotation.models import Assignment, ControlRuling, Judgment, Payment
from hits.models import Control, Round
from simulation.simulated_rounds import simulate_round
from tests.hits.pools import pack, pool_of

pytestmark = pytest.mark.slow

MOST_ANSWERS = 7  # what ControlPolicy's docstring promises for workers with the one other control of a first HIT


@pytest.fixture
def opened(transactional_db) -> Round:
    """12 HITs of 4 candidates and 2 controls, 8 seats each, open."""
    design = {"name": "small", "candidates": 4, "positives": 1, "negatives": 1}
    made = pack("planted", pool_of(48), design=design, replication=8, ceiling=1_000)
    Round.objects.filter(pk=made.pk).update(published_at="2026-11-01T00:00Z", channel="browser")
    return Round.objects.get(pk=made.pk)


def plant(made: Round) -> Control:
    """Turn an original pair into a negative control, which everybody who looks answers wrongly."""
    control = made.controls.filter(polarity="positive").order_by("pk").first()
    Control.objects.filter(pk=control.pk).update(polarity="negative")
    return control


def simulate(made: Round, profile, **changes) -> dict:
    return simulate_round(made, workers=10, profile=profile(excluded=None, **changes), seed=1)


def test_a_planted_wrong_control_is_retired_within_seven_answers_and_everybody_is_paid(opened, profile):
    control = plant(opened)
    figures = simulate(opened, profile)
    ruling = ControlRuling.objects.get()
    before = Judgment.objects.filter(item__control=control, assignment__submitted_at__lte=ruling.at).count()
    assert (ruling.control_id, ruling.retired) == (control.pk, True)
    assert 3 <= before <= MOST_ANSWERS
    assert (figures["accepted"], figures["waiting for review"]) == (96, 0)
    assert set(Assignment.objects.values_list("state", flat=True)) == {Assignment.State.ACCEPTED}
    assert Payment.objects.count() == Assignment.objects.count() == 96


def test_careless_workers_neither_retire_a_sound_control_nor_keep_a_wrong_one(opened, profile):
    control = plant(opened)
    simulate(opened, profile, careless_workers=0.3)
    assert list(Control.objects.filter(state="retired")) == [control]
    flagged = Assignment.objects.filter(state=Assignment.State.FLAGGED)
    assert flagged.exists()
    assert not flagged.filter(control_failures=0).exists()
