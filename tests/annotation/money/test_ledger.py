"""The ledger of a round after every act that moves money."""

import json
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.db import transaction

from annotation.models import Assignment, Payment
from annotation.money.budget import CeilingError, set_ceiling
from annotation.money.ledger import balance_of, balances, commitment_of, earners_of, payments_as_csv
from annotation.money.payments import mark_paid, mark_reward_paid, owe_bonus
from annotation.people.workers import mark_simulated
from annotation.review.decisions import decide
from annotation.work.leases import expire_leases, lease_seat, return_assignment
from core.errors import CounterpartError
from core.models import Event
from crowd.calls.delivery import mark_closed, mark_over, mark_posted
from crowd.calls.outbox import deliver_due
from crowd.models import Posting
from crowd.posting.postings import post_open_seats
from crowd.posting.publication import close_round, publish_round
from hits.models import Round
from tests.annotation.money.moneyed import UNPAID, accepted, begin, flagged, pooled, posted
from tests.factories import make_round, make_worker


def books(made: Round) -> dict[str, str]:
    """What each account holds that is not empty, after checking that all sum to zero."""
    made.refresh_from_db()
    standing = balances(made)
    assert sum(standing.values()) == 0
    return {account: str(amount) for account, amount in standing.items() if amount and account != "outside"}


def test_what_is_planned_is_earned_then_owed_and_then_paid(db):
    draft = make_round(hits=2, published=False)
    assert books(draft) == {}
    made = publish_round(draft, below_floor=True, actor="robin")
    assert books(made) == {"free": "498.70", "planned": "1.30"}
    work = accepted(made)
    assert books(made) == {"free": "498.70", "planned": "0.65", "owed": "0.65"}
    mark_paid(work.payments.get(), actor="robin")
    assert books(made) == {"free": "498.70", "planned": "0.65", "paid": "0.65"}


def test_payments_and_seats_are_read_in_one_query_so_that_no_pay_is_counted_twice_or_not_at_all(
    db, django_assert_num_queries
):
    made = pooled(hits=3)
    accepted(made)
    lease_seat(made, worker=make_worker())
    with django_assert_num_queries(1):
        assert commitment_of(made).bound == Decimal("1.30")
    with django_assert_num_queries(1):
        assert balance_of(made).planned == Decimal("1.30")


def test_a_platform_holds_what_is_posted_pays_out_of_it_and_takes_its_fee(db, platform):
    made = publish_round(make_round(hits=2, published=False), channel="mturk", actor="robin")
    assert books(made) == {"free": "498.44", "planned": "1.56"}
    deliver_due(made)
    assert books(made) == {"free": "498.44", "held": "1.56"}
    accepted(made)
    assert books(made) == {"free": "498.44", "held": "0.78", "owed": "0.78"}
    deliver_due(made)
    assert books(made) == {"free": "498.44", "held": "0.78", "paid": "0.65", "fees": "0.13"}


def test_a_posting_noted_twice_is_held_once(db, platform):
    made = posted()
    posting = Posting.objects.get()
    with transaction.atomic():
        mark_posted(posting), mark_posted(posting)
    assert books(made) == {"free": "499.22", "held": "0.78"}


def test_a_posting_that_is_over_gives_back_what_was_not_used(db, platform):
    made = posted(replication=3)
    accepted(made)
    close_round(made, actor="robin")
    posting = Posting.objects.get()
    with transaction.atomic():
        mark_closed(posting), mark_over(posting, unused=2), mark_over(posting, unused=2)
    assert books(made) == {"free": "499.22", "owed": "0.78"}


def test_excluded_work_is_paid_and_its_seat_planned_again(person):
    made = pooled(hits=2)
    decide(flagged(made), votes_count=False, paid=True, reason="careless", by=person)
    assert books(made) == {"free": "498.05", "planned": "1.30", "owed": "0.65"}


def test_on_a_platform_an_excluded_seat_is_planned_and_then_posted_again(person, platform):
    made = posted()
    decide(flagged(made), votes_count=False, paid=True, reason="careless", by=person)
    assert books(made) == {"free": "498.44", "planned": "0.78", "owed": "0.78"}
    assert post_open_seats(made) == 1
    assert books(made)["planned"] == "0.78"
    deliver_due(made)
    assert books(made) == {"free": "498.44", "held": "0.78", "paid": "0.65", "fees": "0.13"}


def test_rejected_work_costs_nothing_once_the_platform_knows(person, platform):
    made = posted()
    decide(flagged(made), **UNPAID, reason="All the same.", by=person)
    assert books(made) == {"free": "498.44", "held": "0.78", "planned": "0.78"}
    deliver_due(made)
    assert books(made) == {"free": "499.22", "planned": "0.78"}


def test_a_rejection_that_is_reversed_is_paid_out_of_what_is_free(person, platform):
    made = posted()
    work = flagged(made)
    decide(work, **UNPAID, reason="All the same.", by=person)
    deliver_due(made)
    decide(work, votes_count=True, paid=True, reason="They were right.", by=person)
    assert books(made) == {"free": "499.22", "owed": "0.78"}
    deliver_due(made)
    assert books(made) == {"free": "499.22", "paid": "0.65", "fees": "0.13"}


def test_a_rejection_reversed_before_the_platform_knew_is_paid_out_of_what_it_holds(person, platform):
    made = posted()
    work = flagged(made)
    decide(work, **UNPAID, reason="All the same.", by=person)
    decide(work, votes_count=True, paid=True, reason="They were right.", by=person)
    deliver_due(made)
    assert books(made) == {"free": "499.22", "paid": "0.65", "fees": "0.13"}
    assert [call for call, _ in platform.calls] == ["publish", "pay"]


def test_what_is_owed_withdrawn_and_owed_again_is_owed_once(person):
    made = pooled()
    work = accepted(made)
    for _ in range(2):
        decide(work, **UNPAID, reason="A script answered.", by=person)
        assert books(made) == {"free": "499.35", "planned": "0.65"}
        decide(work, votes_count=True, paid=True, reason="It did not.", by=person)
        assert books(made) == {"free": "499.35", "owed": "0.65"}


def test_what_a_platform_approved_by_itself_is_paid_without_asking_the_ceiling(db, platform):
    made = posted()
    work = flagged(made)
    Round.objects.update(ceiling="0.10")
    mark_reward_paid(work), mark_reward_paid(work)
    assert (balances(made)["paid"], balances(made)["fees"]) == (Decimal("0.65"), Decimal("0.13"))
    assert platform.calls[1:] == []


def test_closing_frees_what_will_not_be_earned(db):
    made = pooled(hits=3)
    accepted(made), begin(made)
    assert books(close_round(made, actor="robin")) == {"free": "498.70", "planned": "0.65", "owed": "0.65"}


@pytest.mark.parametrize("give_up", ["return", "expire"])
def test_a_seat_given_up_after_the_closing_frees_its_money(db, give_up):
    made = pooled()
    held = begin(made)
    close_round(made, actor="robin")
    if give_up == "return":
        return_assignment(held, actor="robin")
    else:
        Assignment.objects.update(deadline="2026-01-01T00:00Z")
        expire_leases()
    assert books(made) == {"free": "500.00"}


def test_a_bonus_comes_out_of_what_is_free_with_its_own_fee(db, platform):
    made = posted()
    work = accepted(made)
    owe_bonus(work, amount=Decimal("0.50"), reason="Thank you.", actor="robin")
    owe_bonus(work, amount=Decimal("0.50"), reason="Thank you.", actor="robin")
    assert books(made) == {"free": "498.62", "owed": "1.38"}
    deliver_due(made)
    assert books(made) == {"free": "498.62", "paid": "1.15", "fees": "0.23"}


def test_a_bonus_takes_nothing_that_is_planned_for_others(db):
    made = pooled(hits=2)
    work = accepted(made)
    set_ceiling(made, Decimal("1.40"), actor="robin")
    with pytest.raises(CeilingError, match=r"\$0.10 left .* \$0.11"):
        owe_bonus(work, amount=Decimal("0.11"), reason="Thank you.", actor="robin")
    owe_bonus(work, amount=Decimal("0.10"), reason="Thank you.", actor="robin")
    assert books(made) == {"planned": "0.65", "owed": "0.75"}


def test_a_bonus_that_cannot_be_given_is_refused(db):
    work = accepted(pooled())
    for amount, reason, message in (
        ("0.005", "x", "Invalid bonus"),
        ("0", "x", "Invalid bonus"),
        ("1", "  ", "is empty"),
        ("1", "a\x00b", "1 control character: U\\+0000"),
        ("1", "x" * 201, "has 201 characters; shorten it to 200"),
    ):
        with pytest.raises(CounterpartError, match=message):
            owe_bonus(work, amount=Decimal(amount), reason=reason, actor="robin")
    assert Payment.objects.count() == 1


def test_seats_that_the_ceiling_cannot_pay_are_posted_once_it_is_raised(person, platform, commit):
    made = posted(hits=2, ceiling="1.60")
    decide(flagged(made), votes_count=False, paid=True, reason="careless", by=person)
    assert post_open_seats(made) == 0
    assert books(made) == {"free": "0.04", "held": "0.78", "owed": "0.78"}
    with commit(execute=True):  # a raised ceiling posts them by itself
        set_ceiling(made, Decimal("10"), actor="robin")
    assert post_open_seats(made) == 0  # none is left to post


def test_a_broker_that_is_down_keeps_no_ceiling_from_being_raised(person, platform, commit, monkeypatch):
    made = posted(hits=2, ceiling="1.60")

    def down(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr("celery.canvas.Signature.apply_async", down)
    with commit(execute=True):
        set_ceiling(made, Decimal("10"), actor="robin")
    assert Round.objects.get(pk=made.pk).ceiling == 10


def test_a_new_ceiling_is_an_event_with_the_one_before(db):
    made = make_round(published=False)
    for _ in range(2):
        set_ceiling(made, Decimal("7"), actor="robin")
    event = Event.objects.get(verb="set ceiling")
    assert (event.actor, event.data) == ("robin", {"ceiling": "7.00", "before": "500.00"})


def test_a_ceiling_cannot_fall_below_what_is_posted_or_being_posted(db, platform):
    made = publish_round(make_round(hits=2, published=False), channel="mturk", actor="robin")
    for _ in range(2):
        with pytest.raises(CounterpartError, match=r"\$1.56; .* be \$1.55"):
            set_ceiling(made, Decimal("1.55"), actor="robin")
        deliver_due(made)
    set_ceiling(made, Decimal("1.56"), actor="robin")
    assert books(made) == {"held": "1.56"}


def test_a_ceiling_cannot_fall_below_the_pay_of_those_who_are_at_work(db):
    made = pooled(hits=3)
    begin(made)
    flagged(made)
    with pytest.raises(CounterpartError, match=r"\$1\.30; .* \$1\.29"):
        set_ceiling(made, Decimal("1.29"), actor="robin")
    assert set_ceiling(made, Decimal("1.30"), actor="robin").ceiling == Decimal("1.30")


def test_earners_are_listed_by_pseudonym_with_what_they_earned(db, platform):
    made = posted(hits=2)
    one, other = accepted(made), accepted(made)
    deliver_due(made)
    owe_bonus(other, amount=Decimal("1"), reason="Thank you.", actor="robin")
    first, second = earners_of(made)
    assert (first.pseudonym, first.rewards, first.bonuses) == (other.worker.pseudonym, 1, 1)
    assert (str(first.owed), str(first.paid), str(first.fees)) == ("1.00", "0.65", "0.33")
    assert (str(first.base), str(first.extra)) == ("0.65", "1.00")
    assert (second.pseudonym, str(second.paid)) == (one.worker.pseudonym, "0.65")


def test_the_payments_as_csv_name_worker_amount_and_state(db):
    made = pooled(hits=2)
    work = accepted(made)
    owe_bonus(work, amount=Decimal("0.50"), reason="=1+1", actor="robin")
    header, reward, bonus = "".join(payments_as_csv(made)).splitlines()
    assert header == "number,at,worker,assignment,kind,reason,amount,fee,state,paid_at,simulated"
    assert reward.split(",")[2:] == [work.worker.pseudonym, str(work.pk), "reward", "", "0.65", "0.00", "owed", "", "0"]
    assert bonus.split(",")[4:7] == ["bonus", "'=1+1", "0.50"]


def test_on_an_emulator_every_worker_is_a_program(db):
    made = pooled()
    accepted(made)
    made.rehearsal = True
    assert [one.simulated for one in earners_of(made)] == [True]
    assert [line.strip()[-1] for line in payments_as_csv(made)][1:] == ["1"]


def test_what_programs_earned_is_listed_apart(db, capsys):
    made = pooled(hits=2)
    accepted(made)
    played = accepted(made).worker
    mark_simulated(played)
    call_command("ledger", "round-1", json=True)
    printed = json.loads(capsys.readouterr().out)
    assert (printed["free"], printed["planned"], printed["payments"]) == ("498.70", "0.00", 2)
    assert (printed["owed"], printed["owed_to_simulated_workers"]) == ("1.30", "0.65")
    assert [one["worker"] for one in printed["workers"] if one["simulated"]] == [played.pseudonym]
