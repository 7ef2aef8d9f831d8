"""The Requester API over HTTP: AWS JSON 1.1, signed calls, and the faults around each call."""

import json
import logging
import uuid
from collections.abc import Iterable
from typing import Any

from werkzeug.wrappers import Request, Response

from emulators.mturk.errors import TurkError
from emulators.mturk.faults.calls import CallFaults
from emulators.mturk.signing import Credential, check_signature
from emulators.mturk.validation import MisfitError, operation_model, read_request, write_response
from emulators.mturk.world import World
from emulators.server import Drop, reset

log = logging.getLogger(__name__)

TARGET_PREFIX = "MTurkRequesterServiceV20170117"
CONTENT_TYPE = "application/x-amz-json-1.1"


class RequesterApi:
    """Answers POSTs to ``/``. ``faults`` stand between calls and answers."""

    def __init__(self, world: World, faults: CallFaults, credentials: Iterable[Credential]) -> None:
        self._world = world
        self.faults = faults
        self._credentials = {credential.access_key: credential for credential in credentials}

    def __call__(self, request: Request) -> Response:
        try:
            return self._called(request)
        except TurkError as error:
            return self._refused(error)
        except MisfitError as error:
            log.exception("The emulator has a bug")
            return self._refused(TurkError(str(error), code="ServiceFault", turk_code="EmulatorFault", status=500))

    def _called(self, request: Request) -> Response:
        prefix, _, name = request.headers.get("X-Amz-Target", "").rpartition(".")
        operation = operation_model(name) if prefix == TARGET_PREFIX else None
        if operation is None:
            raise TurkError(f"{prefix}.{name}", code="UnknownOperationException")
        check_signature(request, self._credentials)
        outcome = self._outcome(name, read_request(operation, _body_of(request)))
        if isinstance(outcome, TurkError):
            raise outcome
        if isinstance(outcome, Drop):
            return reset(request)
        return _answer(write_response(operation, outcome)) if isinstance(outcome, dict) else outcome

    def _outcome(self, name: str, params: dict[str, Any]) -> Response | Drop | TurkError | dict[str, Any]:
        """Do the call unless a fault comes before it; a fault may also change what is answered."""
        if (instead := self.faults.before_call(name, params)) is not None:
            return instead
        result = self._world.call(name, params)
        changed = self.faults.before_response(name, params, result)
        return result if changed is None else changed

    def _refused(self, error: TurkError) -> Response:
        text = error.text(self._world.clock.now(), sandbox=self._world.sandbox)
        body = {"__type": error.code, "Message": text, "message": text}
        return _answer(body | ({"TurkErrorCode": error.turk_code} if error.turk_code else {}), status=error.status)


def _body_of(request: Request) -> Any:
    try:
        return json.loads(request.get_data() or b"{}")
    except ValueError as error:
        raise TurkError(f"The request is not JSON: {error}", code="SerializationException") from error


def _answer(body: dict[str, Any], *, status: int = 200) -> Response:
    """Return a body as the service sends it, with a new request id."""
    response = Response(json.dumps(body), status=status, content_type=CONTENT_TYPE)
    response.headers["x-amzn-RequestId"] = str(uuid.uuid4())
    return response
