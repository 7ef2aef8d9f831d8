"""A round on Prolific whose participants, syncs and staff act at the same moment, on PostgreSQL."""

from decimal import Decimal

import pytest
from django.db import connection

from annotation.models import Assignment, Judgment, Payment
from annotation.money.payments import owe_bonus
from crowd.calls.outbox import deliver_due
from crowd.models import Outbox, Posting
from crowd.posting.pauses import pause_round, resume_round
from crowd.posting.postings import post_open_seats
from crowd.sync import sync_round
from hits.models import Round, Seat
from tests.at_once import at_once
from tests.crowd.prolific_rehearsal import Rehearsal, check_books, publish, rehearsing

pytestmark = [pytest.mark.service, pytest.mark.django_db(transaction=True)]

HITS = 6


@pytest.fixture
def there(settings):
    if connection.vendor != "postgresql":
        pytest.skip("needs PostgreSQL")
    settings.ARRIVALS_PER_HOUR = 10_000
    with rehearsing(settings) as made:
        yield made


def rest(made: Round, there: Rehearsal) -> None:
    for _ in range(4):
        there.later(minutes=2)
        Outbox.objects.update(due_at="2026-01-01T00:00Z")
        sync_round(made)


def test_participants_and_syncs_at_once_fill_every_seat_and_pay_everybody_once(there):
    made = publish(HITS)
    at_once(*[there.work] * HITS, *[lambda: sync_round(made)] * 3)
    rest(made, there)
    assert Judgment.objects.count() == HITS * 4
    assert Assignment.objects.filter(state="accepted").values("seat").distinct().count() == HITS
    assert list(Payment.objects.values_list("state", flat=True)) == ["paid"] * HITS
    check_books(made, there)
    assert (there.study().places, Posting.objects.get().max_assignments) == (HITS, HITS)
    assert not Outbox.objects.exclude(state="done").exists()


def test_processes_that_post_places_at_once_add_each_place_once(there):
    made = publish(2)
    Seat.objects.create(round=made, hit=made.hits.first(), number=2)
    at_once(*[lambda: post_open_seats(made)] * 4, *[lambda: sync_round(made)] * 2)
    rest(made, there)
    assert (there.study().places, Posting.objects.get().max_assignments) == (3, 3)


def test_a_bonus_whose_call_many_processes_make_at_once_is_paid_once(there):
    made = publish(1)
    there.work()
    rest(made, there)
    at_once(
        *[lambda: owe_bonus(Assignment.objects.get(), amount=Decimal("0.50"), reason="Thanks.", actor="robin")] * 3,
        *[lambda: deliver_due(made)] * 3,
    )
    Outbox.objects.update(due_at="2026-01-01T00:00Z")
    at_once(*[lambda: deliver_due(made)] * 4)
    rest(made, there)
    assert there.bonuses() == [Decimal("0.50")]
    assert set(Payment.objects.values_list("state", flat=True)) == {"paid"}


def test_a_pause_and_syncs_at_once_end_in_what_the_person_wants(there):
    made = publish(2)
    at_once(lambda: pause_round(made, actor="robin"), *[lambda: sync_round(made)] * 3)
    rest(made, there)
    assert there.study().status == "PAUSED"
    at_once(lambda: resume_round(made, actor="robin"), *[lambda: sync_round(made)] * 3)
    rest(made, there)
    assert there.study().status == "ACTIVE"
