"""The faults of every marketplace's API: refusals, breakdowns, delays, and an answer that is lost."""

from abc import ABC, abstractmethod
from time import sleep
from typing import Any, Generic, TypeVar

from werkzeug import Response

from counterpart_emulators.faults import FaultKind, FaultPlan
from counterpart_emulators.inputs import AMOUNT, SECONDS, number, one_of
from counterpart_emulators.marketplace import Marketplace
from counterpart_emulators.server import Drop

World = TypeVar("World", bound=Marketplace[Any])

HTML = (
    "<html><head><title>{0} Error</title></head>"
    "<body><h1>{0} Error</h1><hr>The request could not be served.</body></html>"
)


def kinds_of_calls(
    calls: tuple[str, ...], *, busy: str, bodies: tuple[str, ...], refusals: tuple[int, ...] = ()
) -> dict[str, FaultKind]:
    """Return the kinds for these calls. ``busy`` names the refusal of too many; ``bodies`` are those of an error,
    ``refusals`` statuses below 500 that the marketplace may answer as well."""
    rate = {
        "rate": number("calls a second, 0 or more"),
        "burst": number("a number of calls, 1 or more", least=1, whole=True),
    }
    failure = {"status": one_of(*refusals, 500, 502, 503, 504, 505), "body": one_of(*bodies)}
    text = f"Nothing is done; the answer has this HTTP status and a body: {', '.join(bodies)}."
    return {
        "throttle": FaultKind(
            f"{busy}. With rate (calls a second) and burst, a token bucket on the emulator's clock decides.",
            calls,
            rate,
        ),
        "status": FaultKind(text, calls, failure),
        "reset": FaultKind("Nothing is done, and the connection is closed without an answer.", calls),
        "drop": FaultKind("The call is done, then the connection is closed without an answer.", calls),
        "latency": FaultKind(
            "The call is done at once, and its answer is delayed, in real time.", calls, {"seconds": SECONDS}
        ),
        "stall": FaultKind("The call is delayed, in real time.", calls, {"seconds": SECONDS}),
        "balance": FaultKind("Before the call, the available balance becomes this amount.", calls, {"amount": AMOUNT}),
    }


class CallFaults(ABC, Generic[World]):
    """Makes these faults happen, outside the lock."""

    def __init__(self, world: World, plan: FaultPlan) -> None:
        self._world = world
        self._plan = plan

    @abstractmethod
    def busy(self) -> Any:
        """Return the refusal of too many calls."""

    @abstractmethod
    def failed(self, status: int, body: str) -> Any:
        """Return the marketplace's own error with a status and a body."""

    def before_all(self, operation: str) -> Any:
        """Set the balance, wait, and return the answer of a fault that replaces the call; None to make the call."""
        for fault in self._plan.happening(operation, "balance"):
            self._world.act("set_balance", available=fault.settings["amount"])
        for fault in self._plan.happening(operation, "stall"):
            sleep(fault.settings["seconds"])
        for fault in self._plan.happening(operation, "throttle", "status", "reset"):
            if fault.kind == "throttle":
                return self.busy()
            return Drop() if fault.kind == "reset" else self._broken(fault.settings["status"], fault.settings["body"])
        return None

    def after_all(self, operation: str) -> Drop | None:
        """Wait, and return a drop if the answer to a call that was done is lost."""
        for fault in self._plan.happening(operation, "latency"):
            sleep(fault.settings["seconds"])
        return Drop() if self._plan.happening(operation, "drop") else None

    def _broken(self, status: int, body: str) -> Any:
        if body in ("html", "none"):
            return Response(HTML.format(status) if body == "html" else b"", status, mimetype="text/html")
        return self.failed(status, body)
