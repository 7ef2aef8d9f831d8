"""Submitted assignments, as the requester lists, approves and rejects them, and pays bonuses for them."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from counterpart_emulators.money import read_amount
from counterpart_emulators.mturk.balance import hold, pay_bonus, release
from counterpart_emulators.mturk.errors import (
    already_processed,
    does_not_exist,
    invalid_parameter,
    invalid_value,
    wrong_assignment_state,
)
from counterpart_emulators.mturk.hits import find_hit, shown_hit
from counterpart_emulators.mturk.lifecycle import approve, refresh
from counterpart_emulators.mturk.listing import page
from counterpart_emulators.mturk.state import Assignment, Bonus, State
from counterpart_emulators.mturk.validation import check_limits

VISIBLE = ("Submitted", "Approved", "Rejected")
REVERSIBLE_FOR = timedelta(days=30)  # from submission
IDLE_AFTER = timedelta(days=183)  # six months without submitting anything to this requester


def list_assignments_for_hit(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """List the assignments of a HIT that were submitted, oldest first."""
    wanted = params.get("AssignmentStatuses") or VISIBLE
    rows = [a for a in find_hit(state, params["HITId"]).assignments if a.status in wanted and a.status in VISIBLE]
    return page(state, params, "Assignments", rows, _shown)


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
    assignment.status = "Rejected"
    assignment.rejected_at = state.now
    assignment.feedback = params["RequesterFeedback"]
    state.workers[assignment.worker_id].rejected += 1
    release(state, assignment.hit, 1)
    refresh(state, assignment.hit)
    return {}


def send_bonus(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Pay a worker a bonus for work that they submitted."""
    check_limits(params)
    token = params.get("UniqueRequestToken")
    amount = read_amount(params["BonusAmount"])
    if token is not None and state.made_with("bonus", token):
        raise already_processed(token)
    assignment = find_assignment(state, params["AssignmentId"])
    _check_bonus(state, assignment, params["WorkerId"], amount)
    pay_bonus(state, amount, assignment.id)
    bonus = Bonus(
        serial=state.count("bonus"),
        worker_id=assignment.worker_id,
        assignment_id=assignment.id,
        hit_id=assignment.hit.id,
        amount=amount,
        reason=params["Reason"],
        granted_at=state.now,
    )
    state.bonuses.append(bonus)
    state.write_to(bonus.worker_id, f"You received a bonus of ${amount:.2f}", bonus.reason)
    state.remember("bonus", token, assignment.id)
    return {}


def list_bonus_payments(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """List the bonuses paid for a HIT or for an assignment, oldest first."""
    hit_id = params.get("HITId")
    assignment_id = params.get("AssignmentId")
    if (hit_id is None) == (assignment_id is None):
        raise invalid_parameter("Specify either a HITId or an AssignmentId.")
    if hit_id:
        find_hit(state, hit_id)
    elif assignment_id:
        find_assignment(state, assignment_id)
    rows = [each for each in state.bonuses if hit_id in (None, each.hit_id)]
    rows = [each for each in rows if assignment_id in (None, each.assignment_id)]
    return page(state, params, "BonusPayments", rows, _shown_bonus)


def find_assignment(state: State, assignment_id: str) -> Assignment:
    """Return the assignment that has an id now. Raises TurkError for an unknown one."""
    if assignment_id not in state.assignments:
        raise does_not_exist("Assignment", assignment_id)
    return state.assignments[assignment_id]


def _shown(assignment: Assignment) -> dict[str, Any]:
    return {
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


def _is_reversible(state: State, assignment: Assignment) -> bool:
    """Whether rejected work can still be approved: for 30 days from submission, while its HIT is kept."""
    submitted = assignment.submitted_at
    is_kept = assignment.hit.status != "Disposed"
    is_young = submitted is not None and state.now <= submitted + REVERSIBLE_FOR
    return assignment.status == "Rejected" and is_kept and is_young


def _require_submitted(assignment: Assignment) -> None:
    if assignment.submitted_at is None:
        raise wrong_assignment_state("null")
    if assignment.status != "Submitted":
        raise wrong_assignment_state("Submitted")


def _check_bonus(state: State, assignment: Assignment, worker_id: str, amount: Decimal) -> None:
    if worker_id != assignment.worker_id:
        raise invalid_value("WorkerId", worker_id)
    if amount <= 0:
        raise invalid_value("BonusAmount", amount)
    if assignment.submitted_at is None:
        raise wrong_assignment_state("Submitted", "Approved", "Rejected")
    last = max(each.submitted_at for each in state.workers[worker_id].assignments if each.submitted_at)
    if state.now > last + IDLE_AFTER:
        raise invalid_parameter(f"Worker {worker_id} has not worked for you for six months, so a bonus cannot be paid.")


def _shown_bonus(bonus: Bonus) -> dict[str, Any]:
    return {
        "WorkerId": bonus.worker_id,
        "BonusAmount": f"{bonus.amount:.2f}",
        "AssignmentId": bonus.assignment_id,
        "Reason": bonus.reason,
        "GrantTime": bonus.granted_at,
    }
