"""What workers do with HITs: accept, submit and return them."""

from typing import Any

from emulators.mturk.answers import answers_document
from emulators.mturk.errors import Refusal
from emulators.mturk.requirements import in_words, may, meets
from emulators.mturk.rows import HIT, Assignment, Worker
from emulators.mturk.settling import give_up, refresh
from emulators.mturk.state import State

MOST_AT_ONCE = 25  # accepted and not yet submitted, for one worker


def accept(state: State, *, hit_id: str, worker_id: str) -> dict[str, Any]:
    """Take a place of a HIT. Returns AssignmentId, HITId and Deadline; raises Refusal."""
    worker, hit = find_worker(state, worker_id), find_open(state, hit_id)
    if reason := why_not(state, hit, worker):
        raise Refusal(reason)
    assignment = Assignment(
        id=_assignment_id(state, hit, worker),
        serial=state.count("assignment serial"),
        hit=hit,
        worker_id=worker.id,
        accepted_at=state.now,
        deadline=state.now + hit.type.duration,
    )
    state.assignments[assignment.id] = assignment
    hit.assignments.append(assignment)
    worker.assignments.append(assignment)
    state.schedule(assignment.deadline, "abandon", assignment.id)
    state.tell("AssignmentAccepted", hit, assignment)
    refresh(state, hit)
    return {"AssignmentId": assignment.id, "HITId": hit.id, "Deadline": assignment.deadline}


def submit(
    state: State, *, assignment_id: str, worker_id: str, fields: dict[str, str], answer: str | None = None
) -> dict[str, Any]:
    """Hand in accepted work: the form's ``fields``, or ``answer``, a document that stands in for them.

    Raises Refusal for work that is not this worker's, was submitted, was returned or is past its deadline, and
    for a form without a field of its own.
    """
    assignment = _accepted(state, assignment_id, worker_id)
    own = {name: value for name, value in fields.items() if name != "assignmentId"}
    if not own and answer is None:
        raise Refusal("The form held nothing but its assignmentId; a task has to send at least one field of its own.")
    assignment.status, assignment.submitted_at = "Submitted", state.now
    assignment.auto_approval_at = state.now + assignment.hit.type.auto_approval_delay
    assignment.answer = answers_document(own) if answer is None else answer
    state.schedule(assignment.auto_approval_at, "approve", assignment.id)
    state.tell("AssignmentSubmitted", assignment.hit, assignment)
    refresh(state, assignment.hit)
    return {"AssignmentId": assignment.id, "HITId": assignment.hit.id, "SubmitTime": state.now}


def return_assignment(state: State, *, assignment_id: str, worker_id: str) -> dict[str, Any]:
    """Give accepted work back. Raises Refusal for work that is not this worker's or not in their hands."""
    assignment = _accepted(state, assignment_id, worker_id)
    give_up(state, assignment, "Returned")
    return {"AssignmentId": assignment.id, "HITId": assignment.hit.id}


def find_worker(state: State, worker_id: str) -> Worker:
    """Return a registered worker. Raises Refusal."""
    if worker_id not in state.workers:
        raise Refusal(f"No worker {worker_id} is registered here; sign in as a new worker first.")
    return state.workers[worker_id]


def find_open(state: State, hit_id: str) -> HIT:
    """Return a HIT that was not disposed of. Raises Refusal."""
    hit = state.hits.get(hit_id)
    if hit is None or hit.status == "Disposed":
        raise Refusal(f"There is no HIT {hit_id} (any more).")
    return hit


def why_not(state: State, hit: HIT, worker: Worker) -> str:
    """Say why a worker may not accept a HIT; "" if they may."""
    held = [assignment for assignment in worker.assignments if assignment.status == "Accepted"]
    if any(assignment.hit is hit for assignment in held):
        return "You have accepted this HIT already; go on with it from your dashboard."
    if has_done(hit, worker):
        return "You have submitted this HIT already; a HIT can be done once."
    if worker.id in state.blocks:
        return "This requester does not accept work from you."
    if hit.status != "Assignable":
        return "There is no more work in this HIT: every place is taken, or its time is over."
    if not may(state, worker, hit.type.requirements, "Accept"):
        unmet = [in_words(state, each) for each in hit.type.requirements if not meets(state, worker, each)]
        return f"You do not meet the requirements of this HIT: {'; '.join(unmet)}."
    if len(held) >= MOST_AT_ONCE:
        return f"You hold {len(held)} HITs, which is the most; submit or return one first."
    return ""


def has_done(hit: HIT, worker: Worker) -> bool:
    """Say whether a worker submitted this HIT, whatever became of it."""
    return any(each.hit is hit and each.submitted_at is not None for each in worker.assignments)


def _accepted(state: State, assignment_id: str, worker_id: str) -> Assignment:
    """Return a worker's assignment that is in their hands. Raises Refusal that says what became of it."""
    find_worker(state, worker_id)
    assignment = state.assignments.get(assignment_id)
    if assignment is None or assignment.worker_id != worker_id:
        raise Refusal(f"You have no assignment {assignment_id}; it may have gone to somebody else after a return.")
    reasons = {
        "Returned": "You returned this assignment, so it cannot be submitted any more.",
        "Abandoned": f"The time for this assignment ran out at {assignment.deadline:%Y-%m-%d %H:%M:%S} UTC.",
    }
    if assignment.status != "Accepted":
        raise Refusal(reasons.get(assignment.status, "You have submitted this assignment already; it is stored once."))
    return assignment


def _assignment_id(state: State, hit: HIT, worker: Worker) -> str:
    """Return an id for a new acceptance: that of a returned one, where the world's habit is to give it out again."""
    for former in reversed(hit.assignments):
        is_free = former.status in ("Returned", "Abandoned") and state.assignments[former.id] is former
        if is_free and _is_reissued(state, same_worker=former.worker_id == worker.id):
            return former.id
    return state.mint("assignment")


def _is_reissued(state: State, *, same_worker: bool) -> bool:
    if state.reissue == "seeded":
        return state.draw("reissue") % 2 == 0
    return state.reissue == ("same" if same_worker else "another")
