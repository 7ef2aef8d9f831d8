from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Admission, Assignment, Decision, Payment
from annotation.money.payments import mark_paid
from annotation.review.appeals import OUTAGE
from annotation.review.decisions import decide
from annotation.work.grading import accept, flag
from annotation.work.leases import claim, expire_leases, lease_seat
from annotation.work.submissions import mark_submitted
from core.errors import CounterpartError
from core.models import Event
from crowd.models import Visit
from crowd.posting.publication import close_round
from crowd.visits.intake import pay_for_outage
from hits.models import Round, Seat
from tests.annotation.money.moneyed import UNPAID, accepted, begin, flagged, pooled, posted
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


def test_an_excluded_seat_is_offered_to_another_worker_and_the_journal_names_who_decided(person):
    made = make_round()
    assignment = flagged(made)
    decide(assignment, votes_count=False, paid=True, reason="careless", by=person)
    assert lease_seat(made, worker=assignment.worker) is None
    assert lease_seat(made, worker=make_worker()).seat_id == assignment.seat_id
    event = Event.objects.get(verb="decided")
    assert (event.actor, event.data["votes_count"], event.data["paid"]) == ("robin", False, True)
    assert Event.objects.get(verb="excluded").subject == f"annotation.assignment:{assignment.pk}"


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


# Work that an outage of ours lost is paid


@pytest.fixture
def lost(db, platform) -> Assignment:
    """Work that the platform confirms and the site has no answers of."""
    made = posted()
    flagged(made)
    Assignment.objects.update(state="leased", seat=None, receipt="", problem="no answers")
    made.hits.get().seats.update(state="open")
    return Assignment.objects.get()


def test_confirmed_work_that_was_lost_is_paid_its_reward_once_for_a_named_fault_and_counts_for_nothing(lost, person):
    with pytest.raises(CounterpartError, match="which fault"):
        pay_for_outage(lost, reason=" ", by=person)
    payment = pay_for_outage(lost, reason="The disk was full.", by=person)
    assert (payment.kind, payment.state, payment.assignment.state) == ("reward", "owed", "excluded")
    assert (Decision.objects.get().by, Decision.objects.get().votes_count) == (person, False)
    assert Event.objects.get(verb="lost in an outage").data == {"reason": "The disk was full."}
    assert pay_for_outage(lost, reason="y", by=person) == payment
    assert (Payment.objects.count(), Assignment.objects.count()) == (1, 1)


def test_what_no_platform_confirms_is_not_paid(lost, person):
    Visit.objects.update(state="")
    with pytest.raises(CounterpartError, match="submitted"):
        pay_for_outage(lost, reason="x", by=person)


def test_work_taken_in_without_its_answers_is_excluded_and_paid(person, platform):
    work = flagged(posted())
    Assignment.objects.update(problem="no whole answer set")
    payment = pay_for_outage(Assignment.objects.get(), reason="x", by=person)
    work.refresh_from_db()
    assert (work.state, payment.assignment) == ("excluded", work)


def test_work_whose_answers_are_here_is_decided_and_not_called_lost(person, platform):
    flagged(posted())
    with pytest.raises(CounterpartError, match="are here"):
        pay_for_outage(Assignment.objects.get(), reason="x", by=person)


def test_in_the_house_pool_begun_work_is_paid_as_a_bonus(person):
    held = begin(pooled())
    payment = pay_for_outage(held, reason="The site was down.", by=person)
    assert (payment.kind, payment.reason, str(payment.amount)) == ("bonus", OUTAGE, "0.65")
    assert pay_for_outage(held, reason="again", by=person) == payment


def test_in_the_house_pool_paid_work_is_not_handed_in_and_its_seat_waits_for_another_worker(person):
    made = pooled()
    held = begin(made)
    pay_for_outage(held, reason="The site was down.", by=person)
    assert mark_submitted(held, active_seconds=60) is None
    assert (Payment.objects.count(), Seat.objects.get().state) == (1, "open")
    assert lease_seat(made, worker=held.worker) is None
    assert begin(made)


def test_in_the_house_pool_a_lease_that_ran_out_leaves_its_seat_to_whoever_has_it(person):
    made = pooled()
    held = begin(made)
    Assignment.objects.update(deadline=timezone.now())
    expire_leases()
    other = begin(made)
    pay_for_outage(held, reason="The site was down.", by=person)
    assert mark_submitted(other, active_seconds=60)
    assert (Seat.objects.get().state, mark_submitted(held, active_seconds=60)) == ("taken", None)


def test_in_the_house_pool_submitted_work_is_decided(person):
    with pytest.raises(CounterpartError, match="was submitted; decide it"):
        pay_for_outage(accepted(pooled()), reason="x", by=person)


def test_the_command_pays_and_says_whom(lost, person, capsys):
    call_command("pay", "outage", "round-1", lost.outside_key, "--reason", "disk", "--by", "robin")
    assert str(lost.worker) in capsys.readouterr().out


@pytest.mark.parametrize(
    ("work", "by", "message"),
    [("NOBODY", "robin", "no confirmed assignment 'NOBODY'"), ("A1", "nobody", "inactive user 'nobody'")],
)
def test_the_command_refuses_the_unknown_by_name(lost, person, work, by, message):
    Visit.objects.update(external_id="A1")
    with pytest.raises(CommandError, match=message):
        call_command("pay", "outage", "round-1", work, "--reason", "disk", "--by", by)
