from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Admission, Assignment, Decision, Payment
from annotation.money.payments import mark_paid
from annotation.review.decisions import decide
from annotation.work.grading import accept, flag
from annotation.work.leases import claim, expire_leases, lease_seat
from annotation.work.submissions import mark_submitted
from core.errors import CounterpartError
from core.models import Event
from crowd.posting.publication import close_round
from hits.models import Round, Seat
from tests.annotation.money.moneyed import UNPAID, accepted, flagged
from tests.annotation.money.moneyed import submit as submitted
from tests.factories import make_round, make_worker

State = Assignment.State


def seat_of(assignment):
    return Seat.objects.get(pk=assignment.seat_id).state


def expired(assignment):
    Assignment.objects.filter(pk=assignment.pk).update(deadline=timezone.now() - timedelta(seconds=1))
    expire_leases()
    return assignment


def test_a_submission_gets_a_receipt_and_keeps_its_seat(db):
    assignment = lease_seat(make_round(), worker=make_worker())
    receipt = mark_submitted(assignment, active_seconds=240)
    stored = Assignment.objects.get()
    assert receipt == stored.receipt == stored.receipt_code
    assert (stored.state, stored.active_seconds, seat_of(stored)) == (State.SUBMITTED, 240, Seat.State.TAKEN)
    assert stored.submitted_at is not None


@pytest.mark.parametrize("state", [State.RETURNED, State.FLAGGED, State.ACCEPTED, State.EXCLUDED])
def test_only_a_lease_can_be_submitted(db, state):
    assignment = lease_seat(make_round(), worker=make_worker())
    Assignment.objects.update(state=state, receipt="1-a")
    assert mark_submitted(assignment, active_seconds=1) is None


def test_an_expired_lease_may_still_be_submitted_while_its_seat_is_free(db):
    assignment = expired(lease_seat(make_round(), worker=make_worker()))
    assert mark_submitted(assignment, active_seconds=1)
    assert (Assignment.objects.get().state, seat_of(assignment)) == (State.SUBMITTED, Seat.State.TAKEN)


def test_an_expired_lease_is_lost_once_its_worker_took_the_hit_again(db):
    made, worker = make_round(replication=2), make_worker()
    late = expired(lease_seat(made, worker=worker))
    assert lease_seat(made, worker=worker)
    Seat.objects.filter(pk=late.seat_id).update(state=Seat.State.OPEN)
    assert mark_submitted(late, active_seconds=1) is None
    assert (Assignment.objects.get(pk=late.pk).state, seat_of(late)) == (State.EXPIRED, Seat.State.OPEN)


def test_an_expired_lease_is_lost_once_its_worker_has_as_many_hits_as_one_may(db):
    made, worker = make_round(hits=2), make_worker()
    Admission.objects.create(round=made, per_worker=1)
    late = expired(lease_seat(made, worker=worker))
    other = Seat.objects.exclude(pk=late.seat_id).get()
    assert claim(other.pk)
    Assignment.objects.create(seat=other, hit=other.hit, worker=worker, deadline=timezone.now())
    assert mark_submitted(late, active_seconds=1) is None
    assert (Assignment.objects.get(pk=late.pk).state, seat_of(late)) == (State.EXPIRED, Seat.State.OPEN)


def test_work_on_a_closed_round_may_still_be_submitted_and_accepted(db):
    made = make_round()
    assignment = lease_seat(made, worker=make_worker())
    close_round(made, actor="test")
    assert mark_submitted(assignment, active_seconds=1)
    assert accept(assignment)


def test_accepted_work_fills_its_seat_and_is_owed(db):
    assignment = accepted(make_round(reward="0.65"))
    assert (assignment.state, seat_of(assignment)) == (State.ACCEPTED, Seat.State.FILLED)
    assert (assignment.payments.get().state, str(assignment.payments.get().amount)) == ("owed", "0.65")
    decision = Decision.objects.get()
    assert (decision.votes_count, decision.paid, decision.by) == (True, True, None)


@pytest.mark.parametrize("grade", [accept, lambda a: flag(a, control_failures=1)])
def test_a_lease_cannot_be_graded(db, grade):
    assignment = lease_seat(make_round(), worker=make_worker())
    assert not grade(assignment)
    assert Assignment.objects.get().state == State.LEASED


def test_work_that_the_ceiling_cannot_pay_waits_for_a_person(db):
    assignment = submitted(make_round())
    Round.objects.update(ceiling="0.10")
    assert not accept(assignment)
    assert (Assignment.objects.get().state, Payment.objects.count()) == (State.FLAGGED, 0)


@pytest.mark.parametrize(
    ("votes_count", "paid", "state", "seat", "owed"),
    [
        (True, True, State.ACCEPTED, Seat.State.FILLED, 1),
        (False, True, State.EXCLUDED, Seat.State.OPEN, 1),
        (False, False, State.EXCLUDED, Seat.State.OPEN, 0),
    ],
)
def test_votes_and_pay_are_decided_apart(person, votes_count, paid, state, seat, owed):
    assignment = flagged(make_round())
    decision = decide(assignment, **UNPAID | {"votes_count": votes_count, "paid": paid}, reason="I looked", by=person)
    assert (assignment.state, seat_of(assignment), Payment.objects.count()) == (state, seat, owed)
    assert (decision.by, decision.reason) == (person, "I looked")


def test_work_that_counts_is_paid(person):
    assignment = flagged(make_round())
    with pytest.raises(CounterpartError, match="unpaid"):
        decide(assignment, **UNPAID | {"votes_count": True}, reason="useful", by=person)
    assert (Assignment.objects.get().state, Decision.objects.count()) == (State.FLAGGED, 0)


def test_an_excluded_seat_is_offered_to_another_worker(person):
    made = make_round()
    assignment = flagged(made)
    decide(assignment, votes_count=False, paid=True, reason="careless", by=person)
    assert lease_seat(made, worker=assignment.worker) is None
    assert lease_seat(made, worker=make_worker()).seat_id == assignment.seat_id


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_a_decision_needs_a_reason(person, reason):
    assignment = flagged(make_round())
    with pytest.raises(CounterpartError, match="without a reason"):
        decide(assignment, votes_count=True, paid=True, reason=reason, by=person)
    assert Assignment.objects.get().state == State.FLAGGED


@pytest.mark.parametrize("state", [State.LEASED, State.SUBMITTED, State.RETURNED, State.EXPIRED])
def test_what_was_not_graded_cannot_be_decided(person, state):
    assignment = lease_seat(make_round(), worker=make_worker())
    Assignment.objects.update(state=state)
    with pytest.raises(CounterpartError, match="cannot be decided"):
        decide(assignment, votes_count=True, paid=True, reason="x", by=person)
    assert not Decision.objects.exists()


def test_excluded_votes_can_count_again_while_the_seat_is_free(person):
    assignment = flagged(make_round())
    decide(assignment, votes_count=False, paid=True, reason="careless", by=person)
    decide(assignment, votes_count=True, paid=True, reason="the control was wrong", by=person)
    assert (assignment.state, seat_of(assignment)) == (State.ACCEPTED, Seat.State.FILLED)
    assert (Payment.objects.count(), Decision.objects.count()) == (1, 2)


def test_once_the_seat_was_given_away_excluded_votes_cannot_count_again_but_be_paid(person):
    made = make_round()
    assignment = flagged(made)
    decide(assignment, **UNPAID, reason="careless", by=person)
    other = lease_seat(made, worker=make_worker())
    with pytest.raises(CounterpartError, match="was given to another worker"):
        decide(assignment, votes_count=True, paid=True, reason="second thoughts", by=person)
    assert Assignment.objects.get(pk=assignment.pk).state == State.EXCLUDED
    assert (Assignment.objects.get(pk=other.pk).state, seat_of(other)) == (State.LEASED, Seat.State.TAKEN)
    assert (Decision.objects.count(), Payment.objects.count()) == (1, 0)
    decide(assignment, votes_count=False, paid=True, reason="honest work after all", by=person)
    assert (seat_of(other), Payment.objects.get().assignment) == (Seat.State.TAKEN, assignment)


def test_accepted_work_can_be_excluded_later(person):
    assignment = accepted(make_round())
    decide(assignment, votes_count=False, paid=True, reason="copied", by=person)
    assert (assignment.state, seat_of(assignment), Payment.objects.get().state) == ("excluded", "open", "owed")


def test_what_was_paid_cannot_be_withdrawn(person):
    assignment = accepted(make_round())
    mark_paid(assignment.payments.get(), actor="robin")
    with pytest.raises(CounterpartError, match="are paid already"):
        decide(assignment, **UNPAID, reason="copied", by=person)
    assert (Assignment.objects.get().state, seat_of(assignment)) == (State.ACCEPTED, Seat.State.FILLED)


def test_the_journal_names_who_decided_and_what(person):
    assignment = flagged(make_round())
    decide(assignment, votes_count=False, paid=True, reason="careless", by=person)
    event = Event.objects.get(verb="decided")
    assert (event.actor, event.data["votes_count"], event.data["paid"]) == ("robin", False, True)
    assert Event.objects.get(verb="excluded").subject == f"annotation.assignment:{assignment.pk}"
