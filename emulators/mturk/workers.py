"""Workers as the marketplace knows them: who they are, what they may see, and what became of their work."""

from decimal import Decimal
from typing import Any

from emulators.mturk.errors import Refusal
from emulators.mturk.questions import read_question
from emulators.mturk.requirements import in_words, may, meets
from emulators.mturk.rows import HIT, Assignment, HITType, Worker
from emulators.mturk.state import ALPHABET, State
from emulators.mturk.working import find_open, find_worker, has_done, why_not


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

    ``approved`` and ``approval_rate`` (whole per cent) are their record from before; ``locale`` is a country, with a
    subdivision after a hyphen where it matters: ``US-WA``. Raises Refusal for what cannot be.
    """
    id = worker_id or state.mint("worker", prefix="A", length=14)
    _check_profile(id, approved, approval_rate)
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


def open_groups(state: State, worker_id: str) -> list[dict[str, Any]]:
    """Return the groups of HITs that a worker may see and has not done, newest first."""
    worker, groups = find_worker(state, worker_id), dict[str, list[HIT]]()
    for hit in state.hits.values():
        if hit.status == "Assignable" and not has_done(hit, worker):
            groups.setdefault(hit.type.id, []).append(hit)
    seen = ((hits[0].type, hits) for hits in groups.values())
    return [
        _group(state, worker, type, hits)
        for type, hits in sorted(seen, key=lambda group: -group[1][-1].serial)
        if may(state, worker, type.requirements, "Discover")
    ]


def preview(state: State, hit_id: str, worker_id: str | None = None) -> dict[str, Any]:
    """Return a HIT as it is shown before it is accepted. Raises Refusal where even that is not allowed."""
    hit = find_open(state, hit_id)
    worker = find_worker(state, worker_id) if worker_id else None
    if worker and not may(state, worker, hit.type.requirements, "Preview"):
        raise Refusal("Your qualifications do not allow you to preview this HIT.")
    reason = why_not(state, hit, worker) if worker else "Sign in to accept this HIT."
    return _task(state, hit, worker) | {"can_accept": not reason, "why_not": reason}


def work(state: State, assignment_id: str, worker_id: str) -> dict[str, Any]:
    """Return an accepted HIT as its worker sees it, with the assignment. Raises Refusal where it is not theirs."""
    worker, assignment = find_worker(state, worker_id), state.assignments.get(assignment_id)
    if assignment is None or assignment.worker_id != worker_id:
        raise Refusal(f"You have no assignment {assignment_id}.")
    return _task(state, assignment.hit, worker) | _shown(assignment)


def dashboard(state: State, worker_id: str) -> dict[str, Any]:
    """Return all that a worker has done and was told, newest first, and what they earned (dollars)."""
    worker = find_worker(state, worker_id)
    bonuses = [bonus for bonus in state.bonuses if bonus.worker_id == worker_id]
    rewards = sum((a.hit.type.reward for a in worker.assignments if a.status == "Approved"), Decimal("0.00"))
    paid = sum((bonus.amount for bonus in bonuses), Decimal("0.00"))
    return {
        "worker": worker,
        "assignments": [_shown(assignment) for assignment in reversed(worker.assignments)],
        "bonuses": bonuses[::-1],
        "messages": [message for message in reversed(state.messages) if message.worker_id == worker_id],
        "qualifications": [q for q in state.qualifications.values() if q.worker_id == worker_id],
        "requests": [request for request in state.requests.values() if request.worker_id == worker_id],
        "rewards": rewards,
        "bonus_total": paid,
        "earned": rewards + paid,
    }


def _check_profile(id: str, approved: int, approval_rate: int) -> None:
    if not (id.startswith("A") and 2 <= len(id) <= 64 and set(id) <= set(ALPHABET)):
        raise Refusal(f"{id!r} is no worker id; it starts with A and holds 2 to 64 capital letters and digits.")
    if approved < 0 or not 1 <= approval_rate <= 100:
        raise Refusal("A worker has 0 or more approved assignments and an approval rate of 1 to 100 per cent.")


def _group(state: State, worker: Worker, type: HITType, hits: list[HIT]) -> dict[str, Any]:
    return _described(state, type, worker) | {
        "group_id": type.group_id,
        "hit_type_id": type.id,
        "hit_id": next((hit.id for hit in hits if not why_not(state, hit, worker)), hits[0].id),
        "available": len(hits),
        "expires_at": max(hit.expires_at for hit in hits),
        "can_preview": may(state, worker, type.requirements, "Preview"),
        "can_accept": any(not why_not(state, hit, worker) for hit in hits),
    }


def _task(state: State, hit: HIT, worker: Worker | None) -> dict[str, Any]:
    question = {"question": read_question(hit.question), "document": hit.question}
    return _described(state, hit.type, worker) | {"hit_id": hit.id, "group_id": hit.type.group_id} | question


def _described(state: State, type: HITType, worker: Worker | None) -> dict[str, Any]:
    """What is said of a HIT type; ``met`` is None for somebody who is not signed in."""
    return {
        "title": type.title,
        "description": type.description,
        "keywords": type.keywords,
        "reward": type.reward,
        "duration": type.duration,
        "requirements": [
            {"text": in_words(state, each), "type_id": each["QualificationTypeId"]}
            | {"met": meets(state, worker, each) if worker else None}
            for each in type.requirements
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
