"""Pay bonuses, and list those that were paid."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from emulators.mturk.assignments import find_assignment
from emulators.mturk.errors import TurkError, already_processed, invalid_value, wrong_assignment_state
from emulators.mturk.hits import find_hit
from emulators.mturk.limits import check_limits
from emulators.mturk.listing import page
from emulators.mturk.messages import tell_worker
from emulators.mturk.money import dollars, pay_bonus
from emulators.mturk.rows import Assignment, Bonus
from emulators.mturk.state import State
from emulators.mturk.tokens import made_with, remember

IDLE_AFTER = timedelta(days=183)  # six months without submitting anything to this requester


def send_bonus(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Pay a worker more for work that they submitted."""
    check_limits(params)
    token, amount = params.get("UniqueRequestToken"), dollars(params["BonusAmount"])
    if token is not None and made_with(state, "bonus", token):
        raise already_processed(token)
    assignment = find_assignment(state, params["AssignmentId"])
    _check(state, assignment, params["WorkerId"], amount)
    pay_bonus(state, amount, assignment.id)
    _enter(state, assignment, amount, params["Reason"])
    remember(state, "bonus", token, assignment.id)
    return {}


def list_bonus_payments(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """List the bonuses paid for a HIT or for an assignment, oldest first."""
    hit_id, assignment_id = params.get("HITId"), params.get("AssignmentId")
    if (hit_id is None) == (assignment_id is None):
        raise TurkError("Specify either a HITId or an AssignmentId.", code="ParameterValidationError")
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
    if state.now > _last_submission(state, worker_id) + IDLE_AFTER:
        raise TurkError(
            f"Worker {worker_id} has not worked for you for six months, so a bonus cannot be paid.",
            code="ParameterValidationError",
        )


def _last_submission(state: State, worker_id: str) -> datetime:
    return max(each.submitted_at for each in state.workers[worker_id].assignments if each.submitted_at)


def _enter(state: State, assignment: Assignment, amount: Decimal, reason: str) -> None:
    bonus = Bonus(
        serial=state.count("bonus"),
        worker_id=assignment.worker_id,
        assignment_id=assignment.id,
        hit_id=assignment.hit.id,
        amount=amount,
        reason=reason,
        granted_at=state.now,
    )
    state.bonuses.append(bonus)
    tell_worker(state, bonus.worker_id, f"You received a bonus of ${amount:.2f}", reason)


def _shown(bonus: Bonus) -> dict[str, Any]:
    return {
        "WorkerId": bonus.worker_id,
        "BonusAmount": f"{bonus.amount:.2f}",
        "AssignmentId": bonus.assignment_id,
        "Reason": bonus.reason,
        "GrantTime": bonus.granted_at,
    }
