"""Seats and who holds them: leases, returns and expiry. What changes the state of an assignment is in this module."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from annotation.models import Assignment, AssignmentQuerySet, Worker
from annotation.money.budget import has_room_for_seat
from annotation.people.admission import admit, hit_with_seen_pair, hits_with_seen_pairs, permit_of
from annotation.people.consent import NotAgreedError, has_agreed
from annotation.people.workers import actor_of, locked
from core import clock
from core.clock import LARGEST_SKEW
from core.database.fixed_queries import FixedQuery
from core.events import record, record_each
from hits.models import Round, Seat
from integrations.notifications import notify

AT_ONCE = 500  # open seats looked at together, and leases expired in one transaction

# The state of a seat follows from that of the assignment that held it.
SEAT_AFTER = {
    Assignment.State.SUBMITTED: Seat.State.TAKEN,
    Assignment.State.FLAGGED: Seat.State.TAKEN,
    Assignment.State.ACCEPTED: Seat.State.FILLED,
    Assignment.State.EXCLUDED: Seat.State.OPEN,
    Assignment.State.RETURNED: Seat.State.OPEN,
    Assignment.State.EXPIRED: Seat.State.OPEN,
}


def move(
    assignment: Assignment, *, come_from: Assignment.State, to: Assignment.State, actor: str, **fields: Any
) -> bool:
    """Move an assignment that holds its seat, set ``fields`` on it, and let the seat follow. False: the race was lost.

    One that holds no seat (expired, excluded) must ``claim`` it first, in the same transaction.
    """
    with transaction.atomic(savepoint=False):
        in_state = Assignment.objects.filter(pk=assignment.pk, state=come_from)
        if not in_state.update(state=to, **fields):
            return False
        if assignment.seat_id is not None and SEAT_AFTER[to] != SEAT_AFTER.get(come_from, Seat.State.TAKEN):
            Seat.objects.filter(pk=assignment.seat_id).update(state=SEAT_AFTER[to])
        record(to.value, assignment, actor=actor)
        if to == Assignment.State.FLAGGED:
            notify_flagged(assignment)
    for name, value in {"state": to, **fields}.items():
        setattr(assignment, name, value)
    return True


def notify_flagged(assignment: Assignment) -> None:
    """Notify other programs that work waits for a person. To be called in the transaction that flags it."""
    round = assignment.hit.round.name
    notify("assignment.flagged", f"/rounds/{round}", id=assignment.pk, round=round)


def bind_seat(assignment: Assignment) -> None:
    """Give an open seat of its HIT to work that a platform has confirmed; where a late submission finds none, make one
    more. To be called in a transaction."""
    seats = Seat.objects.select_for_update().filter(hit=assignment.hit_id)
    for seat in seats.filter(state=Seat.State.OPEN).order_by("number"):
        if claim(seat.pk):
            break
    else:
        last = seats.aggregate(last=Max("number"))["last"] or 0
        hit = assignment.hit
        seat = Seat.objects.create(round_id=hit.round_id, hit=hit, number=last + 1, state=Seat.State.TAKEN)
        record("added", seat, actor="intake", reason="a late submission")
    assignment.seat = seat
    assignment.save(update_fields=["seat"])


def claim(seat_id: int | None) -> bool:
    """Take an open seat; return False if another worker has taken it or no seat is open."""
    return seat_id is not None and bool(
        Seat.objects.filter(pk=seat_id, state=Seat.State.OPEN).update(state=Seat.State.TAKEN)
    )


def lease_seat(round: Round, *, worker: Worker) -> Assignment | None:
    """Lease a seat of the round to the worker for LEASE_MINUTES; the one they have, if it is still running. Where there
    is none, leases of the round that are past their deadline are ended, and their seats looked at as well.

    None: the round is not open, paused or full, its ceiling is reached, the worker has had as many of its HITs as one
    may, their last answer sets all wait for a person, or every open seat has a pair, candidate or control, that they
    hold or have answered in whatever round, or met in a test. Raises NotAgreedError before they agree to the round's
    sheet as it reads now, NotAdmittedError for a worker who is excluded or paused, and before its test is passed.
    """
    with transaction.atomic():
        # One lease at a time for one person, or two tabs would get two HITs that share a pair.
        worker = locked(worker.pk)
        permit = permit_of(round, worker)
        held = Assignment.objects.filter(worker=worker, hit__round=round, state=Assignment.State.LEASED)
        if permit.has_lease and (running := held.filter(deadline__gt=clock.now()).first()):
            return running
        _refuse_without_consent(worker, round)
        if permit.has_lease:
            _expire(_overdue(held))
            permit = permit_of(round, worker)
        if not admit(round, worker, permit):
            return None
        found = _lease_in(round, worker)
        # The clock ends overdue leases too; a worker who waits for a seat need not wait for it.
        if found is None and _expire(_overdue(Assignment.objects.filter(hit__round=round))[:AT_ONCE]):
            found = _lease_in(round, worker)
        return found


def _lease_in(round: Round, worker: Worker) -> Assignment | None:
    return _lease_next(round, worker, _lease_time()) if has_room_for_seat(round) else None


def lease_for_visitor(round: Round, *, worker: Worker, time: timedelta, outside_key: str) -> Assignment | None:
    """Lease a seat of the round to a platform's visitor, who may be late by ``time``. The platform holds the money for
    them, so that the ceiling is not asked.

    None: the round is not open, or every open seat has a pair that they hold, have answered or met in a test. Raises
    NotAgreedError before they agree to the round's sheet as it reads now. To be called in a transaction.
    """
    _refuse_without_consent(locked(worker.pk), round)
    return _lease_next(round, worker, time, outside_key)


def _refuse_without_consent(worker: Worker, round: Round) -> None:
    if not has_agreed(worker, round):
        raise NotAgreedError(f"Worker {worker} has not agreed to the sheet of round {round}. Ask for consent first.")


def can_extend(assignment: Assignment) -> bool:
    """Whether its worker may take more time: once, while the lease is theirs."""
    is_first = assignment.deadline - assignment.leased_at < 1.5 * _lease_time()
    return assignment.state == Assignment.State.LEASED and is_first


def longest_lease(assignment: Assignment) -> datetime:
    """Return until when its worker may have it at the longest: the deadline of a lease that was extended."""
    return max(assignment.deadline, assignment.leased_at + 2 * _lease_time())


def extend_lease(assignment: Assignment) -> bool:
    """Give the worker LEASE_MINUTES more, once. False: they had them already, or the lease is not theirs any more."""
    running = Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.LEASED, deadline=assignment.deadline)
    with transaction.atomic():
        if not (can_extend(assignment) and running.update(deadline=assignment.deadline + _lease_time())):
            return False
        record("extended", assignment, actor=actor_of(assignment.worker))
    return True


def return_assignment(assignment: Assignment, *, actor: str) -> bool:
    """Give a lease back and offer its seat again. False: it is not leased any more."""
    return move(assignment, come_from=Assignment.State.LEASED, to=Assignment.State.RETURNED, actor=actor)


def expire_leases() -> int:
    """Expire every lease past its deadline and offer its seat again. Returns how many."""
    return sum(iter(lambda: _expire(_overdue(Assignment.objects.all())[:AT_ONCE]), 0))


def shorten_leases() -> int:
    """Shorten the leases that a computer whose clock was ahead has written: they begin in the future, or have more time
    left than their workers may have. Returns how many."""
    moment = clock.now()
    longest = moment + 2 * _lease_time()
    too_long = Q(outside_key="", deadline__gt=longest + LARGEST_SKEW) | Q(leased_at__gt=moment + LARGEST_SKEW)
    leases = Assignment.objects.filter(too_long, state=Assignment.State.LEASED, seat__isnull=False)
    shortened = 0
    for lease in leases[:AT_ONCE]:
        begun = min(lease.leased_at, moment)
        deadline = begun + (lease.deadline - lease.leased_at)
        if not lease.outside_key:  # Of a platform's visitors, only the platform knows how long they may take.
            deadline = min(deadline, longest)
        running = Assignment.objects.filter(pk=lease.pk, state=Assignment.State.LEASED, deadline=lease.deadline)
        with transaction.atomic():
            if running.update(leased_at=begun, deadline=deadline):
                record("shortened", lease, actor="reconciler")
                shortened += 1
    return shortened


def idle_leases(round: Round, *, with_answers: bool = True) -> AssignmentQuerySet:
    """Return the leases of the round whose workers never submitted anything, in any round; on demand only those
    without saved answers."""
    submitted = Assignment.objects.filter(worker=OuterRef("worker"), submitted_at__isnull=False)
    idle = Assignment.objects.filter(
        ~Exists(submitted), hit__round=round, state=Assignment.State.LEASED, seat__isnull=False
    )
    return idle if with_answers else idle.filter(drafts=None)


def end_idle_leases(round: Round, *, with_answers: bool, actor: str) -> int:
    """Expire the round's idle leases and free the places of their workers, who may join again while there are some.
    Returns the number of leases. Answers stay saved, and may be sent while no other worker has the seat."""
    with transaction.atomic():
        ended = sum(iter(lambda: _expire(idle_leases(round, with_answers=with_answers)[:AT_ONCE], actor=actor), 0))
        holding = Assignment.objects.filter(worker=OuterRef("worker"), state__in=Assignment.HOLDING)
        submitted = Assignment.objects.filter(worker=OuterRef("worker"), submitted_at__isnull=False)
        places, _ = round.participants.filter(~Exists(holding), ~Exists(submitted)).delete()
        record("ended idle leases", round, actor=actor, leases=ended, places=places)
    return ended


def _lease_next(round: Round, worker: Worker, time: timedelta, outside_key: str = "") -> Assignment | None:
    """Lease a seat of the first HIT that fits. The first open seat that no other transaction is taking is checked
    alone, as it almost always fits."""
    while first := _first_open_seat.first(round.pk, worker.pk):
        if hit_with_seen_pair(worker.pk, first.hit_id):
            break
        if claim(first.pk):
            first.hit.round = round
            return _lease(first, worker, time, outside_key)
    passed = 0
    seats = _open_seats(round.pk, worker.pk)
    while hits := set(seats.filter(hit__gt=passed).values_list("hit", flat=True)[:AT_ONCE]):
        if seat := _take_one_of(hits - hits_with_seen_pairs(worker, hits)):
            return _lease(seat, worker, time, outside_key)
        passed = max(hits)
    return None


@FixedQuery
def _first_open_seat(round: int, worker: int) -> QuerySet[Seat]:
    seats = _open_seats(round, worker).select_related("hit")
    return seats.select_for_update(skip_locked=True, of=("self",))[:1]


def _open_seats(round: int, worker: int) -> QuerySet[Seat]:
    """Open seats of an open round, in the order in which its HITs were made. HITs that the worker holds or has answered
    are left out early: the database reads these once, and of the seats only as many as are asked for. Visitors whom a
    platform has sent get their next HIT during a pause too."""
    theirs = Assignment.objects.filter(worker=worker, state__in=Assignment.HOLDING, seat__isnull=False).values("hit")
    is_open = {"round__published_at__isnull": False, "round__closed_at": None}
    running = Q(round__paused_at=None) | Q(round__settles=True)
    seats = Seat.objects.filter(~Q(hit__in=theirs), running, round=round, state=Seat.State.OPEN, **is_open)
    return seats.order_by("hit_id", "number")


def _take_one_of(hits: Iterable[int]) -> Seat | None:
    """Take an open seat of one of these HITs that no other transaction is taking just now."""
    # SQLite ignores the locking clause: its writing transactions wait for each other from their first statement.
    seats = Seat.objects.filter(hit__in=list(hits), state=Seat.State.OPEN).order_by("hit__number", "number")
    while seat := seats.select_for_update(skip_locked=True, of=("self",)).first():
        if claim(seat.pk):
            return seat
    return None


def _lease(seat: Seat, worker: Worker, time: timedelta, outside_key: str) -> Assignment:
    begun = clock.now()
    seat.state = Seat.State.TAKEN
    assignment = Assignment.objects.create(
        seat=seat, hit=seat.hit, worker=worker, leased_at=begun, deadline=begun + time, outside_key=outside_key
    )
    record("leased", assignment, actor=actor_of(worker))
    return assignment


def _lease_time() -> timedelta:
    return timedelta(minutes=settings.LEASE_MINUTES)


def _overdue(assignments: AssignmentQuerySet) -> AssignmentQuerySet:
    """Return those past their deadline, without claims: only their platform knows their state."""
    return assignments.filter(state=Assignment.State.LEASED, deadline__lte=clock.now(), seat__isnull=False)


@transaction.atomic(savepoint=False)
def _expire(leases: QuerySet[Assignment], *, actor: str = "reconciler") -> int:
    """Expire those of ``leases`` that no other transaction is moving just now."""
    assignments = list(leases.select_for_update(skip_locked=True, of=("self",)))
    Assignment.objects.filter(pk__in=[assignment.pk for assignment in assignments]).update(
        state=Assignment.State.EXPIRED
    )
    Seat.objects.filter(pk__in=[assignment.seat_id for assignment in assignments]).update(state=Seat.State.OPEN)
    record_each("expired", assignments, actor=actor)
    return len(assignments)
