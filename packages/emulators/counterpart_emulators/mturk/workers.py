"""Workers: their record, the HITs they see, and what they do with them; and the requester's messages to them."""

from decimal import Decimal
from typing import Any

from counterpart_emulators.marketplace import Refusal
from counterpart_emulators.mturk.errors import invalid_parameter
from counterpart_emulators.mturk.lifecycle import give_up, refresh
from counterpart_emulators.mturk.requirements import in_words, may, meets
from counterpart_emulators.mturk.state import ALPHABET, HIT, Assignment, HITType, Reissue, State, Worker
from counterpart_emulators.mturk.validation import check_limits
from counterpart_emulators.mturk.xml_documents import answers_document, read_question

MOST_AT_ONCE = 25  # accepted and not yet submitted, for one worker
MOST_WORKERS = 100


def register_worker(
    state: State,
    *,
    worker_id: str | None = None,
    approved: int = 0,
    approval_rate: int = 100,
    locale: str = "US",
    masters: bool = False,
    adult: bool = False,
) -> dict[str, Any]:
    """Register a worker, or change one, and return their WorkerId.

    ``approved`` and ``approval_rate`` (whole per cent) are their earlier record; ``locale`` is a country, optionally
    with a subdivision: ``US-WA``. Raises Refusal for invalid values.
    """
    id = worker_id or state.mint("worker", prefix="A", length=14)
    if not (id.startswith("A") and 8 <= len(id) <= 64 and set(id) <= set(ALPHABET)):
        raise Refusal(f"{id!r} is not a worker id: use A, followed by capital letters and digits, 8 to 64 in all.")
    if approved < 0 or not 1 <= approval_rate <= 100:
        raise Refusal("A worker has 0 or more approved assignments and an approval rate of 1 to 100 per cent.")
    country, _, subdivision = locale.partition("-")
    known = state.workers.get(id)
    state.workers[id] = Worker(
        id=id,
        registered_at=known.registered_at if known else state.now,
        approved=approved,
        rejected=round(approved * (100 - approval_rate) / approval_rate),
        country=country,
        subdivision=subdivision or None,
        masters=masters,
        adult=adult,
        assignments=known.assignments if known else [],
    )
    return {"WorkerId": id}


def accept(state: State, *, hit_id: str, worker_id: str) -> dict[str, Any]:
    """Take a place of a HIT. Returns AssignmentId, HITId and Deadline; raises Refusal."""
    worker = find_worker(state, worker_id)
    hit = _open_hit(state, hit_id)
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
    refresh(state, hit)
    return {"AssignmentId": assignment.id, "HITId": hit.id, "Deadline": assignment.deadline}


def submit(
    state: State, *, assignment_id: str, worker_id: str, fields: dict[str, str], answer: str | None = None
) -> dict[str, Any]:
    """Submit accepted work: the form's ``fields``, or a document ``answer`` in their place.

    Raises Refusal for work that is not this worker's, was submitted, was returned or is past its deadline, and
    for a form with no field but its assignmentId.
    """
    assignment = _accepted(state, assignment_id, worker_id)
    own = {name: value for name, value in fields.items() if name != "assignmentId"}
    if not own and answer is None:
        raise Refusal("The form has no field but assignmentId; a task must send at least one field of its own.")
    assignment.status = "Submitted"
    assignment.submitted_at = state.now
    assignment.auto_approval_at = state.now + assignment.hit.type.auto_approval_delay
    assignment.answer = answers_document(own) if answer is None else answer
    state.schedule(assignment.auto_approval_at, "approve", assignment.id)
    refresh(state, assignment.hit)
    return {"AssignmentId": assignment.id, "HITId": assignment.hit.id, "SubmitTime": state.now}


def return_assignment(state: State, *, assignment_id: str, worker_id: str) -> dict[str, Any]:
    """Return accepted work. Raises Refusal for work that this worker does not hold."""
    assignment = _accepted(state, assignment_id, worker_id)
    give_up(state, assignment, "Returned")
    return {"AssignmentId": assignment.id, "HITId": assignment.hit.id}


def set_reissue(state: State, *, policy: Reissue) -> dict[str, Any]:
    """Set who may get the id of a returned assignment."""
    state.reissue = policy
    return {}


def open_groups(state: State, worker_id: str) -> list[dict[str, Any]]:
    """Return the groups of HITs that a worker may see and has not done, newest first."""
    worker = find_worker(state, worker_id)
    groups = dict[str, list[HIT]]()
    for hit in state.hits.values():
        if hit.status == "Assignable" and not _has_done(hit, worker):
            groups.setdefault(hit.type.id, []).append(hit)
    seen = ((hits[0].type, hits) for hits in groups.values())
    return [
        _group(state, worker, hit_type, hits)
        for hit_type, hits in sorted(seen, key=lambda group: -group[1][-1].serial)
        if may(state, worker, hit_type.requirements, "Discover")
    ]


def preview(state: State, hit_id: str, worker_id: str) -> dict[str, Any]:
    """Return a HIT as it is shown before it is accepted. Raises Refusal where that is not allowed."""
    hit = _open_hit(state, hit_id)
    worker = find_worker(state, worker_id)
    if not may(state, worker, hit.type.requirements, "Preview"):
        raise Refusal("Your qualifications do not allow you to preview this HIT.")
    reason = why_not(state, hit, worker)
    return _task(state, hit, worker) | {"can_accept": not reason, "why_not": reason}


def work(state: State, assignment_id: str, worker_id: str) -> dict[str, Any]:
    """Return an accepted HIT with its assignment, as its worker sees it. Raises Refusal where it is not theirs."""
    worker = find_worker(state, worker_id)
    assignment = state.assignments.get(assignment_id)
    if assignment is None or assignment.worker_id != worker_id:
        raise Refusal(f"You have no assignment {assignment_id}.")
    return _task(state, assignment.hit, worker) | _shown(assignment)


def dashboard(state: State, worker_id: str) -> dict[str, Any]:
    """Return a worker's assignments, bonuses and messages, newest first, and what they earned (dollars)."""
    worker = find_worker(state, worker_id)
    bonuses = [bonus for bonus in state.bonuses if bonus.worker_id == worker_id]
    rewards = sum((a.hit.type.reward for a in worker.assignments if a.status == "Approved"), Decimal("0.00"))
    paid = sum((bonus.amount for bonus in bonuses), Decimal("0.00"))
    return {
        "assignments": [_shown(assignment) for assignment in reversed(worker.assignments)],
        "bonuses": bonuses[::-1],
        "messages": [message for message in reversed(state.messages) if message.worker_id == worker_id],
        "bonus_total": paid,
        "earned": rewards + paid,
    }


def notify_workers(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Write to workers whose work was reviewed; the others are reported as failures in a successful call."""
    check_limits(params)
    worker_ids = params["WorkerIds"]
    if not 1 <= len(worker_ids) <= MOST_WORKERS:
        raise invalid_parameter(f"You can notify 1 to {MOST_WORKERS} Workers at a time; {len(worker_ids)} were given.")
    failures = []
    for worker_id in dict.fromkeys(worker_ids):
        worker = state.workers.get(worker_id)
        if worker and any(each.approved_at or each.rejected_at for each in worker.assignments):
            state.write_to(worker_id, params["Subject"], params["MessageText"])
        else:
            failures.append(
                {
                    "NotifyWorkersFailureCode": "HardFailure",
                    "NotifyWorkersFailureMessage": f"You have not approved or rejected any work of Worker {worker_id}.",
                    "WorkerId": worker_id,
                }
            )
    return {"NotifyWorkersFailureStatuses": failures}


def find_worker(state: State, worker_id: str) -> Worker:
    """Return a registered worker. Raises Refusal."""
    if worker_id not in state.workers:
        raise Refusal(f"No worker {worker_id} is registered; sign in as a new worker first.")
    return state.workers[worker_id]


def why_not(state: State, hit: HIT, worker: Worker) -> str:
    """Return why a worker may not accept a HIT; "" if they may."""
    held = [assignment for assignment in worker.assignments if assignment.status == "Accepted"]
    if any(assignment.hit is hit for assignment in held):
        return "You have already accepted this HIT; continue from your dashboard."
    if _has_done(hit, worker):
        return "You have already submitted this HIT; a HIT can be done only once."
    if hit.status != "Assignable":
        return "This HIT has no work left: all places are taken, or it has expired."
    if not may(state, worker, hit.type.requirements, "Accept"):
        unmet = [in_words(state, each) for each in hit.type.requirements if not meets(state, worker, each)]
        return f"You do not meet the requirements of this HIT: {'; '.join(unmet)}."
    if len(held) >= MOST_AT_ONCE:
        return f"You hold {len(held)} HITs, which is the maximum; submit or return one first."
    return ""


def _open_hit(state: State, hit_id: str) -> HIT:
    hit = state.hits.get(hit_id)
    if hit is None or hit.status == "Disposed":
        raise Refusal(f"Unknown HIT {hit_id}; it may have been deleted.")
    return hit


def _has_done(hit: HIT, worker: Worker) -> bool:
    """Whether a worker submitted this HIT, whatever the decision."""
    return any(each.hit is hit and each.submitted_at is not None for each in worker.assignments)


def _accepted(state: State, assignment_id: str, worker_id: str) -> Assignment:
    """Return an assignment that a worker holds. Raises Refusal with what happened to it."""
    find_worker(state, worker_id)
    assignment = state.assignments.get(assignment_id)
    if assignment is None or assignment.worker_id != worker_id:
        raise Refusal(f"You have no assignment {assignment_id}; after a return another worker may have got it.")
    reasons = {
        "Returned": "You returned this assignment, so it cannot be submitted any more.",
        "Abandoned": f"The time for this assignment ran out at {assignment.deadline:%Y-%m-%d %H:%M:%S} UTC.",
    }
    if assignment.status != "Accepted":
        raise Refusal(reasons.get(assignment.status, "You have already submitted this assignment; it is stored once."))
    return assignment


def _assignment_id(state: State, hit: HIT, worker: Worker) -> str:
    """Return the id of a new acceptance: that of a returned one, where the policy says so."""
    for former in reversed(hit.assignments):
        is_free = former.status in ("Returned", "Abandoned") and state.assignments[former.id] is former
        if is_free and _is_reissued(state, same_worker=former.worker_id == worker.id):
            return former.id
    return state.mint("assignment")


def _is_reissued(state: State, *, same_worker: bool) -> bool:
    if state.reissue == "seeded":
        return state.draw("reissue") % 2 == 0
    return state.reissue == ("same" if same_worker else "another")


def _group(state: State, worker: Worker, hit_type: HITType, hits: list[HIT]) -> dict[str, Any]:
    acceptable = [hit.id for hit in hits if not why_not(state, hit, worker)]
    return _described(state, hit_type, worker) | {
        "hit_id": next(iter(acceptable), hits[0].id),
        "available": len(hits),
        "expires_at": max(hit.expires_at for hit in hits),
        "can_preview": may(state, worker, hit_type.requirements, "Preview"),
        "can_accept": bool(acceptable),
    }


def _task(state: State, hit: HIT, worker: Worker) -> dict[str, Any]:
    return _described(state, hit.type, worker) | {"hit_id": hit.id, "question": read_question(hit.question)}


def _described(state: State, hit_type: HITType, worker: Worker) -> dict[str, Any]:
    return {
        "title": hit_type.title,
        "description": hit_type.description,
        "keywords": hit_type.keywords,
        "reward": hit_type.reward,
        "duration": hit_type.duration,
        "requirements": [
            {
                "text": in_words(state, each),
                "type_id": each["QualificationTypeId"],
                "met": meets(state, worker, each),
            }
            for each in hit_type.requirements
        ],
    }


def _shown(assignment: Assignment) -> dict[str, Any]:
    return {
        "assignment_id": assignment.id,
        "hit_id": assignment.hit.id,
        "title": assignment.hit.type.title,
        "reward": assignment.hit.type.reward,
        "status": assignment.status,
        "accepted_at": assignment.accepted_at,
        "deadline": assignment.deadline,
        "submitted_at": assignment.submitted_at,
        "feedback": assignment.feedback,
    }
