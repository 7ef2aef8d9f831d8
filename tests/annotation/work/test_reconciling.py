import json
import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.utils import timezone

from annotation.models import Assignment
from annotation.work.leases import lease_seat
from annotation.work.repair import free_orphaned_seats
from core.events import subject_of
from core.models import Event
from crowd import tasks
from crowd.models import Outbox, Posting
from crowd.tasks import reconcile
from hits.models import HIT, Seat
from tests.factories import make_assignment, make_round, make_worker

LONG_AGO = timezone.now() - timedelta(days=1)


def late_lease():
    return make_assignment(Seat.objects.get(hit__round=make_round()), minutes=-1)


def due_call(hit: HIT | None = None) -> Outbox:
    """A call that its sender has lost."""
    where = {"channel": "mturk", "environment": "sandbox"}
    hit = hit or make_round().hits.get()
    posting = Posting.objects.create(round=hit.round, hit=hit, max_assignments=1, **where)
    return Outbox.objects.create(call="publish", subject=subject_of(posting), state="sending", due_at=LONG_AGO, **where)


def test_everything_that_a_crash_leaves_behind_is_healed(db, platform):
    lease = late_lease()
    Seat.objects.create(round=lease.hit.round, hit=lease.hit, number=2, state=Seat.State.TAKEN)
    due_call(lease.hit)
    healed = reconcile()
    assert (healed["expired leases"], healed["orphaned seats"], healed["late calls"]) == (1, 1, 1)
    assert set(Seat.objects.values_list("state", flat=True)) == {Seat.State.OPEN}
    assert len(platform.effects) == 1


@pytest.mark.parametrize("state", ["taken", "filled"])
def test_a_seat_without_a_holder_is_opened(db, state):
    make_round()
    Seat.objects.update(state=state)
    assert free_orphaned_seats() == 1
    assert Seat.objects.get().state == Seat.State.OPEN
    assert Event.objects.get(verb="reopened").subject == f"hits.seat:{Seat.objects.get().pk}"


@pytest.mark.parametrize("state", Assignment.HOLDING)
def test_a_seat_with_a_holder_is_left_alone(db, state):
    lease_seat(make_round(), worker=make_worker())
    Assignment.objects.update(state=state)
    assert free_orphaned_seats() == 0
    assert Seat.objects.get().state == Seat.State.TAKEN


def test_what_a_killed_process_left_among_the_local_copies_is_removed_in_time(db, settings):
    cache_of_files = Path(settings.FILE_CACHE)
    old, new = (cache_of_files / f".part-{age}" for age in ("old", "new"))
    for folder in (old, new):
        folder.mkdir(parents=True)
        (folder / "part").touch()
    copy = cache_of_files / ("0" * 64)
    copy.touch()
    for path in (old, copy):
        os.utime(path, (0, 0))
    assert reconcile()["unfinished files"] == 1
    assert sorted(path.name for path in cache_of_files.iterdir()) == [".part-new", copy.name]


def test_what_cannot_be_repaired_does_not_hold_up_the_rest(db, monkeypatch, caplog):
    late_lease()

    def broken():
        raise ConnectionError("no broker")

    monkeypatch.setattr(tasks, "resend_stale_jobs", broken)
    healed = reconcile()
    assert (healed["stale jobs"], healed["expired leases"]) == (0, 1)
    assert "repairing stale jobs failed" in caplog.text


def test_the_command_prints_the_counts(db, capsys):
    late_lease()
    call_command("reconcile")
    assert "expired leases: 1" in capsys.readouterr().out
    call_command("reconcile", json=True)
    assert not any(json.loads(capsys.readouterr().out).values())


def test_an_upload_that_no_job_used_is_removed_in_time(db):
    stored = default_storage.save(f"uploads/{'0' * 64}-captions.json", ContentFile(b"{}"))
    os.utime(default_storage.path(stored), (0, 0))
    assert reconcile()["uploads that no job used"] == 1
    assert not default_storage.exists(stored)
