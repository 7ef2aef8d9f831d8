"""One clock for all computers of a site: the database's."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotation.models import Assignment
from annotation.work.leases import expire_leases, lease_seat, shorten_leases
from core import clock
from core.health import services
from core.models import Event, Heartbeat
from core.tasks import beat
from tests.factories import make_round, make_worker

pytestmark = pytest.mark.django_db
HOURS = timedelta(hours=2)
real_now = timezone.now


@pytest.fixture
def set_clock(monkeypatch):
    """Move the clock of this computer, but not the database's, and let it open a connection."""

    def move(by: timedelta) -> None:
        monkeypatch.setattr(timezone, "now", lambda: real_now() + by)
        clock.measure_skew()

    beat()
    yield move
    monkeypatch.undo()
    clock.measure_skew()


def off_by(moment):
    return abs(moment - real_now())


def test_computers_whose_clocks_agree_have_no_skew():
    beat()
    assert clock.measure_skew() == timedelta(0)
    assert services.clock_trouble() == ""


def test_a_computer_that_is_behind_reads_the_time_of_the_database(set_clock):
    set_clock(timedelta(seconds=-4))
    assert services.clock_trouble() == ""
    set_clock(-HOURS)
    assert off_by(clock.now()) < timedelta(minutes=1)
    assert "7200 s behind" in services.clock_trouble()


@pytest.mark.service
def test_a_computer_that_is_ahead_reads_the_time_of_the_database(set_clock):
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has no clock of its own")
    set_clock(HOURS)
    assert off_by(clock.now()) < timedelta(minutes=1)
    assert "7200 s ahead of" in services.clock_trouble()


def test_a_database_without_tables_has_the_time_of_the_computer(set_clock, monkeypatch):
    monkeypatch.setattr(Heartbeat._meta, "db_table", "not_migrated")
    assert clock.measure_skew() == timedelta(0)


def test_a_lease_of_a_computer_that_is_behind_is_not_overdue_for_others(set_clock, monkeypatch):
    set_clock(-HOURS)
    lease = lease_seat(make_round(), worker=make_worker())
    monkeypatch.undo()
    clock.measure_skew()
    assert off_by(lease.leased_at) < timedelta(minutes=1)
    assert expire_leases() == 0


@pytest.mark.parametrize("ahead", [HOURS, timedelta(days=400)])
def test_a_lease_that_begins_in_the_future_begins_now_and_lasts_as_long(settings, ahead):
    lease = lease_seat(make_round(), worker=make_worker())
    Assignment.objects.update(leased_at=lease.leased_at + ahead, deadline=lease.deadline + ahead)
    assert (shorten_leases(), shorten_leases()) == (1, 0)
    lease.refresh_from_db()
    assert off_by(lease.leased_at) < timedelta(minutes=1)
    assert lease.deadline - lease.leased_at == timedelta(minutes=settings.LEASE_MINUTES)
    assert Event.objects.filter(verb="shortened").count() == 1


def test_a_lease_that_runs_longer_than_an_extended_one_is_shortened_to_that(settings):
    lease = lease_seat(make_round(), worker=make_worker())
    Assignment.objects.update(deadline=lease.deadline + timedelta(days=1))
    assert shorten_leases() == 1
    lease.refresh_from_db()
    assert off_by(lease.deadline - 2 * timedelta(minutes=settings.LEASE_MINUTES)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    "fields", [{}, {"outside_key": "session-1", "deadline": real_now() + timedelta(days=1)}, {"state": "submitted"}]
)
def test_other_leases_keep_their_time(fields):
    lease = lease_seat(make_round(), worker=make_worker())
    Assignment.objects.update(**fields)
    assert shorten_leases() == 0
    assert not Event.objects.filter(verb="shortened", subject__endswith=f":{lease.pk}").exists()


@pytest.mark.parametrize("late", [timedelta(seconds=0.8), timedelta(seconds=-0.8)])
def test_a_slow_answer_does_not_count_as_a_difference(monkeypatch, late):
    heard = real_now() - HOURS
    asked, answered = sorted((heard, heard + late))
    monkeypatch.setattr(clock, "_queue_time", lambda connection: heard)
    monkeypatch.setattr(clock, "_postgresql_time", lambda connection: heard)
    monkeypatch.setattr(timezone, "now", iter([asked, answered]).__next__)
    assert clock.measure_skew() == timedelta(0)


def test_a_known_difference_holds_while_the_answer_allows_it(monkeypatch):
    heard = real_now()
    monkeypatch.setattr(clock, "_queue_time", lambda connection: heard)
    monkeypatch.setattr(clock, "_postgresql_time", lambda connection: heard)
    times = [
        heard - HOURS - timedelta(seconds=0.2),
        heard - HOURS,
        heard - HOURS - timedelta(seconds=0.9),
        heard - HOURS,
    ]
    monkeypatch.setattr(timezone, "now", iter(times).__next__)
    first = clock.measure_skew()
    assert HOURS <= first <= HOURS + timedelta(seconds=0.2)
    assert clock.measure_skew() == first
    monkeypatch.undo()
    clock.measure_skew()
