import json
from decimal import Decimal

import pytest
from django.core.management import call_command

from annotation.models import Assignment, Payment
from annotation.money.budget import CeilingError, set_ceiling
from annotation.money.payments import owe_bonus
from annotation.money.payroll import mark_wages, write_wages
from annotation.money.wages import TOP_UP, pay_shortfall, shortfall_of
from annotation.people.erasure import forget_worker
from annotation.people.workers import mark_simulated
from core.errors import CounterpartError
from crowd.calls.outbox import deliver_due
from tests.annotation.money.moneyed import accepted, flagged, pooled, posted


def slow(made, seconds=240, hits=5):
    """A round whose accepted work took so long: at $15 an hour four minutes are worth a dollar."""
    for _ in range(hits):
        accepted(made)
    Assignment.objects.update(active_seconds=seconds)
    return made


def bonuses():
    return Payment.objects.filter(kind="bonus")


def test_everybody_who_is_paid_gets_what_is_missing(db, platform):
    made = slow(posted(hits=6))
    flagged(made)
    short = pay_shortfall(made, actor="robin")
    assert (short.fair, short.bonus, short.assignments, short.total) == (1, Decimal("0.35"), 5, Decimal("2.10"))
    assert set(bonuses().values_list("amount", "fee", "reason")) == {(Decimal("0.35"), Decimal("0.07"), TOP_UP)}


def test_a_forgotten_worker_is_not_owed_what_no_platform_could_bring_them(db, platform):
    made = slow(posted(hits=5))
    deliver_due(made)
    gone = Assignment.objects.first()
    forget_worker(gone.worker.pseudonym, actor="robin")
    assert pay_shortfall(made, actor="robin").assignments == 4
    with pytest.raises(CounterpartError, match="forgotten"):
        owe_bonus(gone, amount=Decimal("0.10"), reason="Thanks.", actor="robin")


def test_in_the_house_pool_a_forgotten_worker_still_shows_their_code(db):
    made = slow(pooled(hits=5))
    mark_wages(made, write_wages(made), actor="robin")
    forget_worker(Assignment.objects.first().worker.pseudonym, actor="robin")
    assert pay_shortfall(made, actor="robin").assignments == 5


def test_a_top_up_is_given_once_and_work_that_came_later_gets_its_own(db):
    made = slow(pooled(hits=6))
    pay_shortfall(made, actor="robin")
    assert (pay_shortfall(made, actor="robin").assignments, bonuses().count()) == (0, 5)
    accepted(made)
    assert (pay_shortfall(made, actor="robin").assignments, bonuses().count()) == (1, 6)


def test_work_that_is_worth_its_reward_gets_nothing(db):
    made = slow(pooled(hits=5), seconds=156)
    assert (pay_shortfall(made, actor="robin").bonus, bonuses().count()) == (0, 0)


def test_past_the_ceiling_no_worker_gets_anything(db):
    made = slow(pooled(hits=5))
    set_ceiling(made, Decimal("4.99"), actor="robin")
    with pytest.raises(CeilingError, match=r"\$1.74 left .* \$1.75"):
        pay_shortfall(made, actor="robin")
    assert not bonuses().exists()


def test_too_little_work_has_no_shortfall(db):
    with pytest.raises(CounterpartError, match="fewer than 5"):
        shortfall_of(slow(pooled(hits=4), hits=4))


def test_throw_away_workers_do_not_raise_what_the_others_are_owed(db):
    made = slow(pooled(hits=10))
    for _ in range(5):
        flagged(made)
    Assignment.objects.filter(state="flagged").update(active_seconds=4320 * 60)
    assert (shortfall_of(made).fair, shortfall_of(made).timing.n) == (1, 5)


def test_the_command_tops_up_and_its_dry_run_says_what_that_would_take(db, capsys):
    slow(pooled(hits=5))
    call_command("top_up", "round-1", "--dry-run", "--json")
    printed = json.loads(capsys.readouterr().out)
    assert (printed["bonus"], printed["would_owe"], printed["total"]) == ("0.35", 5, "1.75")
    assert "4.0 min" in printed["time"]
    assert not bonuses().exists()
    call_command("top_up", "round-1")
    assert "owed: 5" in capsys.readouterr().out


def test_times_of_programs_raise_nobodys_pay(db):
    made = slow(pooled(hits=5))
    mark_simulated(Assignment.objects.first().worker)
    with pytest.raises(CounterpartError, match="fewer than 5"):
        pay_shortfall(made, actor="robin")


def test_a_program_gets_no_top_up(db):
    made = slow(pooled(hits=6), hits=6)
    mark_simulated(Assignment.objects.first().worker)
    assert pay_shortfall(made, actor="robin").assignments == 5
