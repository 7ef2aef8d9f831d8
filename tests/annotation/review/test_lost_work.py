"""Work that an outage of ours lost is paid."""

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Assignment, Decision, Payment
from annotation.review.lost_work import OUTAGE
from annotation.work.leases import expire_leases, lease_seat
from annotation.work.submissions import mark_submitted
from core.errors import CounterpartError
from core.models import Event
from crowd.models import Visit
from crowd.outages import pay_for_outage
from hits.models import Seat
from tests.annotation.money.moneyed import accepted, begin, flagged, pooled, posted


@pytest.fixture
def lost(db, platform) -> Assignment:
    """Work that the platform confirms and of which nothing is here."""
    made = posted()
    flagged(made)
    Assignment.objects.update(state="leased", seat=None, receipt="", problem="no answers")
    made.hits.get().seats.update(state="open")
    return Assignment.objects.get()


def test_confirmed_work_that_was_lost_is_paid_its_reward_and_counts_for_nothing(lost, person):
    payment = pay_for_outage(lost, reason="The disk was full.", by=person)
    assert (payment.kind, payment.state, payment.assignment.state) == ("reward", "owed", "excluded")
    assert (Decision.objects.get().by, Decision.objects.get().votes_count) == (person, False)
    assert Event.objects.get(verb="lost in an outage").data == {"reason": "The disk was full."}


def test_it_is_paid_once(lost, person):
    assert pay_for_outage(lost, reason="x", by=person) == pay_for_outage(lost, reason="y", by=person)
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


def test_the_fault_has_to_be_named(lost, person):
    with pytest.raises(CounterpartError, match="which fault"):
        pay_for_outage(lost, reason=" ", by=person)


def test_the_command_pays_and_says_whom(lost, person, capsys):
    call_command("pay_for_outage", "round-1", lost.outside_key, "--reason", "disk", "--by", "robin")
    assert str(lost.worker) in capsys.readouterr().out


@pytest.mark.parametrize(
    ("work", "by", "message"),
    [("NOBODY", "robin", "no confirmed assignment 'NOBODY'"), ("A1", "nobody", "inactive user 'nobody'")],
)
def test_the_command_refuses_the_unknown_by_name(lost, person, work, by, message):
    Visit.objects.update(external_id="A1")
    with pytest.raises(CommandError, match=message):
        call_command("pay_for_outage", "round-1", work, "--reason", "disk", "--by", by)
