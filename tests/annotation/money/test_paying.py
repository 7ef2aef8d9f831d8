from decimal import Decimal

import pytest
from django.utils import timezone

from annotation.models import Assignment, Payment
from annotation.money.budget import CeilingError
from annotation.money.ledger import balance_of
from annotation.money.payments import mark_paid, owe, owe_bonus, withdraw
from annotation.work.grading import accept
from annotation.work.leases import lease_seat, move
from annotation.work.submissions import mark_submitted
from core.errors import CounterpartError
from core.models import Event
from crowd.calls import outbox
from crowd.calls.outbox import MAX_ATTEMPTS, deliver, take_wanted
from crowd.channels.base import ChannelError
from crowd.models import Outbox
from hits.models import Round
from tests.annotation.money.moneyed import accepted, posted
from tests.factories import make_round, make_worker, put_on_platform


def excluded(made):
    """Work that was done and does not count; whether it is paid is open."""
    assignment = lease_seat(made, worker=make_worker())
    move(assignment, come_from=Assignment.State.LEASED, to=Assignment.State.EXCLUDED, actor="robin")
    return assignment


def on_mturk(made):
    return put_on_platform(made, "sandbox")


def test_owing_and_withdrawing_twice_is_once_and_what_is_not_owed_is_not_withdrawn(db):
    assignment = excluded(make_round(reward="0.65"))
    assert not withdraw(assignment, actor="robin")
    assert owe(assignment) == owe(assignment)
    assert Payment.objects.get().amount == Decimal("0.65")
    assert Event.objects.filter(verb="owed").count() == 1
    assert [withdraw(assignment, actor="robin") for _ in range(2)] == [True, False]


def test_one_call_to_pay_is_written_down_with_the_debt(db):
    payment = owe(excluded(on_mturk(make_round(reward="0.65"))))
    assert Payment.objects.get().call == Payment.Call.WANTED
    (call,) = take_wanted()
    assert (take_wanted(), Payment.objects.get().call) == ([], Payment.Call.NONE)
    assert (call.call, call.subject, call.payload) == ("pay", f"annotation.payment:{payment.pk}", {"amount": "0.65"})
    assert (call.channel, call.environment, call.state) == ("mturk", "sandbox", Outbox.State.PENDING)
    assert payment.fee == Decimal("0.13")


def test_a_bonus_needs_room_for_its_fee_too(db, platform):
    made = posted(ceiling="2.00")
    paid = accepted(made)
    free = balance_of(made).free
    with pytest.raises(CeilingError, match="left below its ceiling"):
        owe_bonus(paid, amount=free, reason="Thank you.", actor="robin")
    assert owe_bonus(paid, amount=Decimal("0.50"), reason="Thank you.", actor="robin").fee == Decimal("0.10")


def test_work_that_is_not_decided_is_not_owed(db):
    assignment = lease_seat(make_round(), worker=make_worker())
    mark_submitted(assignment, active_seconds=1)
    with pytest.raises(CounterpartError, match="decide it before it is paid"):
        owe(assignment)
    assert not Payment.objects.exists()


def test_nothing_is_owed_past_the_ceiling_and_withdrawn_money_is_free_for_others(db):
    made = make_round(hits=3, reward="0.65")
    first, second, third = [excluded(made) for _ in range(3)]
    Round.objects.update(ceiling="1.30")
    owe(first), owe(second)
    with pytest.raises(CeilingError, match=r"\$0.65 more"):
        owe(third)
    assert Payment.objects.count() == 2
    withdraw(first, actor="robin")
    assert owe(third).state == Payment.State.OWED


def test_the_platforms_fee_counts_towards_the_ceiling(db):
    made = on_mturk(make_round(hits=2, reward="0.65"))
    first, second = excluded(made), excluded(made)
    Round.objects.update(ceiling="1.55")  # twice 0.65 + 0.13 is 1.56
    owe(first)
    with pytest.raises(CeilingError):
        owe(second)


def test_the_browser_pool_owes_until_a_person_marks_it_paid(db, commit):
    with commit(execute=True):
        payment = owe(excluded(make_round()))
    payment.refresh_from_db()
    assert (Outbox.objects.count(), payment.state) == (0, Payment.State.OWED)
    assert mark_paid(payment, actor="robin")
    assert not mark_paid(payment, actor="robin")
    assert Event.objects.filter(verb="paid").count() == 1


def test_a_platform_that_pays_settles_the_debt(db, platform, commit):
    with commit(execute=True):
        payment = owe(excluded(on_mturk(make_round())))
    payment.refresh_from_db()
    assert payment.state == Payment.State.PAID
    assert payment.paid_at is not None
    assert list(platform.effects.values()) == ["pay"]


def test_accepted_work_is_paid_once_however_often_its_call_is_made(db, platform):
    assignment = lease_seat(on_mturk(make_round()), worker=make_worker())
    mark_submitted(assignment, active_seconds=1)
    accept(assignment)
    (call,) = take_wanted()
    assert [deliver(call.pk), deliver(call.pk), deliver(call.pk)] == [True, False, False]
    assert platform.calls == [("pay", str(call.pk))]


def test_what_is_withdrawn_before_its_call_is_made_is_not_sent_and_once_owed_again_it_is_paid_once(db, platform):
    assignment = excluded(on_mturk(make_round()))
    owe(assignment)
    assert withdraw(assignment, actor="robin")
    assert take_wanted() == []
    owe(assignment)
    (call,) = take_wanted()
    assert withdraw(assignment, actor="robin")
    assert deliver(call.pk)
    assert (platform.calls, Payment.objects.get().state) == ([], Payment.State.WITHDRAWN)
    assert owe(assignment).state == Payment.State.OWED
    assert take_wanted() == [call]
    deliver(call.pk), deliver(call.pk)
    assert (len(platform.calls), Payment.objects.get().state) == (1, Payment.State.PAID)


def test_what_is_owed_again_while_a_sender_finds_it_withdrawn_is_still_paid(db, platform, monkeypatch):
    assignment = excluded(on_mturk(make_round()))
    owe(assignment)
    (call,) = take_wanted()
    withdraw(assignment, actor="robin")
    finish = outbox._finish
    monkeypatch.setattr(outbox, "_finish", lambda row, settle: (owe(assignment), finish(row, settle)))
    deliver(call.pk)
    monkeypatch.setattr(outbox, "_finish", finish)
    assert (platform.calls, Payment.objects.get().state) == ([], Payment.State.OWED)
    assert outbox.make_wanted_calls() == 1
    assert (len(platform.calls), Payment.objects.get().state) == (1, Payment.State.PAID)


@pytest.mark.parametrize("attempts", [1, MAX_ATTEMPTS])
def test_money_that_may_be_on_its_way_cannot_be_withdrawn(db, platform, attempts):
    assignment = excluded(on_mturk(make_round()))
    owe(assignment)
    (call,) = take_wanted()
    platform.failures = [ChannelError("The line was cut.")] * attempts
    for _ in range(attempts):
        deliver(call.pk)
        Outbox.objects.update(due_at=timezone.now())
    with pytest.raises(CounterpartError, match="is being made; try again"):
        withdraw(assignment, actor="robin")
    assert Payment.objects.get().state == Payment.State.OWED


def test_money_cannot_be_withdrawn_while_its_call_is_made(db, platform, monkeypatch):
    assignment = excluded(on_mturk(make_round()))
    owe(assignment)

    def pay(payment, *, token):
        with pytest.raises(CounterpartError, match="is being made; try again"):
            withdraw(assignment, actor="robin")

    monkeypatch.setattr(platform, "pay", pay)
    assert outbox.make_wanted_calls() == 1
    assert Payment.objects.get().state == Payment.State.PAID


def test_money_that_the_platform_surely_did_not_move_can_be_withdrawn(db, platform):
    assignment = excluded(on_mturk(make_round()))
    owe(assignment)
    platform.failures = [ChannelError("Throttled", reached=False)]
    assert outbox.make_wanted_calls() == 0
    assert withdraw(assignment, actor="robin")
