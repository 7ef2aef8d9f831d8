"""Of several clocks one sends the scheduled tasks, each once, and another takes over when it is gone."""

from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from config.celery import app
from core.models import Heartbeat
from core.work import scheduler
from core.work.scheduler import Clock, leads
from tests.at_once import at_once


@pytest.fixture
def sent(monkeypatch):
    """The names of the tasks that clocks send, instead of sending them."""
    names = []
    monkeypatch.setattr(Clock, "apply_entry", lambda self, entry, producer=None: names.append(entry.task))
    return names


@pytest.fixture
def started(tmp_path):
    """Start a clock of its own, as on another computer."""
    clocks = []

    def start() -> Clock:
        clocks.append(Clock(app=app, schedule_filename=str(tmp_path / f"schedule-{len(clocks)}"), lazy=False))
        for entry in clocks[-1].schedule.values():
            entry.last_run_at = timezone.now() - timedelta(days=1)
        return clocks[-1]

    yield start
    for each in clocks:
        each.close()


def run(a_clock: Clock) -> float:
    """Let a clock send all that is due; return how long it then sleeps."""
    while not (pause := a_clock.tick()):
        pass
    return pause


def test_two_clocks_send_each_scheduled_task_once(db, sent, started):
    first, second = started(), started()
    assert 0 < run(first) <= scheduler.PAUSE
    assert run(second) == scheduler.PAUSE
    assert sorted(sent) == sorted(entry.task for entry in first.schedule.values())
    assert len(sent) > 3


def test_a_second_clock_takes_over_when_the_first_is_silent(db, sent, started):
    first, second = started(), started()
    run(first)
    Heartbeat.objects.update(at=timezone.now() - scheduler.SILENT_FOR - timedelta(seconds=1))
    run(second)
    assert len(sent) == 2 * len(first.schedule)
    assert run(first) == scheduler.PAUSE
    assert len(sent) == 2 * len(first.schedule)


def test_a_clock_that_cannot_reach_the_database_goes_on_when_it_can(
    transactional_db, sent, started, monkeypatch, caplog
):
    def fail(name):
        raise OperationalError("server closed the connection")

    with monkeypatch.context() as patch:
        patch.setattr(scheduler, "leads", fail)
        assert run(one := started()) == scheduler.PAUSE
        assert sent == []
    run(one)
    assert sent != []
    assert "server closed the connection" in caplog.text


@pytest.mark.service
def test_of_clocks_that_start_at_once_one_leads(transactional_db):
    assert sorted(at_once(*[lambda name=name: leads(f"clock {name}") for name in range(4)])) == [False] * 3 + [True]


def test_the_settings_name_this_clock():
    assert app.conf.beat_scheduler == "core.work.scheduler:Clock"
