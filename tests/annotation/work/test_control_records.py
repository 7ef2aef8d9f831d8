"""Records of controls and the rule that doubts them: cases worked by hand, and slow references."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.models import Judgment
from annotation.work.control_records import ControlAnswer, ControlPolicy, ControlRecord, Tally, records_of
from hits.models import Control
from hits.question import RIGHT_LEVELS
from tests.annotation.controlling import judge, make_elsewhere, seasoned
from tests.factories import make_round

ACTIVE, SUSPECTED, RETIRED = Control.State.values


def record(*answers: tuple[bool, int, int]) -> ControlRecord:
    """A record of answers, each as: is it right, and of how many other controls how many right."""
    return ControlRecord(
        Control(), [ControlAnswer(1, "flagged", 1, "p", 4, right, Tally(n, k)) for right, n, k in answers]
    )


@pytest.mark.parametrize(
    ("answered", "right", "weight"),
    [(0, 0, 0), (1, 1, 1 / 3), (4, 4, 2 / 3), (8, 8, 0.8), (4, 3, 1 / 3), (4, 2, 0), (4, 0, 0)]
)  # fmt: skip
def test_a_worker_weighs_as_much_as_they_are_better_than_guessing(answered, right, weight):
    assert Tally(answered, right).weight == pytest.approx(weight)


def test_the_doubt_of_four_workers_with_four_of_four_right_is_worked_by_hand():
    # f = 4 · 2/3, r = 0: the tail of Beta(1 + 8/3, 1) above 1/2 is 1 − (1/2)^(11/3).
    assert record(*[(False, 4, 4)] * 4).doubt() == pytest.approx(1 - 0.5 ** (11 / 3))


@pytest.mark.slow
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 12), st.integers(0, 12)), max_size=12), st.floats(0.2, 0.8))
def test_the_doubt_is_the_integral_of_its_density(answers, rate):
    found = record(*((right, max(n, k), min(n, k)) for right, n, k in answers))
    failing = np.linspace(0, 1, 40_001)
    wrong, right = (sum(one.elsewhere.weight for one in found.answers if one.is_right == is_) for is_ in (False, True))
    density = failing**wrong * (1 - failing) ** right
    above = failing >= rate
    slow = np.trapezoid(density[above], failing[above]) / np.trapezoid(density, failing)
    assert found.doubt(rate) == pytest.approx(slow, abs=1e-3)


@pytest.mark.parametrize(
    ("answers", "state"),
    [
        ([], ACTIVE),
        ([(False, 8, 8)], ACTIVE),
        ([(False, 8, 8)] * 2, SUSPECTED),
        ([(False, 8, 8)] * 3, RETIRED),
        ([(False, 4, 4)] * 3, SUSPECTED),
        ([(False, 4, 4)] * 4, RETIRED),
        ([(False, 1, 1)] * 6, SUSPECTED),
        ([(False, 1, 1)] * 7, RETIRED),
        ([(False, 8, 8)] * 3 + [(True, 8, 8)], ACTIVE),
        ([(False, 8, 8)] * 4 + [(True, 8, 8)], SUSPECTED),
        ([(False, 8, 4)] * 50, ACTIVE),
        ([(False, 0, 0)] * 50, ACTIVE),
        ([(False, 8, 8)] * 3 + [(True, 8, 2)] * 9, RETIRED),
    ],
)
def test_the_rule_doubts_a_control_that_reliable_workers_keep_failing(answers, state):
    assert ControlPolicy().state_of(record(*answers)) == state


def test_the_policy_names_how_many_answers_are_needed():
    assert ControlPolicy(answers=5).state_of(record(*[(False, 8, 8)] * 4)) == SUSPECTED


def test_records_are_those_of_a_slow_count(db):
    elsewhere, made = make_elsewhere(), make_round(replication=6)
    for right, wrong, fails in ((8, 0, "positive"), (2, 2, "negative"), (0, 3, ""), (5, 1, "positive negative")):
        judge(made, seasoned(elsewhere, right=right, wrong=wrong), fails=fails)
    Control.objects.filter(pk=elsewhere.controls.first().pk).update(state=RETIRED)
    for found in records_of(Control.objects.all()):
        answers = list(Judgment.objects.filter(item__control=found.control).order_by("pk"))
        assert [answer.worker_id for answer in found.answers] == [answer.worker_id for answer in answers]
        for answer in found.answers:
            others = [
                other.level in RIGHT_LEVELS[other.item.control.polarity]
                for other in Judgment.objects.filter(worker=answer.worker_id, item__control__isnull=False)
                if other.item.control != found.control and other.item.control.state != RETIRED
            ]
            assert answer.elsewhere == Tally(len(others), sum(others))


def test_many_controls_take_as_many_queries_as_one(db, django_assert_num_queries):
    judge(make_round(hits=3), fails="positive")
    controls = list(Control.objects.all())
    for some in (controls[:1], controls):
        with django_assert_num_queries(2):
            records_of(some)
