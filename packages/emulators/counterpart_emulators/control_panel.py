"""The controls under ``/_emulator/``: clock, balance, faults, ledger and journal, as JSON for programs and on one page
for people. Only this machine may use them."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from ipaddress import ip_address
from operator import attrgetter
from textwrap import shorten
from typing import Any

from werkzeug import Request, Response
from werkzeug.routing import Rule

from counterpart_emulators.faults import FaultPlan
from counterpart_emulators.inputs import AMOUNT, FLAG, INSTANT, SECONDS, InputError, Setting, check_settings
from counterpart_emulators.marketplace import Marketplace, Refusal
from counterpart_emulators.web_pages import Pages, go

Read = Callable[[], Any]
Act = tuple[Mapping[str, Setting], Callable[..., Any]]  # what is sent, and what is done with it

HOST_NAMES = ("localhost", "127.0.0.1", "[::1]")
ENTRIES = 200  # of the journal, in one answer
SHOWN = 15  # latest entries of the ledger and the journal on the page
JUMPS = (("1 minute", 60), ("1 hour", 3_600), ("1 day", 86_400), ("1 week", 604_800))
COUNTED = ("id", "kind", "operation", "met", "happened", "spent")  # fields of a fault with columns of their own
DONE = {
    "clock": "The clock was set.",
    "balance": "The balance was set.",
    "faults": "The fault was set.",
    "clear": "The fault was cleared.",
}


def rows_of(world: Marketplace[Any], table: str, **columns: str) -> Read:
    """Return a function that reads these attributes of every row of a table, by the names of the columns."""
    read = {name: attrgetter(path) for name, path in columns.items()}

    def rows() -> list[dict[str, Any]]:
        with world.looking() as state:
            return [{name: get(row) for name, get in read.items()} for row in getattr(state, table).values()]

    return rows


def is_local(request: Request) -> bool:
    """Whether a request comes from this machine, by one of its own names, and not from another site's page."""
    try:
        is_near = ip_address(request.remote_addr or "").is_loopback
    except ValueError:
        return False
    return is_near and is_own(request)


def is_own(request: Request) -> bool:
    """Whether a request names this machine and comes from no page but ours."""
    name = request.host.rsplit(":", 1)[0] if not request.host.endswith("]") else request.host
    origin = request.headers.get("Origin")
    return name in HOST_NAMES and origin in (None, request.host_url.rstrip("/"))


class Controls:
    """The controls of one marketplace, for requests that ``may_control`` admits.

    ``readers`` and ``acts`` are the marketplace's own, by their addresses.
    """

    def __init__(
        self,
        world: Marketplace[Any],
        plan: FaultPlan,
        pages: Pages,
        *,
        may_control: Callable[[Request], bool],
        example: str,
        readers: dict[str, Read],
        acts: dict[str, Act],
    ) -> None:
        self._world = world
        self._plan = plan
        self._pages = pages
        self._may_control = may_control
        self._example = example
        shared: dict[str, Read] = {
            "summary": self._summary,
            "clock": self._clock,
            "ledger": self._ledger,
            "faults": plan.as_json,
        }
        self._readers = shared | readers
        clock = {"to": INSTANT, "forward_seconds": replace(SECONDS, required=False), "running": FLAG}
        balance = {"available": AMOUNT}
        ours: dict[str, Act] = {
            "clock": (clock, self._move_clock),
            "balance": (balance, partial(world.act, "set_balance")),
        }
        self._acts = ours | acts

    def rules(self) -> Iterator[Rule]:
        """Return a rule for every address."""

        def rule(method: str, path: str, view: Callable[..., Response]) -> Rule:
            return Rule(f"/_emulator/{path}", methods=[method], endpoint=partial(self._guarded, view))

        def read(path: str) -> Callable[[Request], Response]:
            return lambda request: _json(self._readers[path]())

        def act(path: str) -> Callable[[Request], Response]:
            return lambda request: _json(self._act(path, _sent(request)))

        yield from (rule("GET", path, read(path)) for path in self._readers)
        yield from (rule("POST", path, act(path)) for path in self._acts)
        yield rule("POST", "faults", lambda request: _json(self._add_fault(_sent(request))))
        yield rule("DELETE", "faults", lambda request: _json(self._clear_faults()))
        yield rule("DELETE", "faults/<fault_id>", lambda request, fault_id: _json(self._clear_faults(fault_id)))
        yield rule("GET", "journal", self._journal)
        yield rule("GET", "", lambda request: self._page(done=DONE.get(request.args.get("done", ""), "")))
        yield rule("POST", f"page/<any({', '.join(DONE)}):button>", self._press)

    def _guarded(self, view: Callable[..., Response], request: Request, **values: str) -> Response:
        if not self._may_control(request):
            return _json({"error": "Only this machine may use the controls."}, 403)
        try:
            return view(request, **values)
        except (InputError, Refusal) as error:
            return _json({"error": str(error)}, 400)

    def _act(self, path: str, given: Mapping[str, Any]) -> Any:
        settings, act = self._acts[path]
        check_settings(f"/_emulator/{path}", given, settings)
        return act(**given)

    def _summary(self) -> dict[str, Any]:
        with self._world.looking() as state:
            account = state.ledger
            money = {"available": account.available, "on_hold": account.on_hold, "spent": account.spent}
            return {"seed": self._world.seed, "clock": self._clock(), "balance": money, **self._world.counts()}

    def _clock(self) -> dict[str, Any]:
        return {"now": self._world.clock.now(), "running": self._world.clock.running}

    def _ledger(self) -> list[dict[str, Any]]:
        return self._world.look(lambda state: [asdict(entry) for entry in state.ledger.entries])

    def _journal(self, request: Request) -> Response:
        """Return up to 200 entries after the first ``after`` ones, and the number to continue from."""
        after = request.args.get("after", "0")
        if not after.isdecimal():
            raise InputError(f"after is {after!r}; it must be the number of entries that you have already.")
        with self._world.lock:
            entries = self._world.journal.entries[int(after) : int(after) + ENTRIES]
        return _json({"entries": entries, "after": int(after) + len(entries)})

    def _move_clock(
        self, *, to: str | None = None, forward_seconds: float = 0, running: bool | None = None
    ) -> dict[str, Any]:
        """Move the clock to an instant (ISO 8601), or forward. It continues as it was unless ``running`` is given."""
        self._world.move_clock(
            datetime.fromisoformat(to) if to else None,
            by=timedelta(seconds=forward_seconds),
            running=self._world.clock.running if running is None else running,
        )
        return self._clock()

    def _add_fault(self, given: Mapping[str, Any]) -> dict[str, Any]:
        id = self._plan.add(given)
        self._world.act("note", what="fault set", about={"id": id, **given})
        return {"id": id}

    def _clear_faults(self, *ids: str) -> dict[str, Any]:
        """Clear the faults with these ids, or all."""
        cleared = sum(map(self._plan.clear, ids)) if ids else self._plan.clear_all()
        if cleared < len(ids):
            raise InputError(f"Unknown fault {ids[0]!r}; it may have been cleared already.")
        self._world.act("note", what="faults cleared", about={"ids": ids or "all"})
        return {"cleared": cleared}

    def _press(self, request: Request, button: str) -> Response:
        """Do the act of a button of the page. Invalid input is explained on the page and kept in its form."""
        form = request.form
        presses: dict[str, Callable[[], Any]] = {
            "clock": lambda: self._act("clock", {name: _value(text) for name, text in form.items()}),
            "balance": lambda: self._act("balance", form.to_dict()),
            "faults": lambda: self._add_fault(_object(_value(form.get("declaration", "")))),
            "clear": lambda: self._clear_faults(form.get("id", "")),
        }
        try:
            presses[button]()
        except InputError as error:
            return self._page(error=str(error), declaration=form.get("declaration"), status=400)
        return go("/_emulator/", done=button)

    def _page(self, *, done: str = "", error: str = "", declaration: str | None = None, status: int = 200) -> Response:
        with self._world.looking() as state:
            movements = state.ledger.entries
            return self._pages.render(
                "controls.html",
                status=status,
                worker=None,
                local=True,
                here="controls",
                done=done,
                error=error,
                declaration=declaration or self._example,
                jumps=JUMPS,
                now=self._world.clock.now(),
                running=self._world.clock.running,
                account=state.ledger,
                counts=self._world.counts(),
                kinds=self._plan.kinds,
                faults=self._plan.as_json(),
                counted=COUNTED,
                ledger=movements[: -SHOWN - 1 : -1],
                movements=len(movements),
                journal=[_entry(entry) for entry in reversed(self._world.journal.entries[-SHOWN:])],
            )


def _sent(request: Request) -> dict[str, Any]:
    """Return the JSON object in a request's body. Its type must be JSON, which another site's form cannot send."""
    if not request.get_data():
        return {}
    if request.mimetype != "application/json":
        raise InputError("Send JSON, with Content-Type: application/json.")
    return _object(_value(request.get_data()))


def _value(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"This is not JSON: {error}") from error


def _object(sent: Any) -> dict[str, Any]:
    if not isinstance(sent, dict):
        raise InputError("Send a JSON object, in braces.")
    return sent


def _json(value: Any, status: int = 200) -> Response:
    """Answer in JSON: amounts as text with two decimals, instants in ISO 8601."""

    def text(each: Decimal | datetime) -> str:
        return f"{each:.2f}" if isinstance(each, Decimal) else each.isoformat()

    return Response(json.dumps(value, indent=1, default=text) + "\n", status, mimetype="application/json")


def _entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    words = shorten(json.dumps(entry["arguments"], ensure_ascii=False), 160, placeholder=" …")
    return {"at": datetime.fromisoformat(entry["at"]), "act": entry["act"], "words": words}
