"""Bonuses, as the requester pays and lists them."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from emulators.mturk.assignments import find_assignment
from emulators.mturk.balance import dollars, pay_bonus
from emulators.mturk.errors import already_processed, invalid_parameter, invalid_value, wrong_assignment_state
from emulators.mturk.hits import find_hit
from emulators.mturk.listing import page
from emulators.mturk.state import Assignment, Bonus, State
from emulators.mturk.validation import check_limits

IDLE_AFTER = timedelta(days=183)  # six months without submitting anything to this requester


def send_bonus(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Pay a worker a bonus for work that they submitted."""
    check_limits(params)
    token, amount = params.get("UniqueRequestToken"), dollars(params["BonusAmount"])
    if token is not None and state.made_with("bonus", token):
        raise already_processed(token)
    assignment = find_assignment(state, params["AssignmentId"])
    _check(state, assignment, params["WorkerId"], amount)
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
    hit_id, assignment_id = params.get("HITId"), params.get("AssignmentId")
    if (hit_id is None) == (assignment_id is None):
        raise invalid_parameter("Specify either a HITId or an AssignmentId.")
    if hit_id:
        find_hit(state, hit_id)
    elif assignment_id:
        find_assignment(state, assignment_id)
    rows = [each for each in state.bonuses if hit_id in (None, each.hit_id)]
    rows = [each for each in rows if assignment_id in (None, each.assignment_id)]
    return page(state, params, name="BonusPayments", rows=rows, serial=lambda bonus: bonus.serial, show=_shown)


def _check(state: State, assignment: Assignment, worker_id: str, amount: Decimal) -> None:
    if worker_id != assignment.worker_id:
        raise invalid_value("WorkerId", worker_id)
    if amount <= 0:
        raise invalid_value("BonusAmount", amount)
    if assignment.submitted_at is None:
        raise wrong_assignment_state("Submitted", "Approved", "Rejected")
    last = max(each.submitted_at for each in state.workers[worker_id].assignments if each.submitted_at)
    if state.now > last + IDLE_AFTER:
        raise invalid_parameter(f"Worker {worker_id} has not worked for you for six months, so a bonus cannot be paid.")


def _shown(bonus: Bonus) -> dict[str, Any]:
    return {
        "WorkerId": bonus.worker_id,
        "BonusAmount": f"{bonus.amount:.2f}",
        "AssignmentId": bonus.assignment_id,
        "Reason": bonus.reason,
        "GrantTime": bonus.granted_at,
    }
