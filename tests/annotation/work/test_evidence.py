"""Work that signals flag: who is asked, what they read, and what becomes of it. test_signals has the rules."""

from datetime import timedelta

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.judging.history import DOUBTS
from annotation.models import Assignment, Decision, Norm, Payment, Worker
from annotation.review.decisions import reject
from annotation.work.answers import places_of
from annotation.work.evidence import norm_of
from annotation.work.grading import PATIENCE, WAITED, ItemAnswer, accept_unreviewed, count_failures, grade
from annotation.work.leases import lease_seat
from annotation.work.repair import repair
from annotation.work.retirement import retire
from annotation.work.submissions import Answer, submit_answers
from hits.models import Control, Round, Seat
from tests.annotation.answering import home_of, leased, right_answers, submit
from tests.annotation.cast import answer, candidates, propose
from tests.factories import make_annotator, make_collection, make_retrieval, make_round, make_worker

State = Assignment.State


@pytest.fixture
def floor(settings):
    settings.LEAST_SECONDS_A_PAIR = 1


def done(assignment: Assignment, answers: list[Answer] | None = None, *, seconds: int = 200) -> Assignment:
    submit_answers(assignment, answers=answers or right_answers(assignment), active_seconds=seconds)
    return Assignment.objects.get(pk=assignment.pk)


@pytest.fixture
def fast(db, floor, commit) -> Assignment:
    """Work with right controls that took half a second a pair."""
    with commit(execute=True):
        return done(leased(make_round(candidates=14)), seconds=8)


def test_work_that_came_too_fast_waits_for_a_person_though_its_controls_are_right(fast):
    fast.refresh_from_db()
    assert (fast.state, fast.control_failures) == (State.FLAGGED, 0)
    assert [one["signal"] for one in fast.signals] == ["fast"]
    assert Payment.objects.count() == Decision.objects.count() == 0


def test_times_that_a_program_makes_up_are_no_signal(db, floor, commit):
    assignment = leased(make_round(candidates=14))
    type(assignment.worker).objects.update(simulated=True)
    assignment.refresh_from_db()
    with commit(execute=True):
        done(assignment, seconds=1)
    assert Assignment.objects.get().state == State.ACCEPTED


def test_a_robot_at_the_real_pages_is_flagged_and_reads_why(client, db, floor, commit):
    made = make_round(candidates=14)
    assignment = leased(made)
    with commit(execute=True):
        assert submit(client, assignment).status_code == 302
    assert Assignment.objects.get().state == State.FLAGGED
    assert DOUBTS["fast"] in client.get(home_of(assignment.worker, made)).content.decode()


def test_a_wrong_control_is_not_a_doubt_that_the_worker_reads(client, db, commit):
    made = make_round()
    assignment = leased(made)
    wrong = [Answer(one.item_id, 4) for one in right_answers(assignment)]
    with commit(execute=True):
        done(assignment, wrong)
    page = client.get(home_of(assignment.worker, made)).content.decode()
    assert Assignment.objects.get().state == State.FLAGGED
    assert "A person will check" not in page


def test_a_regular_pattern_is_seen_in_the_order_of_the_page(db, commit):
    assignment = leased(make_round(candidates=16))
    answers = [Answer(item, 1 + place % 4) for place, item in places_of(assignment).items()]
    with commit(execute=True):
        done(assignment, answers)
    (found,) = Assignment.objects.get().signals
    assert found["sentence"] == "100% of the answers repeat the one 4 pairs before."


def wait(assignment: Assignment, days: float) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(submitted_at=timezone.now() - timedelta(days=days))


def test_work_that_only_signals_flagged_is_accepted_and_owed_after_three_days(fast):
    wait(fast, 2.9)
    assert accept_unreviewed() == 0
    wait(fast, 3.1)
    assert accept_unreviewed() == 1
    fast.refresh_from_db()
    assert (fast.state, Decision.objects.get().reason) == (State.ACCEPTED, WAITED)
    assert Payment.objects.get().amount == fast.hit.round.reward
    assert Seat.objects.get().state == Seat.State.FILLED
    assert fast.signals, "the evidence stays"


def test_fast_work_with_a_wrong_control_waits_for_a_person_however_long(db, floor, commit):
    assignment = leased(make_round(candidates=14))
    with commit(execute=True):
        done(assignment, [Answer(one.item_id, 4) for one in right_answers(assignment)], seconds=1)
    wait(assignment, 30)
    assert accept_unreviewed() == 0
    retire(Control.objects.get(polarity="positive"), reason="The caption is wrong.", actor="robin")
    assert Assignment.objects.get().state == State.FLAGGED, "the signal still waits for a person"
    assert accept_unreviewed() == 1


def test_work_with_a_proposed_rejection_is_not_accepted_by_the_clock(fast, person):
    reject(fast, grounds="too_fast", reason="Too fast to be read.", evidence="8 s for 16 pairs.", by=person)
    fast.rejections.update(needs_second=True, seconded_at=None)
    Assignment.objects.filter(pk=fast.pk).update(state=State.FLAGGED)
    wait(fast, 30)
    assert accept_unreviewed() == 0


def test_staff_read_the_evidence_and_until_when_to_decide(fast, reviewer):
    fast.refresh_from_db()
    page = reviewer.get(reverse("assignment", args=[fast.pk]))
    assert page.context["accepted_at"] == fast.submitted_at + PATIENCE
    assert fast.signals[0]["sentence"] in page.text


@pytest.fixture
def known(db) -> Round:
    """A round of 20 HITs with 8 candidates: an annotator ranks half of the candidates first, which are matches, and one
    vote of twelve goes the other way. 16 HITs are done."""
    collection = make_collection(images=202, pictures=False)
    made = make_round(collection, hits=20, candidates=8)
    annotator = make_annotator("clip-like")
    made.pool.retrievals.set([make_retrieval(annotator, made.pool.sample)])
    rng = np.random.default_rng(0)
    for hit in made.hits.order_by("number"):
        pairs = candidates(hit)
        for pair in pairs[:4]:
            propose(made, [pair], annotator)
        if hit.number <= 16:
            truth = np.array([1, 2, 1, 2, 4, 4, 3, 4])
            answer(hit, *np.where(rng.random(8) < 1 / 12, 5 - truth, truth).tolist())
    return made


def test_a_norm_is_measured_from_ten_answer_sets_on_and_again_once_they_doubled(known):
    made = known
    norm = norm_of(made)
    assert norm.answer_sets == 16
    assert sum(norm.shares) == pytest.approx(1)
    assert norm.weights[1] > 1, "what is ranked first is a match more often"
    Norm.objects.update(answer_sets=8)
    assert norm_of(made).answer_sets == 16
    Norm.objects.update(answer_sets=9)
    assert norm_of(made).answer_sets == 9
    Seat.objects.update(state=Seat.State.OPEN)
    Norm.objects.all().delete()
    assert norm_of(made) is None


def judge(known: Round, worker: Worker, levels: list[int], commit) -> Assignment:
    """Have the worker give the candidates of their next HIT, in order, these levels, and the controls right ones."""
    assignment = lease_seat(known, worker=worker)
    given = iter(levels)
    items = assignment.hit.items.order_by("place")
    answers = [
        one if item.control_id else Answer(one.item_id, next(given))
        for one, item in zip(right_answers(assignment), items, strict=True)
    ]
    with commit(execute=True):
        return done(assignment, answers)


AT_RANDOM, LOOKED_AT = [4, 1, 4, 3, 2, 3, 1, 4], [1, 1, 2, 4, 4, 3, 4, 2]


def test_who_answers_at_random_with_right_controls_is_flagged_by_the_second_hit(known, commit):
    worker = make_worker()
    for _ in range(2):
        judge(known, worker, AT_RANDOM, commit)
    signals = [one for work in worker.assignments.all() for one in work.signals]
    assert {one["signal"] for one in signals} == {"chance"}


def test_what_a_person_has_let_pass_is_not_held_against_the_worker_again(known, commit, person):
    worker = make_worker()
    first = judge(known, worker, AT_RANDOM, commit)
    Assignment.objects.filter(pk=first.pk).update(state=State.ACCEPTED)
    Decision.objects.create(assignment=first, votes_count=True, paid=True, by=person, reason="I looked.")
    second = judge(known, worker, LOOKED_AT, commit)
    second.refresh_from_db()
    assert second.state == State.ACCEPTED


# How the answers to controls decide on the work

Polarity = Control.Polarity


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


READ_BEFORE = [ItemAnswer(1, Polarity.POSITIVE, 4, None, reported=False)]


@pytest.mark.parametrize(
    ("state", "answers", "failures"), [("retired", None, 0), ("retired", READ_BEFORE, 0), ("suspected", None, 1)]
)
def test_a_suspected_control_counts_and_a_retired_one_does_not(submitted, state, answers, failures):
    assignment = submitted(4, 4)
    Control.objects.filter(polarity=Polarity.POSITIVE).update(state=state)
    assert grade(assignment, answers=answers) == failures


def test_a_control_that_the_worker_judged_before_does_not_count_as_right(submitted):
    assignment = submitted(1, 4)
    assignment.judgments.filter(item__control__polarity=Polarity.POSITIVE).delete()
    grade(assignment)
    assignment.refresh_from_db()
    assert (assignment.state, Payment.objects.count()) == (State.FLAGGED, 0)


def test_candidates_are_never_graded(submitted):
    assignment = submitted(1, 4)
    assignment.judgments.filter(item__control=None).update(level=3)
    assert count_failures(assignment) == 0


def test_grading_twice_changes_nothing_and_a_decided_assignment_is_not_flagged_again(submitted):
    assignment = submitted(1, 4)
    assert [grade(assignment), grade(Assignment.objects.get())] == [0, 0]
    assert (Payment.objects.count(), Decision.objects.count()) == (1, 1)
    assignment.judgments.update(level=4)
    assert grade(assignment) == 1
    assert Assignment.objects.get().state == State.ACCEPTED


def test_the_reconciler_grades_what_was_left(submitted):
    submitted(4, 1)
    assert repair()["ungraded assignments"] == 1
    assert Assignment.objects.get().state == State.FLAGGED
