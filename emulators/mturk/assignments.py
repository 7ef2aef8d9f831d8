"""Show HITs and submitted assignments to the requester, in lists and one by one."""

from typing import Any

from emulators.mturk.errors import does_not_exist, wrong_assignment_state
from emulators.mturk.hits import find_hit, shown
from emulators.mturk.listing import page
from emulators.mturk.rows import HIT, Assignment
from emulators.mturk.state import State

VISIBLE = ("Submitted", "Approved", "Rejected")


def list_hits(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """List all HITs but the disposed ones, newest first."""
    return _page_of_hits(state, params, "all", [hit for hit in state.hits.values() if hit.status != "Disposed"])


def list_reviewable_hits(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """List the HITs that wait for review, newest first: Reviewable ones unless Reviewing ones are asked for."""
    status, type_id = params.get("Status", "Reviewable"), params.get("HITTypeId")
    hits = [hit for hit in state.hits.values() if hit.status == status and type_id in (None, hit.type.id)]
    return _page_of_hits(state, params, "reviewable", hits)


def list_assignments_for_hit(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """List what was submitted to a HIT, oldest first."""
    wanted = params.get("AssignmentStatuses") or VISIBLE
    rows = [a for a in find_hit(state, params["HITId"]).assignments if a.status in wanted and a.status in VISIBLE]
    return page(state, params, name="Assignments", rows=rows, serial=lambda a: a.serial, show=shown_assignment)


def get_assignment(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Show one assignment with its HIT; only once it is submitted."""
    assignment = find_assignment(state, params["AssignmentId"])
    if assignment.status not in VISIBLE:
        raise wrong_assignment_state("Reviewable", "Approved", "Rejected")
    return {"Assignment": shown_assignment(assignment), "HIT": shown(assignment.hit)}


def find_assignment(state: State, id: str) -> Assignment:
    """Return the assignment that carries an id now. Raises TurkError for an unknown one."""
    if id not in state.assignments:
        raise does_not_exist("Assignment", id)
    return state.assignments[id]


def shown_assignment(assignment: Assignment) -> dict[str, Any]:
    """Return an assignment as the API shows it."""
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


def _page_of_hits(state: State, params: dict[str, Any], listing: str, hits: list[HIT]) -> dict[str, Any]:
    return page(
        state, params, name="HITs", rows=hits[::-1], serial=lambda hit: -hit.serial, show=shown, listing=listing
    )
