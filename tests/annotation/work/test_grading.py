import pytest

from annotation.models import Assignment, Decision, Payment
from annotation.work.grading import ItemAnswer, count_failures, grade
from annotation.work.repair import repair
from annotation.work.submissions import submit_answers
from hits.models import Control
from hits.question import Level
from tests.annotation.answering import leased, right_answers
from tests.factories import make_round

State, Polarity = Assignment.State, Control.Polarity


@pytest.fixture
def submitted(db):
    """Submit with the given levels on the positive and the negative control; nothing is graded yet."""

    def submit(positive: int, negative: int) -> Assignment:
        assignment = leased(make_round())
        *candidates, first, second = right_answers(assignment)
        answers = [*candidates, type(first)(first.item_id, positive), type(second)(second.item_id, negative)]
        submit_answers(assignment, answers=answers, active_seconds=60)
        return Assignment.objects.get(pk=assignment.pk)

    return submit


@pytest.mark.parametrize(
    ("positive", "negative", "failures"),
    [(1, 4, 0), (2, 3, 0), (3, 4, 1), (1, 2, 1), (4, 1, 2)],
)
def test_a_positive_is_right_at_1_and_2_and_a_negative_at_3_and_4(submitted, positive, negative, failures):
    assert grade(submitted(positive, negative)) == failures


def test_a_wrong_control_asks_for_a_person_and_rejects_nothing(submitted):
    assignment = submitted(4, 4)
    grade(assignment)
    assignment.refresh_from_db()
    assert (assignment.state, assignment.control_failures) == (State.FLAGGED, 1)
    assert Decision.objects.count() == Payment.objects.count() == 0


def test_a_retired_control_does_not_count(submitted):
    assignment = submitted(4, 4)
    Control.objects.filter(polarity=Polarity.POSITIVE).update(state=Control.State.RETIRED)
    assert grade(assignment) == 0


def test_a_control_that_was_retired_after_the_answers_were_read_does_not_count(submitted):
    assignment = submitted(4, 4)
    Control.objects.filter(polarity=Polarity.POSITIVE).update(state=Control.State.RETIRED)
    assert grade(assignment, answers=[ItemAnswer(Polarity.POSITIVE, 4, reported=False)]) == 0


def test_a_control_that_the_worker_judged_before_does_not_count_as_right(submitted):
    assignment = submitted(1, 4)
    assignment.judgments.filter(item__control__polarity=Polarity.POSITIVE).delete()
    grade(assignment)
    assignment.refresh_from_db()
    assert (assignment.state, Payment.objects.count()) == (State.FLAGGED, 0)


def test_a_suspected_control_still_counts(submitted):
    assignment = submitted(4, 4)
    Control.objects.filter(polarity=Polarity.POSITIVE).update(state=Control.State.SUSPECTED)
    assert grade(assignment) == 1


def test_candidates_are_never_graded(submitted):
    assignment = submitted(1, 4)
    assignment.judgments.filter(item__control=None).update(level=3)
    assert count_failures(assignment) == 0


def test_the_policy_names_the_right_levels(submitted):
    strict = {Polarity.POSITIVE: frozenset({Level.YES}), Polarity.NEGATIVE: frozenset({Level.NO})}
    assert count_failures(submitted(2, 3), policy=strict) == 2


def test_grading_twice_changes_nothing(submitted):
    assignment = submitted(1, 4)
    assert [grade(assignment), grade(Assignment.objects.get())] == [0, 0]
    assert (Payment.objects.count(), Decision.objects.count()) == (1, 1)


def test_a_decided_assignment_is_not_flagged_again(submitted):
    assignment = submitted(1, 4)
    grade(assignment)
    assignment.judgments.update(level=4)
    assert grade(assignment) == 1
    assert Assignment.objects.get().state == State.ACCEPTED


def test_the_reconciler_grades_what_was_left(submitted):
    submitted(4, 1)
    assert repair()["ungraded assignments"] == 1
    assert Assignment.objects.get().state == State.FLAGGED
