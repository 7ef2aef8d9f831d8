"""Work is accepted without a lock while the ceiling pays for every seat: also with bonuses and a falling ceiling, no
round passes it."""

from contextlib import suppress
from decimal import Decimal
from functools import partial
from itertools import count

import pytest
from django.db import connection

from annotation.models import Assignment, Payment
from annotation.money.budget import CeilingError, set_ceiling
from annotation.money.ledger import commitment_of
from annotation.money.payments import owe_bonus
from annotation.work.grading import accept
from annotation.work.leases import lease_seat
from annotation.work.submissions import mark_submitted
from core.errors import CounterpartError
from hits.models import Round
from tests.annotation.money.moneyed import accepted, submit
from tests.at_once import at_once
from tests.factories import make_round, make_worker

pytestmark = [pytest.mark.service, pytest.mark.django_db(transaction=True)]

AT_WORK, MORE, TIMES = 6, 4, 7
BONUSES = ("0.50", "1.50", "0.75")
numbers = count(1)


@pytest.fixture
def funded() -> Round:
    """A round of a dollar a HIT, whose ceiling pays for every seat."""
    if connection.vendor != "postgresql":
        pytest.skip("needs PostgreSQL")
    return make_round(hits=TIMES * (1 + AT_WORK + MORE), reward="1.00")


def give(work: Assignment, amount: str) -> None:
    with suppress(CeilingError):
        owe_bonus(work, amount=Decimal(amount), reason=f"Thanks {next(numbers)}.", actor="robin")


def lower(made: Round, ceiling: Decimal) -> None:
    with suppress(CounterpartError):
        set_ceiling(made, str(ceiling), actor="robin")


def work_through(made: Round) -> None:
    """Take a HIT, if there is one, submit it and have it graded."""
    if lease := lease_seat(made, worker=make_worker()):
        mark_submitted(lease, active_seconds=60)
        accept(lease)


def begun(made: Round) -> tuple[Assignment, list[Assignment]]:
    """Accepted work to give bonuses for, and submitted work."""
    set_ceiling(made, "5000", actor="robin")
    return accepted(made), [submit(made) for _ in range(AT_WORK)]


def lowered(made: Round) -> list[partial]:
    """Ceilings that leave two dollars to promise, then less, then nothing."""
    bound = commitment_of(made).bound
    return [partial(lower, made, bound + left) for left in (Decimal(2), Decimal("0.50"), Decimal(0))]


def states(work: list[Assignment]) -> set[str]:
    return set(Assignment.objects.filter(pk__in=[one.pk for one in work]).values_list("state", flat=True))


def test_submitted_work_is_accepted_while_bonuses_are_given_and_the_ceiling_falls(funded):
    for _ in range(TIMES):
        done, waiting = begun(funded)
        at_once(
            *[partial(accept, one) for one in waiting],
            *[partial(give, done, amount) for amount in BONUSES],
            *lowered(funded),
        )
        funded.refresh_from_db()
        assert commitment_of(funded).bound <= funded.ceiling
        assert states(waiting) == {"accepted"}


def test_bonuses_leave_the_pay_of_whoever_takes_a_hit_at_that_moment(funded):
    for time in range(TIMES):
        done, waiting = begun(funded)
        unfilled = funded.seats.exclude(state="filled").count()
        set_ceiling(funded, commitment_of(funded).gone + unfilled + Decimal(1), actor="robin")
        at_once(
            *[partial(accept, one) for one in waiting],
            *[partial(work_through, funded)] * MORE,
            *[partial(give, done, amount) for amount in BONUSES],
        )
        assert Assignment.objects.filter(state="accepted").count() == (time + 1) * (1 + AT_WORK + MORE)
        funded.refresh_from_db()
        assert commitment_of(funded).gone + funded.seats.exclude(state="filled").count() <= funded.ceiling


def test_who_takes_a_hit_as_the_ceiling_falls_waits_for_a_person_rather_than_passing_it(funded):
    for _ in range(TIMES):
        done, waiting = begun(funded)
        at_once(
            *[partial(accept, one) for one in waiting],
            *[partial(work_through, funded)] * MORE,
            *[partial(give, done, amount) for amount in BONUSES],
            *lowered(funded),
        )
        funded.refresh_from_db()
        assert commitment_of(funded).gone <= funded.ceiling
        assert states(list(Assignment.objects.all())) <= {"accepted", "flagged"}
        paid = Payment.objects.filter(kind="reward").values("assignment")
        assert not Assignment.objects.filter(state="accepted").exclude(pk__in=paid).exists()
