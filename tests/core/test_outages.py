"""Pages while a part that everything needs fails: the database, the clock, and the heartbeat of the queue."""

from collections.abc import Callable
from datetime import timedelta
from errno import ENOSPC, EROFS
from io import FileIO

import pytest
from django.db import InterfaceError, OperationalError, connection
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment, Judgment
from annotation.work.leases import expire_leases, lease_seat, shorten_leases
from core import clock
from core.health import heartbeat as queue
from core.health import services
from core.health.configuration import messages_at_start
from core.models import Event, Heartbeat
from core.tasks import beat
from core.web.middleware import BodyLimit
from tests.annotation.answering import address, leased
from tests.factories import make_round, make_worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def visitor() -> Client:
    """A browser that is shown what a server answers, where other tests see the exception."""
    return Client(raise_request_exception=False)


def cut(*_: object, **__: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")


def failing(error: Exception) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


LOST = "Try again in a moment"
FULL = "The disk is full"
READ_ONLY = "The site is read-only"


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (OperationalError("the connection was closed"), 503, LOST),
        (InterfaceError("the connection was closed"), 503, LOST),
        (OperationalError("database or disk is full"), 503, FULL),
        (OSError(ENOSPC, "No space left"), 503, FULL),
        (OperationalError("attempt to write a readonly database"), 503, READ_ONLY),
        (OSError(EROFS, "Read-only file system"), 503, READ_ONLY),
        (ValueError("a mistake of ours"), 500, "Something went wrong"),
    ],
)
def test_each_failure_has_a_status_and_a_page_of_its_own(visitor, db, monkeypatch, error, status, words):
    monkeypatch.setattr("annotation.judging.home.joined_round", failing(error))
    answer = visitor.get("/judge/join/any/")
    assert (answer.status_code, words in answer.text) == (status, True)
    if words == FULL:
        assert "run the study" in answer.text  # whom a worker writes to
    if words == LOST:
        assert (answer["Retry-After"], answer["Cache-Control"]) == ("5", "no-store")


def test_a_database_that_is_lost_outside_a_view_is_answered_with_503(visitor, db, monkeypatch):
    monkeypatch.setattr(BodyLimit, "process_view", failing(OperationalError("the connection was closed")))
    assert visitor.get("/judge/join/any/").status_code == 503


@pytest.mark.service
def test_a_submission_whose_connection_is_cut_is_answered_503_and_stored_once_when_it_is_repeated(
    transactional_db, visitor, monkeypatch
):
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has no connection that could be cut")
    assignment = leased(make_round())
    form = {f"level-{place}": "1" for place in range(1, 5)}
    with monkeypatch.context() as patch:
        patch.setattr("annotation.work.leases.record", cut)
        answer = visitor.post(address("task", assignment), form)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert not Judgment.objects.exists()
    assert [visitor.post(address("task", assignment), form).status_code for _ in range(2)] == [302, 302]
    assert Judgment.objects.count() == 4


# The parts that everything needs, and the heartbeat of the queue


def test_a_database_that_does_not_answer_is_reported_in_one_line(monkeypatch):
    def fail():
        raise OSError("gone\naway")

    assert services.database_trouble() == ""
    monkeypatch.setattr(connection, "cursor", fail)
    assert services.database_trouble() == "gone away"


def test_a_folder_that_cannot_be_written_is_trouble(settings, tmp_path):
    assert services.storage_trouble() == ""
    (tmp_path / "file").touch()
    settings.MEDIA_ROOT = tmp_path / "file" / "media"
    assert "cannot be written" in services.storage_trouble()


def test_a_full_disk_is_trouble_but_stops_no_command(settings, monkeypatch):
    settings.MEDIA_ROOT.mkdir()
    assert services.storage_trouble() == ""
    assert list(settings.MEDIA_ROOT.iterdir()) == []
    monkeypatch.setattr(services, "TemporaryFile", lambda dir: FileIO("/dev/full", "wb"))
    assert "No space left on device" in services.storage_trouble()
    assert messages_at_start(None) == []


def test_a_broker_that_does_not_answer_is_trouble(settings, tmp_path):
    settings.REDIS_URL = ""
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"data_folder_out": tmp_path}
    assert queue.broker_trouble() == ""
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"data_folder_out": tmp_path / "none"}
    assert "cannot be written" in queue.broker_trouble()


def test_the_queue_has_stopped_when_the_clocks_task_was_not_run_for_three_beats(settings):
    settings.RECONCILE_SECONDS = 60
    assert queue.queue_has_stopped()
    beat()
    beat()
    assert not queue.queue_has_stopped()
    Heartbeat.objects.update(at=timezone.now() - timedelta(seconds=181))
    assert queue.queue_has_stopped()


# One clock for all computers of a site: the database's


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
