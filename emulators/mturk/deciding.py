"""Approve and reject submitted work."""

from datetime import timedelta
from typing import Any

from emulators.mturk.assignments import find_assignment
from emulators.mturk.errors import wrong_assignment_state
from emulators.mturk.limits import check_limits
from emulators.mturk.money import hold, release
from emulators.mturk.rows import Assignment
from emulators.mturk.settling import approve, refresh
from emulators.mturk.state import State

REVERSIBLE_FOR = timedelta(days=30)  # from submission


def approve_assignment(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Approve submitted work, or, where the rejection is overridden, rejected work that can still be approved."""
    check_limits(params)
    assignment = find_assignment(state, params["AssignmentId"])
    if params.get("OverrideRejection", False) and _is_reversible(state, assignment):
        hold(state, assignment.hit, 1)
        state.workers[assignment.worker_id].rejected -= 1
        assignment.rejected_at = None
    else:
        _require_submitted(assignment)
    approve(state, assignment, feedback=params.get("RequesterFeedback"))
    return {}


def reject_assignment(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Reject submitted work: nothing is paid, and its place in the HIT does not open again."""
    check_limits(params)
    assignment = find_assignment(state, params["AssignmentId"])
    _require_submitted(assignment)
    assignment.status, assignment.rejected_at = "Rejected", state.now
    assignment.feedback = params["RequesterFeedback"]
    state.workers[assignment.worker_id].rejected += 1
    release(state, assignment.hit, 1)
    state.tell("AssignmentRejected", assignment.hit, assignment)
    refresh(state, assignment.hit)
    return {}


def _is_reversible(state: State, assignment: Assignment) -> bool:
    """Say whether rejected work can be approved after all: 30 days from submission, while its HIT is kept."""
    submitted, is_kept = assignment.submitted_at, assignment.hit.status != "Disposed"
    is_young = submitted is not None and state.now <= submitted + REVERSIBLE_FOR
    return assignment.status == "Rejected" and is_kept and is_young


def _require_submitted(assignment: Assignment) -> None:
    if assignment.submitted_at is None:
        raise wrong_assignment_state("null")
    if assignment.status != "Submitted":
        raise wrong_assignment_state("Submitted")
