"""How workers come by qualifications: they ask, and perhaps take a test."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from emulators.mturk.answer_keys import score
from emulators.mturk.answers import answers_document
from emulators.mturk.errors import Refusal
from emulators.mturk.rows import Qualification, QualificationRequest, QualificationType, Worker
from emulators.mturk.state import State
from emulators.mturk.working import find_worker


def begin_test(state: State, *, type_id: str, worker_id: str) -> dict[str, Any]:
    """Start the time of a test, or find it running. Returns Test, a QuestionForm, and Deadline; raises Refusal."""
    worker, type = find_worker(state, worker_id), _active_type(state, type_id)
    if type.test is None or type.test_duration is None:
        raise Refusal(f"{type.name} has no test; ask for it without one.")
    _check_may_request(state, type, worker)
    begun = state.tests_begun.setdefault((type.id, worker.id), state.now)
    return {"Test": type.test, "Deadline": begun + type.test_duration}


def request_qualification(
    state: State, *, type_id: str, worker_id: str, answers: Mapping[str, str | Sequence[str]] | None = None
) -> dict[str, Any]:
    """Ask for a qualification, with the answers of its test if it has one: question → text or selections.

    It is granted at once where it grants itself or the test has an AnswerKey, and waits for the requester otherwise.
    Returns Status, Granted or Pending, and IntegerValue where granted. Raises Refusal.
    """
    worker, type = find_worker(state, worker_id), _active_type(state, type_id)
    _check_may_request(state, type, worker)
    if type.test is not None and answers is None:
        raise Refusal(f"{type.name} has a test; its answers are missing.")
    given = {name: [value] if isinstance(value, str) else list(value) for name, value in (answers or {}).items()}
    state.tests_begun.pop((type.id, worker.id), None)
    request = _entered(state, type, worker, given if type.test else None)
    if (value := _value_at_once(type, given)) is None:
        return {"Status": "Pending"}
    request.open = False
    grant(state, type.id, worker.id, value)
    return {"Status": "Granted", "IntegerValue": value}


def requestable(state: State, worker_id: str) -> list[dict[str, Any]]:
    """Return every qualification type a worker could ask for; ``why_not`` is "" where they may ask now."""
    worker = find_worker(state, worker_id)
    return [
        {
            "type_id": type.id,
            "name": type.name,
            "description": type.description,
            "has_test": type.test is not None,
            "test_duration": type.test_duration,
            "value": held.value if (held := _held(state, type, worker)) else None,
            "is_granted": held is not None,
            "why_not": _why_not(state, type, worker),
        }
        for type in state.qualification_types.values()
        if type.active
    ]


def grant(state: State, type_id: str, worker_id: str, value: int | None) -> None:
    """Give a worker a qualification, or change its value."""
    state.qualifications[type_id, worker_id] = Qualification(type_id, worker_id, state.now, value)


def _active_type(state: State, type_id: str) -> QualificationType:
    type = state.qualification_types.get(type_id)
    if type is None or not type.active:
        raise Refusal(f"There is no qualification {type_id} that could be asked for.")
    return type


def _check_may_request(state: State, type: QualificationType, worker: Worker) -> None:
    if reason := _why_not(state, type, worker):
        raise Refusal(reason)


def _why_not(state: State, type: QualificationType, worker: Worker) -> str:
    """Say why a worker may not ask now: they wait for an answer, or one attempt was all, or the next is later."""
    asked = [each for each in state.requests.values() if (each.type_id, each.worker_id) == (type.id, worker.id)]
    if any(request.open for request in asked):
        return f"You have asked for {type.name}; the requester has not answered yet."
    attempts = [request.submitted_at for request in asked]
    if (ran_out := _ran_out(state, type, worker)) is not None:
        attempts.append(ran_out)
    if attempts and type.retry_delay is None:
        return f"{type.name} can be asked for once, and you have."
    if attempts and type.retry_delay is not None and (again := max(attempts) + type.retry_delay) > state.now:
        return f"You may ask for {type.name} again from {again:%Y-%m-%d %H:%M:%S} UTC on."
    return ""


def _ran_out(state: State, type: QualificationType, worker: Worker) -> datetime | None:
    """Return when a test was begun whose time ran out: that was an attempt too."""
    begun = state.tests_begun.get((type.id, worker.id))
    is_over = begun and type.test_duration and begun + type.test_duration < state.now
    return begun if is_over else None


def _held(state: State, type: QualificationType, worker: Worker) -> Qualification | None:
    held = state.qualifications.get((type.id, worker.id))
    return held if held and not held.revoked else None


def _entered(
    state: State, type: QualificationType, worker: Worker, answers: dict[str, list[str]] | None
) -> QualificationRequest:
    request = QualificationRequest(
        id=state.mint("qualification request"),
        serial=state.count("qualification request serial"),
        type_id=type.id,
        worker_id=worker.id,
        submitted_at=state.now,
        test=type.test,
        answer=None if answers is None else answers_document(answers, test=type.test),
    )
    state.requests[request.id] = request
    return request


def _value_at_once(type: QualificationType, answers: Mapping[str, Sequence[str]]) -> int | None:
    if type.auto_granted:
        return type.auto_granted_value
    return score(type.answer_key, answers) if type.answer_key else None
