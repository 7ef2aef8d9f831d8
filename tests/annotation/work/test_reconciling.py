import json
import os
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import transaction
from django.db.models import Count
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.models import Assignment, Decision, Payment
from annotation.review.decisions import decide
from annotation.work.grading import accept, flag
from annotation.work.leases import expire_leases, lease_seat, return_assignment
from annotation.work.repair import free_orphaned_seats
from annotation.work.submissions import mark_submitted
from core.errors import CounterpartError
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


# Random histories of a round: no order of acts loses a seat or gives it to two workers


State = Assignment.State
WORKERS = 4

step = st.tuples(
    st.sampled_from(["lease", "return", "time out", "abandon", "submit", "accept", "flag", "decide"]),
    st.integers(0, 11),
    st.booleans(),
    st.booleans(),
)


class History:
    """A round of two HITs with two seats each, and its workers; ``play`` lets one thing happen to it."""

    def __init__(self) -> None:
        self.round = make_round(hits=2, replication=2)
        self.workers = [make_worker() for _ in range(WORKERS)]
        self.person = User.objects.create_user(username="robin")

    def play(self, what: str, who: int, one: bool, other: bool) -> None:
        assignments = list(Assignment.objects.all())
        if what == "lease":
            lease_seat(self.round, worker=self.workers[who % WORKERS])
        elif what == "abandon":
            expire_leases()
        elif assignments:
            self._happen(what, assignments[who % len(assignments)], one, other)

    def _happen(self, what: str, assignment: Assignment, one: bool, other: bool) -> None:
        if what == "return":
            return_assignment(assignment, actor="test")
        elif what == "time out":
            Assignment.objects.filter(pk=assignment.pk).update(deadline=timezone.now() - timedelta(minutes=1))
        elif what == "submit":
            mark_submitted(assignment, active_seconds=1)
        elif what == "accept":
            accept(assignment)
        elif what == "flag":
            flag(assignment, control_failures=1)
        else:
            self._decide(assignment, one, other)

    def _decide(self, assignment: Assignment, votes_count: bool, paid: bool) -> None:
        try:
            decide(assignment, votes_count=votes_count, paid=paid, reason="because", by=self.person)
        except CounterpartError:
            assert assignment.state not in (State.FLAGGED, State.ACCEPTED)


def check() -> None:
    """Seats and holders agree; no worker holds two seats of a HIT; pay follows the latest decision."""
    holders = dict(Assignment.objects.filter(state__in=Assignment.HOLDING).values_list("seat", "state"))
    seats = dict(Seat.objects.values_list("pk", "state"))
    assert Assignment.objects.filter(state__in=Assignment.HOLDING).count() == len(holders)
    assert {seat for seat, state in seats.items() if state != Seat.State.OPEN} == set(holders)
    assert {seat for seat, state in seats.items() if state == Seat.State.FILLED} == {
        seat for seat, state in holders.items() if state == State.ACCEPTED
    }
    answered = Assignment.objects.exclude(state__in=Assignment.ABANDONED).values("hit", "worker")
    assert not answered.annotate(n=Count("pk")).filter(n__gt=1).exists()
    owed = set(Payment.objects.exclude(state=Payment.State.WITHDRAWN).values_list("assignment", flat=True))
    latest = dict(Decision.objects.order_by("pk").values_list("assignment", "paid"))
    assert owed == {assignment for assignment, paid in latest.items() if paid}


@pytest.fixture
def history(db) -> History:
    return History()


@pytest.mark.slow
@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(step, min_size=8, max_size=30))
def test_whatever_people_do_no_seat_is_lost_or_held_twice(history, steps):
    with transaction.atomic():
        for what, who, one, other in steps:
            history.play(what, who, one, other)
            check()
        assert free_orphaned_seats() == 0
        transaction.set_rollback(True)


@pytest.mark.parametrize("seed", range(3))
def test_a_round_is_filled_in_the_end_whoever_walks_away(db, seed):
    chance = Random(seed)
    made = make_round(hits=3, replication=2)
    for _ in range(200):
        if Seat.objects.exclude(state=Seat.State.FILLED).count() == 0:
            break
        assignment = lease_seat(made, worker=make_worker())
        if chance.random() < 0.5:
            return_assignment(assignment, actor="test")
        elif mark_submitted(assignment, active_seconds=1):
            accept(assignment)
    assert set(Seat.objects.values_list("state", flat=True)) == {Seat.State.FILLED}
    assert Assignment.objects.filter(state=State.ACCEPTED).count() == 6
