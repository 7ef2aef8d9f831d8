"""The faults that stand between a requester's call and its answer."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from time import sleep
from typing import Any

from werkzeug import Response

from emulators.mturk.errors import Refusal, TurkError
from emulators.mturk.faults.crowd import act_on
from emulators.mturk.faults.declaring import Fault
from emulators.mturk.faults.hiding import Hidden
from emulators.mturk.faults.lagging import as_of, is_younger, refuse_hidden
from emulators.mturk.faults.plan import FaultPlan
from emulators.mturk.rows import Assignment
from emulators.mturk.server import Drop
from emulators.mturk.world import World

Parameters = dict[str, Any]
Instead = Response | Drop | TurkError

HTML = (
    "<html><head><title>{0} Error</title></head>"
    "<body><h1>{0} Error</h1><hr>The request could not be served.</body></html>"
)


class CallFaults:
    """Carries out the faults of kinds "call" and "reading"; the server asks it about every call."""

    def __init__(
        self, world: World, plan: FaultPlan, hidden: Hidden, *, wait: Callable[[float], object] = sleep
    ) -> None:
        self._world = world
        self._plan = plan
        self._hidden = hidden
        self._wait = wait

    def before_call(self, operation: str, params: Parameters) -> Instead | None:
        """Change the world, wait, and return what is answered instead of doing the call."""
        self._change_world(operation, params)
        for fault in self._plan.happening(operation, "stall"):
            self._wait(fault.settings["seconds"])
        for fault in self._plan.happening(operation, *REFUSALS):
            return REFUSALS[fault.kind](fault)
        for fault in self._plan.happening(operation, "page"):
            params["MaxResults"] = min(fault.settings["size"], params.get("MaxResults", fault.settings["size"]))
        return self._refused_as_unknown(operation, params)

    def before_response(self, operation: str, params: Parameters, result: Parameters) -> Instead | Parameters | None:
        """Return what is answered although the call was done."""
        for fault in self._plan.happening(operation, "latency"):
            self._wait(fault.settings["seconds"])
        if self._plan.happening(operation, "drop"):
            return Drop()
        try:
            return self._reading(operation, result)
        except TurkError as error:
            return error

    def _change_world(self, operation: str, params: Parameters) -> None:
        for fault in self._plan.happening(operation, "balance"):
            self._world.act("set_balance", available=fault.settings["amount"])
        for fault in self._plan.happening(operation, "crowd"):
            with suppress(Refusal, TurkError):  # a HIT that is full or closed lets nobody in
                act_on(self._world, params.get("HITId"), fault.settings["act"])

    def _refused_as_unknown(self, operation: str, params: Parameters) -> TurkError | None:
        """Return the refusal of a call about an assignment that a lag or an early event keeps out of sight."""
        ages = [timedelta(seconds=fault.settings["seconds"]) for fault in self._plan.happening(operation, "blind")]

        def hidden(assignment: Assignment) -> bool:
            now = self._world.clock.now()
            return self._hidden.holds(assignment.id, now) or any(is_younger(assignment, age, now) for age in ages)

        with self._world.looking() as state:
            try:
                refuse_hidden(state, operation, params, hidden)
            except TurkError as error:
                return error
        return None

    def _reading(self, operation: str, result: Parameters) -> Parameters:
        now = self._world.clock.now()
        for fault in self._plan.happening(operation, "lag"):
            with self._world.looking() as state:
                result = as_of(state, operation, result, now - timedelta(seconds=fault.settings["seconds"]))
        if "Assignments" in result:
            seen = [each for each in result["Assignments"] if not self._hidden.holds(each["AssignmentId"], now)]
            result = result | {"Assignments": seen, "NumResults": len(seen)}
        return _flickered(result) if self._plan.happening(operation, "flicker") else result


def _flickered(result: Parameters) -> Parameters:
    if "HIT" in result:
        return result | {"HIT": _assignable(result["HIT"])}
    return result | {"HITs": [_assignable(hit) for hit in result["HITs"]]} if "HITs" in result else result


def _assignable(hit: Parameters) -> Parameters:
    return hit | ({"HITStatus": "Assignable"} if hit["HITStatus"] == "Reviewable" else {})


def _throttled(fault: Fault) -> TurkError:
    return TurkError("Rate exceeded", code="ThrottlingException")


def _failed(fault: Fault) -> Instead:
    status, body = fault.settings["status"], fault.settings["body"]
    if body == "json":
        return TurkError("Service is unavailable; try again.", code="ServiceFault", status=status)
    return Response(HTML.format(status) if body == "html" else b"", status, mimetype="text/html")


REFUSALS: dict[str, Callable[[Fault], Instead]] = {
    "throttle": _throttled,
    "status": _failed,
    "reset": lambda fault: Drop(),
}
