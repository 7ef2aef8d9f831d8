"""What becomes of the marketplace as time passes, and the one place where a HIT's status is worked out."""

import heapq
from datetime import datetime, timedelta
from typing import Literal

from emulators.mturk.money import hold, release, spend
from emulators.mturk.rows import HIT, Assignment, HITStatus
from emulators.mturk.state import State

KEPT_FOR = timedelta(days=120)


def settle(state: State, now: datetime) -> None:
    """Make every move that is due until ``now``, each at its own instant and in their order."""
    while state.due and state.due[0][0] <= now:
        state.now, _, kind, id = heapq.heappop(state.due)
        MOVES[kind](state, id)
    state.now = now


def refresh(state: State, hit: HIT) -> None:
    """Work out the status of a HIT again after something about it has changed."""
    before, hit.status = hit.status, _status(hit)
    if hit.status == "Assignable":
        hit.reviewing = False
    if hit.status == "Reviewable" and before not in ("Reviewable", "Reviewing"):
        hit.reviewable_since = state.now
        state.schedule(state.now + KEPT_FOR, "dispose", hit.id)
        state.tell("HITReviewable", hit)


def approve(state: State, assignment: Assignment, *, feedback: str | None = None) -> None:
    """Approve submitted work and pay for it out of what is on hold."""
    spend(state, assignment.hit, assignment.id)
    assignment.status, assignment.approved_at = "Approved", state.now
    assignment.feedback = feedback if feedback is not None else assignment.feedback
    state.workers[assignment.worker_id].approved += 1
    state.tell("AssignmentApproved", assignment.hit, assignment)


def give_up(state: State, assignment: Assignment, status: Literal["Returned", "Abandoned"]) -> None:
    """End accepted work that was not submitted: its place is free again, or paid back where the HIT has expired."""
    assignment.status, assignment.ended_at = status, state.now
    state.tell("AssignmentReturned" if status == "Returned" else "AssignmentAbandoned", assignment.hit, assignment)
    if assignment.hit.expired:
        release(state, assignment.hit, 1)
    refresh(state, assignment.hit)


def expire(state: State, hit: HIT) -> None:
    """End the time in which a HIT can be accepted; what was held for places nobody took is paid back."""
    hit.expired = True
    release(state, hit, hit.free)
    state.tell("HITExpired", hit)
    refresh(state, hit)


def reopen(state: State, hit: HIT, until: datetime) -> None:
    """Let a HIT be accepted until a later instant. Raises InsufficientFunds where the money was paid back."""
    if hit.expired:
        hold(state, hit, hit.free)
    hit.expired, hit.expires_at = False, until
    state.schedule(until, "expire", hit.id)
    state.tell("HITExtended", hit)
    refresh(state, hit)


def dispose(state: State, hit: HIT) -> None:
    """Take a HIT out of every list, for good."""
    hit.status = "Disposed"
    state.tell("HITDisposed", hit)


def _status(hit: HIT) -> HITStatus:
    if hit.status == "Disposed":
        return "Disposed"
    if hit.free and not hit.expired:
        return "Assignable"
    if hit.count("Accepted"):
        return "Unassignable"
    return "Reviewing" if hit.reviewing else "Reviewable"


def _expire_if_due(state: State, id: str) -> None:
    hit = state.hits[id]
    if not hit.expired and hit.expires_at <= state.now:
        expire(state, hit)


def _abandon_if_due(state: State, id: str) -> None:
    assignment = state.assignments[id]
    if assignment.status == "Accepted" and assignment.deadline <= state.now:
        give_up(state, assignment, "Abandoned")


def _approve_if_due(state: State, id: str) -> None:
    assignment = state.assignments[id]
    if assignment.status == "Submitted" and assignment.auto_approval_at and assignment.auto_approval_at <= state.now:
        approve(state, assignment)


def _dispose_if_due(state: State, id: str) -> None:
    hit = state.hits[id]
    waited_from = hit.reviewable_since
    if hit.status in ("Reviewable", "Reviewing") and waited_from and waited_from + KEPT_FOR <= state.now:
        dispose(state, hit)


MOVES = {
    "expire": _expire_if_due,
    "abandon": _abandon_if_due,
    "approve": _approve_if_due,
    "dispose": _dispose_if_due,
}
