"""SQS over HTTP: AWS JSON 1.0, each request and answer held against botocore's own model."""

from collections.abc import Mapping
from typing import Any

from botocore.model import OperationModel, Shape
from werkzeug import Request, Response

from emulators.mturk.errors import TurkError
from emulators.mturk.model import operation_model
from emulators.mturk.sqs.errors import SqsError
from emulators.mturk.sqs.operations import Sqs
from emulators.mturk.wire import answer, body_of

TARGET_PREFIX = "AmazonSQS"
CONTENT_TYPE = "application/x-amz-json-1.0"
TYPES: Mapping[str, type] = {
    "string": str,
    "integer": int,
    "boolean": bool,
    "list": list,
    "map": dict,
    "structure": dict,
}


def respond(sqs: Sqs, request: Request, operation: str) -> Response:
    """Answer one call to the queues; who signed it was looked at before."""
    try:
        return answer(_performed(sqs, operation, body_of(request)), content_type=CONTENT_TYPE)
    except SqsError as error:
        return refused(error.code, error.query_code, error.message)
    except TurkError as error:
        return refused(error.code, error.code, error.message)


def _performed(sqs: Sqs, operation: str, parameters: Any) -> dict[str, Any]:
    model = operation_model(operation, "sqs")
    if model is None:
        raise SqsError("UnsupportedOperation", f"SQS has no operation {operation!r}.")
    _check(model.input_shape, parameters, operation)
    result = sqs.perform(operation, parameters)
    _check_answer(model, result)
    return result


def _check_answer(model: OperationModel, result: dict[str, Any]) -> None:
    if model.output_shape is not None:
        _check(model.output_shape, result, f"the answer to {model.name}")


def _check(shape: Shape, value: Any, where: str) -> None:
    """Raise SqsError, naming the place, where a value has not the shape that the model says."""
    wanted = TYPES.get(shape.type_name)
    if wanted and (not isinstance(value, wanted) or (wanted is int and isinstance(value, bool))):
        raise SqsError("InvalidParameterValue", f"{where} must be of type {shape.type_name}, not {value!r}.")
    if shape.type_name == "list":
        for position, each in enumerate(value):
            _check(shape.member, each, f"{where}[{position}]")
    if shape.type_name == "structure":
        _check_members(shape, value, where)


def _check_members(shape: Shape, value: dict[str, Any], where: str) -> None:
    if missing := [name for name in shape.required_members if name not in value]:
        raise SqsError("MissingParameter", f"The request must contain the parameter {missing[0]} in {where}.")
    if unknown := [name for name in value if name not in shape.members]:
        raise SqsError("InvalidParameterValue", f"{where} has no member {unknown[0]}.")
    for name, each in value.items():
        _check(shape.members[name], each, f"{where}.{name}")


def refused(code: str, query_code: str, message: str) -> Response:
    """Return a refusal as SQS sends it; clients of the older protocol read ``query_code``."""
    body = {"__type": f"com.amazonaws.sqs#{code}", "message": message}
    response = answer(body, status=400, content_type=CONTENT_TYPE)
    response.headers["x-amzn-query-error"] = f"{query_code};Sender"
    return response
