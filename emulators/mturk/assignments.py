"""Submitted assignments, as the requester lists, reads, approves and rejects them."""

from datetime import timedelta
from typing import Any

from emulators.mturk.balance import hold, release
from emulators.mturk.errors import does_not_exist, wrong_assignment_state
from emulators.mturk.hits import find_hit, shown_hit
from emulators.mturk.lifecycle import approve, refresh
from emulators.mturk.listing import page
from emulators.mturk.state import Assignment, State
from emulators.mturk.validation import check_limits

VISIBLE = ("Submitted", "Approved", "Rejected")
REVERSIBLE_FOR = timedelta(days=30)  # from submission


def list_assignments_for_hit(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """List the assignments of a HIT that were submitted, oldest first."""
    wanted = params.get("AssignmentStatuses") or VISIBLE
    rows = [a for a in find_hit(state, params["HITId"]).assignments if a.status in wanted and a.status in VISIBLE]
    return page(state, params, name="Assignments", rows=rows, serial=lambda a: a.serial, show=_shown)


def get_assignment(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Show one assignment with its HIT, once it is submitted."""
    assignment = find_assignment(state, params["AssignmentId"])
    if assignment.status not in VISIBLE:
        raise wrong_assignment_state("Reviewable", "Approved", "Rejected")
    return {"Assignment": _shown(assignment), "HIT": shown_hit(assignment.hit)}


def approve_assignment(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Approve submitted work, or rejected work where the rejection is overridden in time."""
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
    refresh(state, assignment.hit)
    return {}


def find_assignment(state: State, id: str) -> Assignment:
    """Return the assignment that has an id now. Raises TurkError for an unknown one."""
    if id not in state.assignments:
        raise does_not_exist("Assignment", id)
    return state.assignments[id]


def _shown(assignment: Assignment) -> dict[str, Any]:
    fields = {
        "AssignmentId": assignment.id,
        "WorkerId": assignment.worker_id,
        "HITId": assignment.hit.id,
        "AssignmentStatus": assignment.status,
        "AutoApprovalTime": assignment.auto_approval_at,
        "AcceptTime": assignment.accepted_at,
        "SubmitTime": assignment.submitted_at,
        "ApprovalTime": assignment.approved_at,
        "RejectionTime": assignment.rejected_at,
        "Deadline": assignment.deadline,
        "Answer": assignment.answer,
        "RequesterFeedback": assignment.feedback,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _is_reversible(state: State, assignment: Assignment) -> bool:
    """Whether rejected work can still be approved: for 30 days from submission, while its HIT is kept."""
    submitted, is_kept = assignment.submitted_at, assignment.hit.status != "Disposed"
    is_young = submitted is not None and state.now <= submitted + REVERSIBLE_FOR
    return assignment.status == "Rejected" and is_kept and is_young


def _require_submitted(assignment: Assignment) -> None:
    if assignment.submitted_at is None:
        raise wrong_assignment_state("null")
    if assignment.status != "Submitted":
        raise wrong_assignment_state("Submitted")
