"""Decisions on several answer sets at once and their undo, notes, assignment, and the brake on a worker who waits."""

import pytest
from django.contrib.auth.models import User

from annotation.judging.links import Trouble
from annotation.models import Assignment, Decision, Payment, Rejection, Worker
from annotation.money.payments import mark_paid
from annotation.people.admission import BRAKE
from annotation.review.decisions import decide
from annotation.review.worker_cases import case_of, decide_on, undo_decisions
from annotation.work.grading import grade
from annotation.work.leases import lease_seat
from annotation.work.submissions import Answer, submit_answers
from core.errors import CounterpartError
from crowd.visits.arrivals import refuse_shut_out
from hits.models import Round
from tests.annotation.answering import home_of, limit
from tests.annotation.money.moneyed import WORDS
from tests.at_once import at_once
from tests.factories import make_assignment, make_collection, make_round, make_worker

State = Assignment.State
EXCLUDE = {"votes_count": False, "paid": True, "reason": "Always 100% YES."}
COUNT = {"votes_count": True, "paid": True, "reason": "Looked at."}


def always_yes(assignment: Assignment) -> Assignment:
    """Answer 100% YES throughout: the negative control is wrong, and the work is flagged."""
    submit_answers(assignment, answers=[Answer(item.pk, 1) for item in assignment.hit.items.all()], active_seconds=300)
    grade(Assignment.objects.get(pk=assignment.pk))
    return Assignment.objects.get(pk=assignment.pk)


@pytest.fixture
def wide(db) -> Round:
    return make_round(make_collection(images=40, captions_each=1), hits=6)


@pytest.fixture
def worker(wide) -> Worker:
    """A worker with as many flagged answer sets as the brake allows."""
    worker = make_worker()
    for _ in range(BRAKE):
        always_yes(lease_seat(wide, worker=worker))
    return worker


def states(worker: Worker) -> list[str]:
    return [*worker.assignments.order_by("pk").values_list("state", flat=True)]


def test_a_worker_whose_last_sets_all_wait_gets_no_hit_until_one_is_decided(wide, worker, person):
    assert states(worker) == [State.FLAGGED] * BRAKE
    assert lease_seat(wide, worker=worker) is None
    assert lease_seat(wide, worker=make_worker())
    decide(case_of(worker).first(), **COUNT, by=person)
    assert lease_seat(wide, worker=worker)


def test_a_visitor_of_a_platform_is_asked_to_return_the_hit(wide, worker):
    with pytest.raises(Trouble, match="Your last HITs are being checked"):
        refuse_shut_out(worker, wide)


def test_one_accepted_set_among_the_last_releases_the_brake(wide, worker):
    newest = worker.assignments.latest("pk")
    Assignment.objects.filter(pk=newest.pk).update(state=State.ACCEPTED)
    assert lease_seat(wide, worker=worker)


def test_written_sentences_wait_for_a_person_without_a_brake(wide, worker):
    Round.objects.filter(pk=wide.pk).update(task="caption")
    other = make_round(make_collection("farm", images=20), "round-2")
    assert lease_seat(other, worker=worker)


def test_the_worker_reads_that_a_person_checks_and_nothing_of_controls(client, wide, worker):
    limit(wide)
    page = client.get(home_of(worker, wide)).content.decode()
    assert "Your last HITs are being checked" in page
    assert "Judge a HIT" not in page
    assert "control" not in page
    assert "Completion code" not in client.get(home_of(worker, wide) + "?nothing-left").content.decode()


def test_a_braked_worker_who_asks_at_the_moment_of_a_decision_gets_one_hit_at_most(transactional_db):
    person = User.objects.create(username="robin")
    made = make_round(make_collection(images=40, captions_each=1), hits=6)
    worker = make_worker()
    for _ in range(BRAKE):
        always_yes(lease_seat(made, worker=worker))
    work = case_of(worker).first()
    at_once(*[lambda: lease_seat(made, worker=worker)] * 4, lambda: decide(work, **COUNT, by=person))
    assert worker.assignments.filter(state=State.LEASED).count() <= 1
    assert lease_seat(made, worker=worker)


def test_all_work_of_a_worker_is_decided_at_once_and_undone(worker, person):
    made = decide_on(case_of(worker), **EXCLUDE, by=person)
    assert (states(worker), Payment.objects.filter(state="owed").count()) == ([State.EXCLUDED] * BRAKE, BRAKE)
    assert undo_decisions(made, by=person) == BRAKE
    assert (states(worker), Payment.objects.filter(state="owed").count()) == ([State.FLAGGED] * BRAKE, 0)
    assert Decision.objects.filter(undone_at=None).count() == 0
    decide_on(case_of(worker), **COUNT, by=person)
    assert states(worker) == [State.ACCEPTED] * BRAKE


def test_nothing_is_decided_where_one_set_cannot_be(worker, person):
    sets = [*case_of(worker)]
    Assignment.objects.filter(pk=sets[-1].pk).update(state=State.RETURNED)
    with pytest.raises(CounterpartError, match="cannot be decided"):
        decide_on(sets, **EXCLUDE, by=person)
    assert not Decision.objects.exists()
    with pytest.raises(CounterpartError, match="waits any more"):
        decide_on([], **EXCLUDE, by=person)


def test_a_refusal_is_undone_with_its_rejection(worker, person):
    (made,) = decide_on(case_of(worker)[:1], votes_count=False, paid=False, **WORDS, by=person)
    undo_decisions([made], by=person)
    assert (states(worker)[0], Rejection.objects.get().holds) == (State.FLAGGED, False)


def test_no_decision_is_undone_after_its_effects(worker, person):
    other = User.objects.create(username="sam")
    (made,) = decide_on(case_of(worker)[:1], **EXCLUDE, by=person)
    with pytest.raises(CounterpartError, match="Another person"):
        undo_decisions([made], by=other)
    taken = make_assignment(made.assignment.seat)
    with pytest.raises(CounterpartError, match="given to another worker"):
        undo_decisions([made], by=person)
    taken.delete()
    mark_paid(Payment.objects.get(), actor="robin")
    with pytest.raises(CounterpartError, match="paid already"):
        undo_decisions([made], by=person)
    decide(made.assignment, **EXCLUDE, by=person)
    with pytest.raises(CounterpartError, match="not the only one"):
        undo_decisions([made], by=person)
