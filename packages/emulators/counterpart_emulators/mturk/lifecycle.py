"""The life of HITs and assignments: what each change does to money and status, and what time does by itself."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Literal

from counterpart_emulators.mturk.balance import hold, release, spend
from counterpart_emulators.mturk.state import HIT, Assignment, HITStatus, State

KEPT_FOR = timedelta(days=120)


def status_of(hit: HIT, *, free: int, pending: int, expired: bool) -> HITStatus:
    """Return the status of a HIT with these numbers of free places and accepted assignments."""
    if hit.status == "Disposed":
        return "Disposed"
    if free and not expired:
        return "Assignable"
    if pending:
        return "Unassignable"
    return "Reviewing" if hit.reviewing else "Reviewable"


def refresh(state: State, hit: HIT) -> None:
    """Derive the status of a HIT again after a change."""
    pending = hit.count("Accepted")
    before = hit.status
    hit.status = status_of(hit, free=hit.free, pending=pending, expired=hit.expired)
    if hit.status == "Assignable":
        hit.reviewing = False
    if hit.status == "Reviewable" and before not in ("Reviewable", "Reviewing"):
        hit.reviewable_since = state.now
        state.schedule(state.now + KEPT_FOR, "dispose", hit.id)


def approve(state: State, assignment: Assignment, *, feedback: str | None = None) -> None:
    """Approve submitted work and pay for it from what is on hold."""
    spend(state, assignment.hit, assignment.id)
    assignment.status = "Approved"
    assignment.approved_at = state.now
    assignment.feedback = feedback if feedback is not None else assignment.feedback
    state.workers[assignment.worker_id].approved += 1


def give_up(state: State, assignment: Assignment, status: Literal["Returned", "Abandoned"]) -> None:
    """End accepted work that was not submitted: its place is free again, or refunded where the HIT has expired."""
    assignment.status = status
    assignment.ended_at = state.now
    if assignment.hit.expired:
        release(state, assignment.hit, 1)
    refresh(state, assignment.hit)


def expire(state: State, hit: HIT) -> None:
    """End the time in which a HIT can be accepted, and refund the free places."""
    hit.expired = True
    release(state, hit, hit.free)
    refresh(state, hit)


def reopen(state: State, hit: HIT, until: datetime) -> None:
    """Let a HIT be accepted until a later instant. Raises InsufficientFunds where its places were refunded."""
    if hit.expired:
        hold(state, hit, hit.free)
    hit.expired = False
    hit.expires_at = until
    state.schedule(until, "expire", hit.id)
    refresh(state, hit)


def _expire_if_due(state: State, hit_id: str) -> None:
    hit = state.hits[hit_id]
    if not hit.expired and hit.expires_at <= state.now:
        expire(state, hit)


def _abandon_if_due(state: State, assignment_id: str) -> None:
    assignment = state.assignments[assignment_id]
    if assignment.status == "Accepted" and assignment.deadline <= state.now:
        give_up(state, assignment, "Abandoned")


def _approve_if_due(state: State, assignment_id: str) -> None:
    assignment = state.assignments[assignment_id]
    if assignment.status == "Submitted" and assignment.auto_approval_at and assignment.auto_approval_at <= state.now:
        approve(state, assignment)


def _dispose_if_due(state: State, hit_id: str) -> None:
    hit = state.hits[hit_id]
    waited_from = hit.reviewable_since
    if hit.status in ("Reviewable", "Reviewing") and waited_from and waited_from + KEPT_FOR <= state.now:
        hit.status = "Disposed"


# A deadline may be moved after its move was scheduled: each move checks whether it is due.
MOVES: Mapping[str, Callable[[State, str], None]] = {
    "expire": _expire_if_due,
    "abandon": _abandon_if_due,
    "approve": _approve_if_due,
    "dispose": _dispose_if_due,
}
