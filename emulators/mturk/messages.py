"""What workers are written: by the requester, or by the marketplace on the requester's behalf."""

from typing import Any

from emulators.mturk.errors import TurkError
from emulators.mturk.limits import check_limits
from emulators.mturk.rows import Message
from emulators.mturk.state import State

MOST_WORKERS = 100


def notify_workers(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Write to workers whose work was reviewed; the others are named as failures of a call that succeeds."""
    check_limits(params)
    worker_ids = params["WorkerIds"]
    if not 1 <= len(worker_ids) <= MOST_WORKERS:
        raise TurkError(
            f"You can notify 1 to {MOST_WORKERS} Workers at a time; {len(worker_ids)} were given.",
            code="ParameterValidationError",
        )
    failures = []
    for worker_id in dict.fromkeys(worker_ids):
        if _was_reviewed(state, worker_id):
            tell_worker(state, worker_id, params["Subject"], params["MessageText"])
        else:
            failures.append(_failure(worker_id))
    return {"NotifyWorkersFailureStatuses": failures}


def tell_worker(state: State, worker_id: str, subject: str, text: str) -> None:
    """Leave a message for a worker."""
    state.messages.append(Message(worker_id, state.now, subject, text))


def _was_reviewed(state: State, worker_id: str) -> bool:
    worker = state.workers.get(worker_id)
    return worker is not None and any(each.approved_at or each.rejected_at for each in worker.assignments)


def _failure(worker_id: str) -> dict[str, str]:
    return {
        "NotifyWorkersFailureCode": "HardFailure",
        "NotifyWorkersFailureMessage": f"You have not approved or rejected any work of Worker {worker_id}.",
        "WorkerId": worker_id,
    }
