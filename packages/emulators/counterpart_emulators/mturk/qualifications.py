"""Qualifications: their types, who has them, and workers' requests. Types with a test are not emulated."""

from datetime import timedelta
from typing import Any

from counterpart_emulators.marketplace import Refusal
from counterpart_emulators.mturk.errors import TurkError, does_not_exist, invalid_parameter, invalid_value, not_emulated
from counterpart_emulators.mturk.listing import page
from counterpart_emulators.mturk.state import Qualification, QualificationRequest, QualificationType, State, Worker
from counterpart_emulators.mturk.validation import check_limits
from counterpart_emulators.mturk.workers import find_worker

NOT_EMULATED = ("Test", "TestDurationInSeconds", "AnswerKey")


def create_qualification_type(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Create a qualification type with a unique name."""
    check_limits(params)
    if unsupported := [name for name in NOT_EMULATED if name in params]:
        raise not_emulated(f"{', '.join(unsupported)}: not emulated; create a type without a test instead.")
    if "AutoGrantedValue" in params and not params.get("AutoGranted", False):
        raise invalid_parameter("An AutoGrantedValue needs AutoGranted.")
    if any(kind.name == params["Name"] for kind in state.qualification_types.values()):
        raise TurkError(
            "You have already created a QualificationType with this name. A QualificationType's name must be unique "
            "among all of the QualificationTypes created by the same user.",
            turk_code="QualificationTypeAlreadyExists",
        )
    delay = params.get("RetryDelayInSeconds")
    kind = QualificationType(
        id=state.mint("qualification type"),
        serial=state.count("qualification type serial"),
        created_at=state.now,
        name=params["Name"],
        description=params["Description"],
        keywords=params.get("Keywords"),
        active=params["QualificationTypeStatus"] == "Active",
        retry_delay=None if delay is None else timedelta(seconds=delay),
        auto_granted=params.get("AutoGranted", False),
        auto_granted_value=params.get("AutoGrantedValue", 1),
    )
    state.qualification_types[kind.id] = kind
    return {"QualificationType": _shown_type(kind)}


def get_qualification_type(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Show a qualification type."""
    return {"QualificationType": _shown_type(_find_type(state, params["QualificationTypeId"]))}


def list_qualification_types(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """List the requester's types, oldest first; ``Query`` searches names, descriptions and keywords."""
    query = params.get("Query", "").lower()
    requestable = params["MustBeRequestable"]
    rows = [
        kind
        for kind in state.qualification_types.values()
        if query in f"{kind.name} {kind.description} {kind.keywords or ''}".lower() and (kind.active or not requestable)
    ]
    return page(state, params, "QualificationTypes", rows, _shown_type)


def list_qualification_requests(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """List the open requests, oldest first."""
    type_id = params.get("QualificationTypeId")
    if type_id is not None:
        _find_type(state, type_id)
    rows = [each for each in state.requests.values() if each.open and type_id in (None, each.type_id)]
    return page(state, params, "QualificationRequests", rows, _shown_request)


def accept_qualification_request(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Grant a worker's request."""
    request = _open_request(state, params["QualificationRequestId"])
    request.open = False
    _grant(state, request.type_id, request.worker_id, params.get("IntegerValue"))
    return {}


def reject_qualification_request(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Refuse a worker's request; they see the reason."""
    check_limits(params)
    request = _open_request(state, params["QualificationRequestId"])
    request.open = False
    name = state.qualification_types[request.type_id].name
    state.write_to(request.worker_id, f"Your request for {name} was rejected", params.get("Reason", ""))
    return {}


def associate_qualification(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Give a worker a qualification, requested or not, and notify them unless that is turned off."""
    kind = _find_type(state, params["QualificationTypeId"])
    worker_id = _known_worker(state, params["WorkerId"])
    _grant(state, kind.id, worker_id, params.get("IntegerValue", 1))
    if params.get("SendNotification", True):
        state.write_to(worker_id, f"You were given the qualification {kind.name}", kind.description)
    return {}


def disassociate_qualification(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Revoke a qualification; the worker sees the reason."""
    check_limits(params)
    held = _granted(state, params)
    held.revoked = True
    name = state.qualification_types[held.type_id].name
    state.write_to(held.worker_id, f"Your qualification {name} was revoked", params.get("Reason", ""))
    return {}


def get_qualification_score(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Show a qualification that a worker has."""
    held = _granted(state, params)
    fields = {"QualificationTypeId": held.type_id, "WorkerId": held.worker_id, "GrantTime": held.granted_at}
    return {"Qualification": {**fields, "IntegerValue": held.value, "Status": "Granted"}}


def request_qualification(state: State, *, type_id: str, worker_id: str) -> dict[str, Any]:
    """Request a qualification as a worker. It is granted at once if its type is AutoGranted; otherwise it waits.

    Returns Status, Granted or Pending, and IntegerValue where granted. Raises Refusal.
    """
    worker = find_worker(state, worker_id)
    kind = state.qualification_types.get(type_id)
    if kind is None or not kind.active:
        raise Refusal(f"You cannot request the qualification {type_id}: it does not exist or is inactive.")
    if reason := _why_not(state, kind, worker):
        raise Refusal(reason)
    id = state.mint("qualification request")
    serial = state.count("qualification request serial")
    request = QualificationRequest(id, serial, kind.id, worker.id, state.now, open=not kind.auto_granted)
    state.requests[id] = request
    if request.open:
        return {"Status": "Pending"}
    _grant(state, kind.id, worker.id, kind.auto_granted_value)
    return {"Status": "Granted", "IntegerValue": kind.auto_granted_value}


def requestable(state: State, worker_id: str) -> list[dict[str, Any]]:
    """Return every qualification type that a worker can request; ``why_not`` is "" where they may do so now."""
    worker = find_worker(state, worker_id)
    offered = []
    for kind in (each for each in state.qualification_types.values() if each.active):
        held = state.qualifications.get((kind.id, worker.id))
        is_granted = held is not None and not held.revoked
        offered.append(
            {
                "type_id": kind.id,
                "name": kind.name,
                "description": kind.description,
                "value": held.value if held and is_granted else None,
                "is_granted": is_granted,
                "why_not": _why_not(state, kind, worker),
            }
        )
    return offered


def _grant(state: State, type_id: str, worker_id: str, value: int | None) -> None:
    """Give a worker a qualification, or change its value."""
    state.qualifications[type_id, worker_id] = Qualification(type_id, worker_id, state.now, value)


def _why_not(state: State, wanted: QualificationType, worker: Worker) -> str:
    """Return why a worker may not request a type now; "" if they may."""
    asked = [each for each in state.requests.values() if (each.type_id, each.worker_id) == (wanted.id, worker.id)]
    if not asked:
        return ""
    if any(request.open for request in asked):
        return f"You have requested {wanted.name}; the requester has not answered yet."
    if wanted.retry_delay is None:
        return f"{wanted.name} can be requested only once."
    again = max(request.submitted_at for request in asked) + wanted.retry_delay
    return f"You may request {wanted.name} again from {again:%Y-%m-%d %H:%M:%S} UTC on." if again > state.now else ""


def _find_type(state: State, type_id: str) -> QualificationType:
    if type_id not in state.qualification_types:
        raise does_not_exist("QualificationType", type_id)
    return state.qualification_types[type_id]


def _known_worker(state: State, worker_id: str) -> str:
    if worker_id not in state.workers:
        raise invalid_value("WorkerId", worker_id)
    return worker_id


def _granted(state: State, params: dict[str, Any]) -> Qualification:
    """Return the qualification that a call names by type and worker. Raises TurkError where it is not granted."""
    kind = _find_type(state, params["QualificationTypeId"])
    worker_id = _known_worker(state, params["WorkerId"])
    held = state.qualifications.get((kind.id, worker_id))
    if held is None:
        raise does_not_exist("Qualification", f"{kind.id} of worker {worker_id}")
    if held.revoked:
        raise TurkError("This operation can be called with a status of: Granted", turk_code="InvalidQualificationState")
    return held


def _open_request(state: State, request_id: str) -> QualificationRequest:
    request = state.requests.get(request_id)
    if request is None or not request.open:
        raise does_not_exist("QualificationRequest", request_id)
    return request


def _shown_type(shown: QualificationType) -> dict[str, Any]:
    return {
        "QualificationTypeId": shown.id,
        "CreationTime": shown.created_at,
        "Name": shown.name,
        "Description": shown.description,
        "Keywords": shown.keywords,
        "QualificationTypeStatus": "Active" if shown.active else "Inactive",
        "RetryDelayInSeconds": None if shown.retry_delay is None else int(shown.retry_delay.total_seconds()),
        "IsRequestable": shown.active,
        "AutoGranted": shown.auto_granted,
        "AutoGrantedValue": shown.auto_granted_value if shown.auto_granted else None,
    }


def _shown_request(request: QualificationRequest) -> dict[str, Any]:
    return {
        "QualificationRequestId": request.id,
        "QualificationTypeId": request.type_id,
        "WorkerId": request.worker_id,
        "SubmitTime": request.submitted_at,
    }
