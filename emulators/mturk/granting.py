"""What the requester does about qualifications: answer requests, assign, revoke, and look up a score."""

from typing import Any

from emulators.mturk.errors import TurkError, does_not_exist, invalid_value
from emulators.mturk.limits import check_limits
from emulators.mturk.listing import page
from emulators.mturk.messages import tell_worker
from emulators.mturk.qualification_types import find_type
from emulators.mturk.qualifying import grant
from emulators.mturk.rows import Qualification, QualificationRequest
from emulators.mturk.state import State


def list_qualification_requests(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """List the requests that wait for an answer, oldest first."""
    type_id = params.get("QualificationTypeId")
    if type_id is not None:
        find_type(state, type_id)
    rows = [each for each in state.requests.values() if each.open and type_id in (None, each.type_id)]
    return page(state, params, name="QualificationRequests", rows=rows, serial=lambda each: each.serial, show=_shown)


def accept_qualification_request(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Grant what a worker asked for."""
    request = _open_request(state, params["QualificationRequestId"])
    request.open = False
    grant(state, request.type_id, request.worker_id, params.get("IntegerValue"))
    return {}


def reject_qualification_request(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Refuse what a worker asked for; they see the reason."""
    check_limits(params)
    request = _open_request(state, params["QualificationRequestId"])
    request.open = False
    name = state.qualification_types[request.type_id].name
    tell_worker(state, request.worker_id, f"Your request for {name} was rejected", params.get("Reason", ""))
    return {}


def associate_qualification(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Give a worker a qualification that they need not have asked for; they are told unless that is turned off."""
    type, worker_id = find_type(state, params["QualificationTypeId"]), _known_worker(state, params["WorkerId"])
    grant(state, type.id, worker_id, params.get("IntegerValue", 1))
    if params.get("SendNotification", True):
        tell_worker(state, worker_id, f"You were given the qualification {type.name}", type.description)
    return {}


def disassociate_qualification(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Take a qualification away; the worker sees the reason."""
    check_limits(params)
    held = _granted(state, params)
    held.revoked = True
    name = state.qualification_types[held.type_id].name
    tell_worker(state, held.worker_id, f"Your qualification {name} was revoked", params.get("Reason", ""))
    return {}


def get_qualification_score(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Show a qualification that a worker holds."""
    held = _granted(state, params)
    fields = {
        "QualificationTypeId": held.type_id,
        "WorkerId": held.worker_id,
        "GrantTime": held.granted_at,
        "IntegerValue": held.value,
        "Status": "Granted",
    }
    return {"Qualification": {name: value for name, value in fields.items() if value is not None}}


def _granted(state: State, params: dict[str, Any]) -> Qualification:
    """Return the qualification that a call names by type and worker. Raises TurkError where it is not granted."""
    type, worker_id = find_type(state, params["QualificationTypeId"]), _known_worker(state, params["WorkerId"])
    held = state.qualifications.get((type.id, worker_id))
    if held is None:
        raise does_not_exist("Qualification", f"{type.id} of worker {worker_id}")
    if held.revoked:
        raise TurkError("This operation can be called with a status of: Granted", turk_code="InvalidQualificationState")
    return held


def _known_worker(state: State, worker_id: str) -> str:
    if worker_id not in state.workers:
        raise invalid_value("WorkerId", worker_id)
    return worker_id


def _open_request(state: State, id: str) -> QualificationRequest:
    request = state.requests.get(id)
    if request is None or not request.open:
        raise does_not_exist("QualificationRequest", id)
    return request


def _shown(request: QualificationRequest) -> dict[str, Any]:
    fields = {
        "QualificationRequestId": request.id,
        "QualificationTypeId": request.type_id,
        "WorkerId": request.worker_id,
        "Test": request.test,
        "Answer": request.answer,
        "SubmitTime": request.submitted_at,
    }
    return {name: value for name, value in fields.items() if value is not None}
