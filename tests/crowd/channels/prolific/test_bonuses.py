"""Bonuses on Prolific, whose second call pays again each time it is made: none is ever paid twice."""

from contextlib import suppress
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone

from annotation.models import Assignment, Payment
from annotation.money.payments import owe_bonus
from core.errors import CounterpartError
from crowd.calls.outbox import send_failed_again
from crowd.calls.single_payments import settle, unclear_payments
from crowd.channels import base
from crowd.differences import find_differences, repair
from crowd.models import Outbox, Posting
from crowd.posting.publication import close_round
from crowd.sync import rounds_to_sync
from hits.models import Round
from tests.crowd.platform import quiet_sync, sync
from tests.crowd.prolific_rehearsal import faults_of, published, rehearsing, rest, rest_until_clear, work

pytestmark = pytest.mark.slow
PLATFORM = rehearsing


def begin(there, commit) -> None:
    """Have a round of one HIT whose work is paid."""
    made = published(hits=1, commit=commit)
    work(there, commit)
    sync(made, commit)


@pytest.fixture
def paid(begun_round) -> Round:
    return begun_round


def give(commit, amount="0.50", reason="Thank you.") -> Payment:
    with commit(execute=True):
        return owe_bonus(Assignment.objects.get(), amount=Decimal(amount), reason=reason, actor="robin")


@pytest.mark.parametrize(("operation", "declared"), faults_of("create_bonuses", "pay_bonuses", "show_submission"))
def test_a_bonus_call_that_goes_wrong_never_pays_twice(resumed, commit, paid, operation, declared):
    resumed.fault(operation=operation, times=1, **declared)
    bonus = give(commit)
    rest_until_clear(paid, resumed, commit)
    bonus.refresh_from_db()
    assert len(resumed.bonuses()) <= 1
    assert (bonus.state == "paid") == (len(resumed.bonuses()) == 1)
    if bonus.state != "paid":
        assert [row.subject for row in unclear_payments()] == [f"annotation.payment:{bonus.pk}"]


def unclear(resumed, commit, paid) -> Outbox:
    """A bonus whose call was lost before it paid."""
    resumed.fault(kind="reset", operation="pay_bonuses", times=1)
    give(commit)
    rest_until_clear(paid, resumed, commit)
    return Outbox.objects.get(state="failed")


def test_only_a_person_sends_an_unclear_bonus_again(resumed, commit, paid):
    row = unclear(resumed, commit, paid)
    with commit(execute=True):
        send_failed_again(paid, actor="robin")
    call_command("reconcile_books", paid.name, repair=True)
    rest(paid, resumed, commit, times=10)
    assert resumed.bonuses() == []
    row.refresh_from_db()
    with transaction.atomic():
        settle(row, was_paid=False, by="robin")
    rest(paid, resumed, commit)
    assert resumed.bonuses() == [Decimal("0.50")]
    assert not unclear_payments().exists()
    with pytest.raises(CounterpartError, match="settled"):
        settle(row, was_paid=False, by="robin")


def test_a_person_may_find_that_an_unclear_bonus_was_paid(resumed, commit, paid):
    row = unclear(resumed, commit, paid)
    settle(row, was_paid=True, by="robin")
    rest(paid, resumed, commit)
    assert (resumed.bonuses(), Payment.objects.get(kind="bonus").state) == ([], "paid")


def listed_after_hours(resumed, commit, paid) -> Outbox:
    """A bonus that Prolific pays and lists only after its call has failed as unclear."""
    resumed.fault(kind="late", operation="pay_bonuses", seconds=3 * 3600)
    give(commit)
    rest_until_clear(paid, resumed, commit)
    row = Outbox.objects.get(state="failed")
    resumed.later(hours=4)
    return row


def test_an_unclear_bonus_is_settled_by_the_sync_that_finds_it_listed(resumed, commit, paid):
    row = listed_after_hours(resumed, commit, paid)
    close_round(paid, actor="robin")
    Posting.objects.update(state="closed", settled_at=timezone.now())
    assert rounds_to_sync() == [paid]
    for _ in range(2):
        quiet_sync(paid, commit)
    row.refresh_from_db()
    assert (row.state, row.unclear, Payment.objects.get(kind="bonus").state) == ("done", False, "paid")
    assert (resumed.bonuses(), rounds_to_sync()) == ([Decimal("0.50")], [])
    with pytest.raises(CounterpartError, match="settled"):
        settle(row, was_paid=False, by="robin")


def test_an_audit_names_an_unclear_bonus_that_is_listed_and_its_repair_settles_it(resumed, commit, paid):
    listed_after_hours(resumed, commit, paid)
    found = find_differences(paid)
    assert ("unclear", "$0.50 paid") in [(one.here, one.there) for one in found]
    assert Payment.objects.get(kind="bonus").state == "owed"
    repair(paid, found, actor="robin")
    assert (Payment.objects.get(kind="bonus").state, find_differences(paid)) == ("paid", [])


def test_an_audit_waits_where_it_asks_too_often(resumed, commit, paid, monkeypatch):
    waits: list[float] = []
    monkeypatch.setattr(base, "sleep", waits.append)
    resumed.fault(kind="throttle", operation="show_submission", times=2)
    assert find_differences(paid) == []
    assert waits == [20.0, 20.0]
    for operation in ("list_studies", "list_submissions"):
        resumed.fault(kind="throttle", operation=operation, times=1)
    assert (find_differences(paid), len(waits)) == ([], 4)
    resumed.fault(kind="throttle", operation="show_submission")
    with pytest.raises(CounterpartError, match="429"):
        find_differences(paid)
    assert len(waits) == 4 + base.MOST_WAITS


def test_a_bonus_that_is_listed_late_is_waited_for(resumed, commit, paid):
    resumed.fault(kind="late", operation="pay_bonuses", seconds=300)
    give(commit)
    for _ in range(2):
        sync(paid, commit)
    assert Payment.objects.get(kind="bonus").state == "owed"
    rest(paid, resumed, commit, times=4)
    assert Payment.objects.get(kind="bonus").state == "paid"
    assert resumed.bonuses() == [Decimal("0.50")]


def test_two_equal_bonuses_of_one_work_are_paid_one_after_the_other(resumed, commit, paid):
    give(commit, reason="Once."), give(commit, reason="Twice.")
    rest(paid, resumed, commit, times=6)
    assert resumed.bonuses() == [Decimal("0.50")] * 2
    assert set(Payment.objects.values_list("state", flat=True)) == {"paid"}


def test_a_bonus_waits_while_another_one_of_its_work_is_unclear(resumed, commit, paid):
    """Both have one amount: paying the second would look as if the first had been paid."""
    first = unclear(resumed, commit, paid)
    give(commit, reason="Another one.")
    rest(paid, resumed, commit)
    assert resumed.bonuses() == []
    settle(first, was_paid=False, by="robin")
    rest(paid, resumed, commit, times=6)
    assert resumed.bonuses() == [Decimal("0.50")] * 2
    assert set(Payment.objects.values_list("state", flat=True)) == {"paid"}


def test_a_bonus_without_funds_waits_for_money(resumed, commit, paid):
    resumed.world.act("set_balance", available="0.10")
    give(commit)
    rest(paid, resumed, commit)
    assert resumed.bonuses() == []
    resumed.world.act("set_balance", available="10.00")
    rest(paid, resumed, commit)
    assert resumed.bonuses() == [Decimal("0.50")]


def test_an_audit_never_orders_a_bonus_that_is_not_listed(resumed, commit, paid):
    with commit(execute=True):
        payment = give(commit)
    Outbox.objects.filter(subject=f"annotation.payment:{payment.pk}").update(state="done")
    Payment.objects.filter(pk=payment.pk).update(state="paid", paid_at=timezone.now())
    with suppress(CommandError):
        call_command("reconcile_books", paid.name, repair=True)
    assert Payment.objects.get(pk=payment.pk).state == "paid"
