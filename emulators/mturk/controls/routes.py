"""The controls' addresses under ``/_emulator/``: JSON for programs and one page for people, on this machine only."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from werkzeug import Request, Response
from werkzeug.routing import Rule

from emulators.mturk.controls import summary
from emulators.mturk.controls.acting import Act, ControlError
from emulators.mturk.controls.page import ControlPage
from emulators.mturk.faults.plan import FaultPlan
from emulators.mturk.world import World

Reader = Callable[[Request], Any]
Doer = Callable[[Mapping[str, Any]], Any]

ENTRIES = 200


class Controls:
    """Serves the controls of one world to requests that ``is_local`` lets in."""

    def __init__(self, world: World, plan: FaultPlan, *, is_local: Callable[[Request], bool]) -> None:
        self._world = world
        self._plan = plan
        self._is_local = is_local
        self._page = ControlPage(world, plan, Act(world, plan))
        self._act = Act(world, plan)

    def rules(self) -> Iterator[Rule]:
        """Yield a rule for every address; each endpoint takes the request and the address's values."""
        for path, read in self._readers().items():
            yield Rule(f"/_emulator/{path}", methods=["GET"], endpoint=partial(self._read, read))
        for method, path, act in self._doers():
            yield Rule(f"/_emulator/{path}", methods=[method], endpoint=partial(self._do, act))
        yield Rule("/_emulator/", methods=["GET"], endpoint=partial(self._guarded, self._page.show))
        yield Rule("/_emulator/page/<act>", methods=["POST"], endpoint=partial(self._guarded, self._page.act))

    def _readers(self) -> dict[str, Reader]:
        return {
            "summary": lambda request: summary.summary(self._world),
            "clock": lambda request: summary.clock(self._world),
            "ledger": lambda request: summary.ledger(self._world),
            "workers": lambda request: summary.workers(self._world),
            "faults": lambda request: self._plan.as_json(),
            "journal": self._journal,
        }

    def _doers(self) -> list[tuple[str, str, Doer]]:
        return [
            ("POST", "clock", self._act.move_clock),
            ("POST", "balance", self._act.set_balance),
            ("POST", "premium-fees", self._act.set_premium_fee),
            ("POST", "reissue", self._act.set_reissue),
            ("POST", "workers", self._act.register_worker),
            ("POST", "faults", self._act.add_fault),
            ("DELETE", "faults", self._act.clear_faults),
            ("DELETE", "faults/<id>", self._act.clear_fault),
        ]

    def _journal(self, request: Request) -> dict[str, Any]:
        """Up to 200 entries after the first ``after`` ones, and where to go on."""
        after = request.args.get("after", "0")
        if not after.isdigit():
            raise ControlError(f"after is {after!r}; it must be how many entries are known already.")
        with self._world.lock:
            entries = self._world.journal.entries[int(after) : int(after) + ENTRIES]
        return {"entries": entries, "after": int(after) + len(entries)}

    def _read(self, read: Reader, request: Request) -> Response:
        return self._guarded(lambda request: _json(read(request)), request)

    def _do(self, act: Doer, request: Request, **values: str) -> Response:
        return self._guarded(lambda request: _json(act({**_sent(request), **values})), request)

    def _guarded(self, answer: Callable[..., Response], request: Request, **values: str) -> Response:
        if not self._is_local(request):
            return _json({"error": "The controls answer to this machine only."}, 403)
        try:
            return answer(request, **values)
        except ControlError as error:
            return _json({"error": str(error)}, 400)


def _sent(request: Request) -> dict[str, Any]:
    """Return the JSON object in a request's body. Its type must say JSON, which no foreign page can send unasked."""
    if not request.get_data():
        return {}
    if request.mimetype != "application/json":
        raise ControlError("Send JSON, with Content-Type: application/json.")
    try:
        sent = json.loads(request.get_data())
    except ValueError as error:
        raise ControlError(f"This is not JSON: {error}") from error
    if not isinstance(sent, dict):
        raise ControlError("Send a JSON object, in braces.")
    return sent


def _json(value: Any, status: int = 200) -> Response:
    return Response(json.dumps(value, indent=1) + "\n", status, mimetype="application/json")
