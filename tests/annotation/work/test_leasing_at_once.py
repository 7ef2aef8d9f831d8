"""Many workers take a HIT at the same moment: every seat goes to exactly one of them."""

import pytest
from django.db import connection
from django.db.models import Count

from annotation.models import Assignment
from annotation.work.leases import expire_leases, lease_seat, return_assignment
from annotation.work.submissions import mark_submitted
from hits.models import Round, Seat
from tests.at_once import at_once
from tests.factories import make_round, make_worker


@pytest.fixture
def postgresql(transactional_db):
    if connection.vendor != "postgresql":
        pytest.skip("needs PostgreSQL")


def lease_for(made, worker):
    return lambda: lease_seat(made, worker=worker)


def test_threads_take_every_seat_once(transactional_db):
    made = make_round(hits=6)
    workers = [make_worker() for _ in range(8)]
    leases = at_once(*(lease_for(made, worker) for worker in workers))
    taken = [lease.seat_id for lease in leases if lease]
    assert len(taken) == len(set(taken)) == 6
    (states,) = at_once(lambda: set(Seat.objects.values_list("state", flat=True)))
    assert states == {Seat.State.TAKEN}


def test_two_tabs_of_one_worker_share_one_lease(transactional_db):
    made, worker = make_round(hits=3), make_worker()
    leases = at_once(*[lease_for(made, worker)] * 4)
    assert len({lease.pk for lease in leases}) == 1


def test_a_double_click_submits_once(transactional_db):
    lease = lease_seat(make_round(), worker=make_worker())
    fresh = [Assignment.objects.select_related("worker").get(pk=lease.pk) for _ in range(4)]
    receipts = at_once(*(lambda one=one: mark_submitted(one, active_seconds=60) for one in fresh))
    assert sum(receipt is not None for receipt in receipts) == 1


@pytest.mark.service
def test_fifty_workers_empty_a_round_of_a_hundred_seats(postgresql):
    made = make_round(hits=50, replication=2)
    workers = [make_worker() for _ in range(50)]

    def work(worker):
        while lease := lease_seat(made, worker=worker):
            mark_submitted(lease, active_seconds=60)

    at_once(*(lambda worker=worker: work(worker) for worker in workers))
    assert Assignment.objects.count() == 100
    assert not Assignment.objects.values("seat").annotate(n=Count("pk")).filter(n__gt=1).exists()
    assert not Assignment.objects.values("hit", "worker").annotate(n=Count("pk")).filter(n__gt=1).exists()


@pytest.mark.service
def test_leases_at_once_near_the_ceiling_never_pass_it(postgresql):
    made = make_round(hits=8)
    for _ in range(5):
        ceiling = 3 * made.reward
        Round.objects.update(ceiling=ceiling)
        leases = at_once(*(lease_for(made, make_worker()) for _ in range(8)))
        assert sum(lease is not None for lease in leases) == 3
        for lease in filter(None, leases):
            return_assignment(lease, actor="robin")


@pytest.mark.service
def test_late_submissions_at_once_near_the_ceiling_never_pass_it(postgresql):
    made = make_round(hits=8)
    leases = [lease_seat(made, worker=make_worker()) for _ in range(8)]
    Assignment.objects.update(deadline="2026-01-01T00:00Z")
    expire_leases()
    Round.objects.update(ceiling=3 * made.reward)
    late = [Assignment.objects.select_related("worker").get(pk=lease.pk) for lease in leases]
    receipts = at_once(*(lambda one=one: mark_submitted(one, active_seconds=60) for one in late))
    assert sum(receipt is not None for receipt in receipts) == 3


@pytest.mark.service
def test_leasing_and_expiring_together_lose_no_seat(postgresql, settings):
    settings.LEASE_MINUTES = 0
    made = make_round(hits=5)
    workers = [make_worker() for _ in range(10)]
    at_once(*(lease_for(made, worker) for worker in workers), *[expire_leases] * 6)
    expire_leases()
    assert not Assignment.objects.filter(state=Assignment.State.LEASED).exists()
    assert set(Seat.objects.values_list("state", flat=True)) == {Seat.State.OPEN}
