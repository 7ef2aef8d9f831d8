"""The marketplace as it stood some time ago: what a reading shows whose copy has not caught up."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from emulators.mturk.errors import does_not_exist, wrong_assignment_state
from emulators.mturk.hits import shown
from emulators.mturk.rows import HIT, Assignment
from emulators.mturk.state import State

Shown = dict[str, Any]

DECIDING = ("ApproveAssignment", "RejectAssignment")


def as_of(state: State, operation: str, result: Shown, then: datetime) -> Shown:
    """Return an operation's result as the state of ``then`` would have made it. Raises TurkError."""
    late = _LATE.get(operation)
    return result if late is None else late(state, result, then)


def hit_as_of(hit: HIT, then: datetime) -> Shown:
    """Return a HIT as the API showed it at ``then``, worked out from when its assignments moved."""
    taken = sum(_is_taken(each, then) for each in hit.assignments)
    pending = sum(_is_taken(each, then) and not _by(each.submitted_at, then) for each in hit.assignments)
    decided = sum(_by(each.approved_at, then) or _by(each.rejected_at, then) for each in hit.assignments)
    counters = {
        "NumberOfAssignmentsPending": pending,
        "NumberOfAssignmentsAvailable": hit.max_assignments - taken,
        "NumberOfAssignmentsCompleted": decided,
    }
    return shown(hit) | counters | {"HITStatus": _status(hit, then, free=hit.max_assignments - taken, pending=pending)}


def assignment_as_of(assignment: Shown, then: datetime) -> Shown | None:
    """Return a shown assignment as it was at ``then``: undecided where that came later, None before its submission."""
    if assignment["SubmitTime"] > then:
        return None
    later = [name for name in ("ApprovalTime", "RejectionTime") if name in assignment and assignment[name] > then]
    if not later:
        return assignment
    kept = {name: value for name, value in assignment.items() if name not in (*later, "RequesterFeedback")}
    return kept | {"AssignmentStatus": "Rejected" if "RejectionTime" in kept else "Submitted"}


def refuse_hidden(
    state: State, operation: str, params: Mapping[str, Any], hidden: Callable[[Assignment], bool]
) -> None:
    """Raise, where a call decides or reads one assignment that is hidden, what it gives for one not submitted yet."""
    if operation not in (*DECIDING, "GetAssignment"):
        return
    assignment = state.assignments.get(params["AssignmentId"])
    if assignment and hidden(assignment):
        raise wrong_assignment_state("Submitted" if operation in DECIDING else "Reviewable", "Approved", "Rejected")


def is_younger(assignment: Assignment, age: timedelta, now: datetime) -> bool:
    """Say whether an assignment was submitted less than ``age`` ago."""
    return assignment.submitted_at is not None and assignment.submitted_at > now - age


def _late_hit(state: State, result: Shown, then: datetime) -> Shown:
    hit = state.hits[result["HIT"]["HITId"]]
    if hit.created_at > then:
        raise does_not_exist("Hit", hit.id)
    return {"HIT": hit_as_of(hit, then)}


def _late_hits(state: State, result: Shown, then: datetime) -> Shown:
    hits = [state.hits[each["HITId"]] for each in result["HITs"]]
    rows = [hit_as_of(hit, then) for hit in hits if hit.created_at <= then]
    return result | {"HITs": rows, "NumResults": len(rows)}


def _late_reviewable(state: State, result: Shown, then: datetime) -> Shown:
    late = _late_hits(state, result, then)
    rows = [hit for hit in late["HITs"] if hit["HITStatus"] in ("Reviewable", "Reviewing")]
    return late | {"HITs": rows, "NumResults": len(rows)}


def _late_assignments(state: State, result: Shown, then: datetime) -> Shown:
    were = [assignment_as_of(each, then) for each in result["Assignments"]]
    rows = [each for each in were if each is not None]
    return result | {"Assignments": rows, "NumResults": len(rows)}


def _late_assignment(state: State, result: Shown, then: datetime) -> Shown:
    assignment = assignment_as_of(result["Assignment"], then)
    if assignment is None:
        raise wrong_assignment_state("Reviewable", "Approved", "Rejected")
    return {"Assignment": assignment, "HIT": hit_as_of(state.hits[assignment["HITId"]], then)}


_LATE: Mapping[str, Callable[[State, Shown, datetime], Shown]] = {
    "GetHIT": _late_hit,
    "ListHITs": _late_hits,
    "ListReviewableHITs": _late_reviewable,
    "ListAssignmentsForHIT": _late_assignments,
    "GetAssignment": _late_assignment,
}


def _by(instant: datetime | None, then: datetime) -> bool:
    return instant is not None and instant <= then


def _is_taken(assignment: Assignment, then: datetime) -> bool:
    return assignment.accepted_at <= then and not _by(assignment.ended_at, then)


def _status(hit: HIT, then: datetime, *, free: int, pending: int) -> str:
    if hit.status == "Disposed":
        return "Disposed"
    if free and not (hit.expired and hit.expires_at <= then):
        return "Assignable"
    if pending:
        return "Unassignable"
    return "Reviewing" if hit.reviewing else "Reviewable"
