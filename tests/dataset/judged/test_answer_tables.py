"""Which answers to controls say how good the votes of a round are."""

import pytest

from annotation.models import Assignment, Rejection
from dataset.judged.answer_tables import control_answers
from hits.models import Control, Round
from tests.annotation.cast import answer
from tests.factories import make_round

pytestmark = pytest.mark.django_db


def excluded(hit, **found) -> int:
    """An answer set whose votes do not count; its number."""
    assignment = answer(hit, 1, 1, state="excluded")
    Assignment.objects.filter(pk=assignment.pk).update(**found)
    return assignment.pk


def test_sets_that_failed_teach_and_those_thrown_out_for_another_reason_do_not(admin_user):
    round = make_round(hits=1)
    hit = round.hits.get()
    failed = excluded(hit, control_failures=1)
    excluded(hit, control_failures=0, signals=[["copy", "It agrees with a machine."]])
    excluded(hit, control_failures=0)
    script = excluded(hit, control_failures=2)
    words = {"reason": "A script answered.", "evidence": "Its pace.", "by": admin_user}
    Rejection.objects.create(assignment_id=script, grounds=Rejection.Grounds.AUTOMATED, **words)
    counted = answer(hit, 1, 1).pk
    assert set(control_answers(round)["answer_set"]) == {failed, counted}
    assert control_answers(round).groupby("answer_set")["counted"].first().to_dict() == {failed: False, counted: True}


def test_where_a_share_of_all_controls_is_needed_sets_without_a_wrong_one_teach_too():
    round = make_round(hits=1)
    Round.objects.update(task="checkbox")
    round.refresh_from_db()
    out = excluded(round.hits.get(), control_failures=0)
    assert set(control_answers(round)["answer_set"]) == {out}


def test_retired_controls_teach_nothing():
    round = make_round(hits=1)
    answer(round.hits.get(), 1, 1)
    Control.objects.filter(polarity="positive").update(state="retired")
    assert control_answers(round)["control"].tolist() == ["negative"]
