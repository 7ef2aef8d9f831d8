"""One step of an assignment and of the seat under it: every change of state in the house's work goes through here."""

from typing import Any

from django.db import transaction

from annotation.models import Assignment
from core.events import record
from hits.models import Seat

State = Assignment.State

# What a seat is follows from what became of the assignment that held it.
SEAT_AFTER = {
    State.SUBMITTED: Seat.State.TAKEN,
    State.FLAGGED: Seat.State.TAKEN,
    State.ACCEPTED: Seat.State.FILLED,
    State.EXCLUDED: Seat.State.OPEN,
    State.RETURNED: Seat.State.OPEN,
    State.EXPIRED: Seat.State.OPEN,
}


def move(
    assignment: Assignment,
    *,
    come_from: Assignment.State,
    to: Assignment.State,
    actor: str,
    **fields: Any,
) -> bool:
    """Move an assignment that holds its seat, set ``fields`` on it, and let the seat follow. False: the race was lost.

    One that holds no seat (expired, excluded) must ``claim`` it first, in the same transaction.
    """
    with transaction.atomic(savepoint=False):
        in_state = Assignment.objects.filter(pk=assignment.pk, state=come_from)
        if not in_state.update(state=to, **fields):
            return False
        Seat.objects.filter(pk=assignment.seat_id).update(state=SEAT_AFTER[to])
        record(to.value, assignment, actor=actor)
    for name, value in {"state": to, **fields}.items():
        setattr(assignment, name, value)
    return True


def claim(seat_id: int) -> bool:
    """Take an open seat. False: somebody else has it."""
    return bool(Seat.objects.filter(pk=seat_id, state=Seat.State.OPEN).update(state=Seat.State.TAKEN))
