"""The whole emulator on one port: the Requester API (signed AWS JSON 1.1), the workers' site and the controls."""

import json
import logging
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from werkzeug import Request, Response
from werkzeug.routing import Rule

from counterpart_emulators.market_server import MarketServer
from counterpart_emulators.mturk import control_panel
from counterpart_emulators.mturk.errors import TurkError
from counterpart_emulators.mturk.faults.calls import CallFaults
from counterpart_emulators.mturk.faults.fault_kinds import EXAMPLE, KINDS
from counterpart_emulators.mturk.faults.worker_acts import Work
from counterpart_emulators.mturk.signing import check_signature
from counterpart_emulators.mturk.site import VIEWS, WorkerVisit
from counterpart_emulators.mturk.validation import MisfitError, operation_model, read_request, write_response
from counterpart_emulators.mturk.world import World
from counterpart_emulators.server import Drop, reset

log = logging.getLogger(__name__)

TARGET_PREFIX = "MTurkRequesterServiceV20170117"
CONTENT_TYPE = "application/x-amz-json-1.1"


class Emulator(MarketServer[World]):
    """MTurk served over HTTP. ``faults`` make the faults of the plan happen to calls, ``work`` to workers."""

    name = "MTurk"
    folder = Path(__file__).parent
    kinds = KINDS
    example = EXAMPLE
    controls: ClassVar = control_panel
    new_world = World

    def own_rules(self) -> Iterator[Rule]:
        self.faults = CallFaults(self.world, self.plan)
        self.work = Work(self.world, self.plan)
        yield Rule("/", methods=["POST"], endpoint=self._answer_call)
        yield from WorkerVisit.rules(
            VIEWS, lambda request: WorkerVisit(self.world, self.work, self.pages, request, self.may_control(request))
        )

    def _answer_call(self, request: Request) -> Response:
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
        check_signature(request)
        outcome = self._outcome(name, read_request(operation, _body_of(request)))
        if isinstance(outcome, TurkError):
            raise outcome
        if isinstance(outcome, Drop):
            return reset(request)
        return _answer(write_response(operation, outcome)) if isinstance(outcome, dict) else outcome

    def _outcome(self, name: str, params: dict[str, Any]) -> Response | Drop | TurkError | dict[str, Any]:
        """Make the call unless a fault replaces it; a fault may also change the answer."""
        if (instead := self.faults.before_call(name, params)) is not None:
            return instead
        result = self.world.call(name, params)
        changed = self.faults.before_response(name, params, result)
        return result if changed is None else changed

    def _refused(self, error: TurkError) -> Response:
        text = error.text(self.world.clock.now(), sandbox=self.world.look(lambda state: state.sandbox))
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
