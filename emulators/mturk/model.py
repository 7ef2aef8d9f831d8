"""Values against botocore's model of the service: types, minimums, maximums, patterns and enumerations, both ways."""

import re
from datetime import UTC, datetime
from functools import cache
from typing import Any

import botocore.session
from botocore.model import OperationModel, ServiceModel, Shape

from emulators.mturk.errors import TurkError, validation_error

TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "a String"),
    "integer": ((int,), "an Integer"),
    "long": ((int,), "a Long"),
    "boolean": ((bool,), "a Boolean"),
    "timestamp": ((int, float), "a Timestamp"),
    "list": ((list,), "a List"),
    "structure": ((dict,), "a Structure"),
}


class MisfitError(Exception):
    """A response that does not fit the service's model: a fault of the emulator."""


@cache
def service_model(service: str = "mturk") -> ServiceModel:
    """Return botocore's own model of a service."""
    return botocore.session.get_session().get_service_model(service)


def operation_model(name: str, service: str = "mturk") -> OperationModel | None:
    """Return the model of an operation; None for a name the service does not have."""
    model = service_model(service)
    return model.operation_model(name) if name in model.operation_names else None


def read_request(operation: OperationModel, body: Any) -> dict[str, Any]:
    """Return a request's parameters with instants as datetimes; what the model does not know is left out.

    Raises TurkError: SerializationException for a wrong type, ValidationException with all that is out of bounds.
    """
    faults: list[str] = []
    params: dict[str, Any] = _read(operation.input_shape, body, "", faults)
    if faults:
        raise validation_error(faults)
    return params


def write_response(operation: OperationModel, result: dict[str, Any]) -> dict[str, Any]:
    """Return a result as it travels, instants as epoch seconds. Raises MisfitError where the model says otherwise."""
    shape, body = operation.output_shape, _plain(result)
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
    """Return the constraints of a plain value that it does not satisfy, in the service's words."""
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
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _unknown(shape: Shape, value: Any, path: str) -> list[str]:
    """Return the members of a value that its shape does not have."""
    if shape.type_name == "list" and isinstance(value, list):
        return [fault for each in value for fault in _unknown(shape.member, each, path)]
    if shape.type_name != "structure" or not isinstance(value, dict):
        return []
    faults = [f"{_below(path, name)} is no member of {shape.name}" for name in value if name not in shape.members]
    known = {name: each for name, each in value.items() if name in shape.members}
    return faults + [f for name, each in known.items() for f in _unknown(shape.members[name], each, _below(path, name))]
