"""The faults between a requester's call and its answer: refusals, delays, a busy crowd, and readings that lag."""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from werkzeug import Response

from counterpart_emulators import call_faults
from counterpart_emulators.marketplace import Refusal
from counterpart_emulators.mturk.errors import TurkError, does_not_exist, wrong_assignment_state
from counterpart_emulators.mturk.hits import shown_hit
from counterpart_emulators.mturk.lifecycle import status_of
from counterpart_emulators.mturk.state import HIT, State
from counterpart_emulators.mturk.world import World
from counterpart_emulators.server import Drop

Fields = dict[str, Any]
Instead = Response | Drop | TurkError


class CallFaults(call_faults.CallFaults[World]):
    """Makes the faults happen to calls; the API asks it before and after every call, outside the lock."""

    def busy(self) -> TurkError:
        return TurkError("Rate exceeded", code="ThrottlingException")

    def failed(self, status: int, body: str) -> TurkError:
        return TurkError("Service is unavailable; try again.", code="ServiceFault", status=status)

    def before_call(self, operation: str, params: Fields) -> Instead | None:
        """Change the world, wait, and return the answer of a fault that replaces the call; None to make the call."""
        for fault in self._plan.happening(operation, "crowd"):
            with suppress(Refusal, TurkError):  # a HIT that is full or closed admits no worker
                _act_on(self._world, params.get("HITId"), fault.settings["act"])
        instead: Instead | None = self.before_all(operation)
        if instead is not None:
            return instead
        for fault in self._plan.happening(operation, "page"):
            params["MaxResults"] = min(fault.settings["size"], params.get("MaxResults", fault.settings["size"]))
        return self._refused_as_unknown(operation, params)

    def before_response(self, operation: str, params: Fields, result: Fields) -> Instead | Fields | None:
        """Return the answer of a fault that replaces the result of a call; None to return its result."""
        if (dropped := self.after_all(operation)) is not None:
            return dropped
        for fault in self._plan.happening(operation, "lag"):
            then = self._world.clock.now() - timedelta(seconds=fault.settings["seconds"])
            try:
                with self._world.looking() as state:
                    result = _as_of(state, operation, result, then)
            except TurkError as error:
                return error
        if self._plan.happening(operation, "flicker"):
            hits = result["HITs"] if "HITs" in result else [result["HIT"]]
            for hit in hits:
                if hit["HITStatus"] == "Reviewable":
                    hit["HITStatus"] = "Assignable"
        return result

    def _refused_as_unknown(self, operation: str, params: Fields) -> TurkError | None:
        """Return the refusal of a call for an assignment that is too young to be known."""
        for fault in self._plan.happening(operation, "blind"):
            with self._world.looking() as state:
                assignment = state.assignments.get(params["AssignmentId"])
                since = state.now - timedelta(seconds=fault.settings["seconds"])
                if assignment and assignment.submitted_at is not None and assignment.submitted_at > since:
                    first = "Reviewable" if operation == "GetAssignment" else "Submitted"
                    return wrong_assignment_state(first, "Approved", "Rejected")
        return None


def _act_on(world: World, hit_id: str | None, act: str) -> None:
    """Change a HIT, or the latest one, while a requester reads it. Raises Refusal or TurkError where impossible."""
    with world.looking() as state:
        hit = state.hits.get(hit_id or next(reversed(state.hits), ""))
    if hit is None:
        return
    if act in ("accept", "submit"):
        worker_id = world.register_worker(approved=10_000, masters=True, adult=True)
        assignment_id = world.accept(hit.id, worker_id)["AssignmentId"]
        if act == "submit":
            world.submit(assignment_id, worker_id, {"crowd": "an answer of the crowd"})
    elif act == "approve":
        for first in [each.id for each in hit.assignments if each.status == "Submitted"][:1]:
            world.call("ApproveAssignment", {"AssignmentId": first})
    else:
        world.call("UpdateExpirationForHIT", {"HITId": hit.id, "ExpireAt": world.clock.now() - timedelta(days=1)})


def _hit_as_of(hit: HIT, then: datetime) -> Fields:
    """Return a HIT as the API showed it at ``then``, derived from when its assignments changed."""
    taken = sum(each.accepted_at <= then and not _by(each.ended_at, then) for each in hit.assignments)
    submitted = sum(_by(each.submitted_at, then) for each in hit.assignments)
    decided = sum(_by(each.approved_at, then) or _by(each.rejected_at, then) for each in hit.assignments)
    free = hit.max_assignments - taken
    pending = taken - submitted
    counters = {
        "NumberOfAssignmentsPending": pending,
        "NumberOfAssignmentsAvailable": free,
        "NumberOfAssignmentsCompleted": decided,
    }
    expired = hit.expired and hit.expires_at <= then
    status = status_of(hit, free=free, pending=pending, expired=expired)
    return shown_hit(hit) | counters | {"HITStatus": status}


def _assignment_as_of(assignment: Fields, then: datetime) -> Fields | None:
    """Return a shown assignment as it was at ``then``: undecided before its decision, None before its submission."""
    if assignment["SubmitTime"] > then:
        return None
    later = [name for name in ("ApprovalTime", "RejectionTime") if assignment[name] and assignment[name] > then]
    if not later:
        return assignment
    late = assignment | dict.fromkeys((*later, "RequesterFeedback"))
    return late | {"AssignmentStatus": "Rejected" if late["RejectionTime"] else "Submitted"}


def _by(instant: datetime | None, then: datetime) -> bool:
    return instant is not None and instant <= then


def _as_of(state: State, operation: str, result: Fields, then: datetime) -> Fields:
    """Return a reading's result as it was at ``then``. Raises TurkError for what did not exist yet."""
    late = _lists_as_of(state, result, then)
    if operation == "ListReviewableHITs":
        late["HITs"] = [hit for hit in late["HITs"] if hit["HITStatus"] in ("Reviewable", "Reviewing")]
    for name in ("HITs", "Assignments"):
        if name in late:
            late["NumResults"] = len(late[name])
    if "Assignment" in result:
        late["Assignment"] = _assignment_as_of(result["Assignment"], then)
        if late["Assignment"] is None:
            raise wrong_assignment_state("Reviewable", "Approved", "Rejected")
    if "HIT" in result:
        hit = state.hits[result["HIT"]["HITId"]]
        if hit.created_at > then:
            raise does_not_exist("Hit", hit.id)
        late["HIT"] = _hit_as_of(hit, then)
    return late


def _lists_as_of(state: State, result: Fields, then: datetime) -> Fields:
    late = dict(result)
    if "HITs" in result:
        hits = [state.hits[each["HITId"]] for each in result["HITs"]]
        late["HITs"] = [_hit_as_of(hit, then) for hit in hits if hit.created_at <= then]
    if "Assignments" in result:
        rows = [_assignment_as_of(each, then) for each in result["Assignments"]]
        late["Assignments"] = [row for row in rows if row is not None]
    return late
