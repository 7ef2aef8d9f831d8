"""AWS JSON 1.1 over HTTP: which operation is called with what, and how answers and errors travel."""

import json
import uuid
from datetime import datetime
from typing import Any

from werkzeug.wrappers import Request, Response

from emulators.mturk.errors import TurkError

TARGET_PREFIX = "MTurkRequesterServiceV20170117"
CONTENT_TYPE = "application/x-amz-json-1.1"


def target_of(request: Request) -> tuple[str, str]:
    """Return the service's target prefix and the operation that a request names; empty where it names none."""
    prefix, _, operation = request.headers.get("X-Amz-Target", "").rpartition(".")
    return prefix, operation


def body_of(request: Request) -> Any:
    """Return a request's JSON. Raises TurkError."""
    try:
        return json.loads(request.get_data() or b"{}")
    except ValueError as error:
        raise TurkError(f"The request is not JSON: {error}", code="SerializationException") from error


def answer(body: dict[str, Any], *, status: int = 200, content_type: str = CONTENT_TYPE) -> Response:
    """Return a body as the service sends it, with a fresh request id."""
    response = Response(json.dumps(body), status=status, content_type=content_type)
    response.headers["x-amzn-RequestId"] = str(uuid.uuid4())
    return response


def error_answer(error: TurkError, at: datetime, *, sandbox: bool) -> Response:
    """Return an error as the service sends it, at an instant of its clock."""
    text = error.text(at, sandbox=sandbox)
    body = {"__type": error.code, "Message": text, "message": text}
    return answer(body | ({"TurkErrorCode": error.turk_code} if error.turk_code else {}), status=error.status)
