"""Requests and responses checked against botocore's model of the service, and limits from its documentation."""

import re
from datetime import UTC, datetime
from functools import cache
from typing import Any

import botocore.session
from botocore.model import OperationModel, ServiceModel, Shape

from counterpart_emulators.mturk.errors import TurkError, invalid_parameter, out_of_range

TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "a String"),
    "integer": ((int,), "an Integer"),
    "long": ((int,), "a Long"),
    "boolean": ((bool,), "a Boolean"),
    "timestamp": ((int, float), "a Timestamp"),
    "list": ((list,), "a List"),
    "structure": ((dict,), "a Structure"),
}
YEAR = 31_536_000
RANGES = {
    "LifetimeInSeconds": (30, YEAR),
    "AssignmentDurationInSeconds": (30, YEAR),
    "AutoApprovalDelayInSeconds": (0, 2_592_000),
    "MaxAssignments": (1, 1_000_000_000),
    "NumberOfAdditionalAssignments": (1, 1_000_000_000),
    "RetryDelayInSeconds": (0, YEAR),
}
LENGTHS = {
    "Title": 128,
    "Keywords": 1000,
    "Description": 2000,
    "RequesterAnnotation": 255,
    "RequesterFeedback": 1024,
    "Subject": 200,
    "MessageText": 4096,
}
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
NOT_EMPTY = ("Title", "Description", "Name", "Reason", "Subject", "MessageText", "RequesterFeedback")


class MisfitError(Exception):
    """A response that does not fit the service's model: a bug of the emulator."""


@cache
def service_model() -> ServiceModel:
    """Return botocore's own model of the service."""
    return botocore.session.get_session().get_service_model("mturk")


def operation_model(name: str) -> OperationModel | None:
    """Return the model of an operation; None for an unknown name."""
    return service_model().operation_model(name) if name in service_model().operation_names else None


def read_request(operation: OperationModel, body: Any) -> dict[str, Any]:
    """Return a request's parameters with instants as datetimes and without those that the model does not have.

    Raises TurkError: SerializationException for a wrong type, ValidationException with everything out of bounds.
    """
    faults: list[str] = []
    params: dict[str, Any] = _read(operation.input_shape, body, "", faults)
    if faults:
        count = f"{len(faults)} validation error{'s' if len(faults) > 1 else ''}"
        raise TurkError(f"{count} detected: {'; '.join(faults)}", code="ValidationException")
    return params


def write_response(operation: OperationModel, result: dict[str, Any]) -> dict[str, Any]:
    """Return a result as it is sent: instants as epoch seconds, no nulls. Raises MisfitError for an invalid result."""
    shape = operation.output_shape
    body = _plain(result)
    faults: list[str] = list(_unknown(shape, body, "")) if shape else []
    try:
        _read(shape, body, "", faults)
    except TurkError as error:
        faults.append(error.message)
    if faults:
        raise MisfitError(f"The response to {operation.name} does not fit the model: {'; '.join(faults)}")
    return body


def _read(shape: Shape | None, value: Any, path: str, faults: list[str]) -> Any:
    if shape is None:
        return {}
    _check_type(shape, value)
    if shape.type_name == "structure":
        return _read_structure(shape, value, path, faults)
    if shape.type_name == "list":
        return [_read(shape.member, each, f"{path}.{n}.member", faults) for n, each in enumerate(value, start=1)]
    faults.extend(
        f"Value '{value}' at '{path}' failed to satisfy constraint: {constraint}"
        for constraint in _broken(shape.metadata, value)
    )
    return datetime.fromtimestamp(value, UTC) if shape.type_name == "timestamp" else value


def _read_structure(shape: Shape, value: dict[str, Any], path: str, faults: list[str]) -> dict[str, Any]:
    given = {name: each for name, each in value.items() if each is not None and name in shape.members}
    faults.extend(
        f"Value null at '{_below(path, name)}' failed to satisfy constraint: Member must not be null"
        for name in shape.required_members
        if name not in given
    )
    return {name: _read(shape.members[name], each, _below(path, name), faults) for name, each in given.items()}


def _check_type(shape: Shape, value: Any) -> None:
    types, name = TYPES[shape.type_name]
    is_right = isinstance(value, types) and (shape.type_name == "boolean" or not isinstance(value, bool))
    if not is_right:
        raise TurkError(
            f"{type(value).__name__.upper()}_VALUE can not be converted to {name}", code="SerializationException"
        )


def _broken(bounds: dict[str, Any], value: Any) -> list[str]:
    """Return the constraints that a plain value does not satisfy, in the service's words."""
    size, what = (len(value), "length") if isinstance(value, str) else (value, "value")
    checks = {
        f"Member must have {what} greater than or equal to {bounds.get('min')}": "min" in bounds
        and size < bounds["min"],
        f"Member must have {what} less than or equal to {bounds.get('max')}": "max" in bounds and size > bounds["max"],
        f"Member must satisfy regular expression pattern: {bounds.get('pattern')}": "pattern" in bounds
        and not re.fullmatch(bounds["pattern"], value),
        f"Member must satisfy enum value set: [{', '.join(bounds.get('enum', ()))}]": "enum" in bounds
        and value not in bounds["enum"],
    }
    return [constraint for constraint, is_broken in checks.items() if is_broken]


def _below(path: str, name: str) -> str:
    name = name[0].lower() + name[1:]
    return f"{path}.{name}" if path else name


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return round(value.timestamp(), 3)
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items() if each is not None}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _unknown(shape: Shape, value: Any, path: str) -> list[str]:
    """Return the members of a value that its shape does not have."""
    if shape.type_name == "list" and isinstance(value, list):
        return [fault for each in value for fault in _unknown(shape.member, each, path)]
    if shape.type_name != "structure" or not isinstance(value, dict):
        return []
    faults = [f"{_below(path, name)} is not a member of {shape.name}" for name in value if name not in shape.members]
    known = {name: each for name, each in value.items() if name in shape.members}
    return faults + [f for name, each in known.items() for f in _unknown(shape.members[name], each, _below(path, name))]


def check_limits(params: dict[str, Any]) -> None:
    """Raise the service's error for the first parameter that is out of its documented range, too long or empty."""
    for name, (least, most) in RANGES.items():
        if name in params and not least <= params[name] <= most:
            raise out_of_range(name, params[name], least, most)
    for name, most in LENGTHS.items():
        if len(params.get(name, "")) > most:
            raise invalid_parameter(f"The value for parameter {name} is too long; the maximum is {most} characters.")
    for name in NOT_EMPTY:
        if name in params and not params[name].strip():
            raise invalid_parameter(f"The value for parameter {name} is empty.")
    if CONTROL.search(params.get("RequesterFeedback", "")):
        raise invalid_parameter("RequesterFeedback has a control character other than tab, line feed and return.")
