"""The controls under ``/_emulator/``: clock, balance, faults, ledger and journal, as JSON for programs and on one page
for people. Only this machine may use them."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from ipaddress import ip_address
from textwrap import shorten
from typing import Any

from werkzeug import Request, Response
from werkzeug.routing import Rule

from emulators.clock import ClockError
from emulators.faults import FaultError, FaultPlan
from emulators.marketplace import Marketplace
from emulators.money import read_amount
from emulators.pages import Pages, go

Given = Mapping[str, Any]
Read = Callable[[], Any]
Act = Callable[[Given], Any]

HOST_NAMES = ("localhost", "127.0.0.1", "[::1]")
LONGEST = 315_360_000  # seconds: ten years
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


class ControlError(Exception):
    """Invalid input; the text is one line for the person who sent it."""


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

    ``readers`` and ``acts`` are the marketplace's own, by their addresses. An act that raises ControlError has changed
    nothing.
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
        ours: dict[str, Act] = {"clock": self._move_clock, "balance": self._set_balance, "faults": self._add_fault}
        self._acts = ours | acts

    def rules(self) -> Iterator[Rule]:
        """Return a rule for every address."""

        def rule(method: str, path: str, view: Callable[..., Response]) -> Rule:
            return Rule(f"/_emulator/{path}", methods=[method], endpoint=partial(self._guarded, view))

        def read(path: str) -> Callable[[Request], Response]:
            return lambda request: _json(self._readers[path]())

        def act(path: str) -> Callable[[Request], Response]:
            return lambda request: _json(self._acts[path](_sent(request)))

        yield from (rule("GET", path, read(path)) for path in self._readers)
        yield from (rule("POST", path, act(path)) for path in self._acts)
        yield rule("DELETE", "faults", lambda request: _json(self._clear_faults()))
        yield rule("DELETE", "faults/<id>", lambda request, id: _json(self._clear_fault(id)))
        yield rule("GET", "journal", self._journal)
        yield rule("GET", "", lambda request: self._page(done=DONE.get(request.args.get("done", ""), "")))
        yield rule("POST", f"page/<any({', '.join(DONE)}):button>", self._press)

    def _guarded(self, view: Callable[..., Response], request: Request, **values: str) -> Response:
        if not self._may_control(request):
            return _json({"error": "Only this machine may use the controls."}, 403)
        try:
            return view(request, **values)
        except ControlError as error:
            return _json({"error": str(error)}, 400)

    def _summary(self) -> dict[str, Any]:
        with self._world.looking() as state:
            money = {
                "available": f"{state.ledger.available:.2f}",
                "on_hold": f"{state.ledger.on_hold:.2f}",
                "spent": f"{state.ledger.spent:.2f}",
            }
            return {"seed": self._world.seed, "clock": self._clock(), "balance": money, **self._world.counts()}

    def _clock(self) -> dict[str, Any]:
        return {"now": self._world.clock.now().isoformat(), "running": self._world.clock.running}

    def _ledger(self) -> list[dict[str, Any]]:
        with self._world.looking() as state:
            return [plain(asdict(entry)) for entry in state.ledger.entries]

    def _journal(self, request: Request) -> Response:
        """Return up to 200 entries after the first ``after`` ones, and the number to continue from."""
        after = request.args.get("after", "0")
        if not after.isdigit():
            raise ControlError(f"after is {after!r}; it must be the number of entries that are known already.")
        with self._world.lock:
            entries = self._world.journal.entries[int(after) : int(after) + ENTRIES]
        return _json({"entries": entries, "after": int(after) + len(entries)})

    def _move_clock(self, given: Given) -> dict[str, Any]:
        """``to``: an instant (ISO 8601), or ``forward_seconds``; ``running``: whether the clock continues then."""
        check_names(given, ("to", "forward_seconds", "running"))
        try:
            to = datetime.fromisoformat(given["to"]) if "to" in given else None
            by = timedelta(seconds=_seconds(given, "forward_seconds"))
            self._world.move_clock(to, by=by, running=_flag(given, "running", self._world.clock.running))
        except (ClockError, ValueError, TypeError) as error:
            raise ControlError(str(error)) from error
        return self._clock()

    def _set_balance(self, given: Given) -> dict[str, Any]:
        check_names(given, ("available",))
        return self._world.act("set_balance", available=amount(given, "available"))

    def _add_fault(self, given: Given) -> dict[str, Any]:
        try:
            id = self._plan.add(given)
        except FaultError as error:
            raise ControlError(str(error)) from error
        self._note("fault set", {"id": id, **given})
        return {"id": id}

    def _clear_fault(self, id: str) -> dict[str, Any]:
        if not self._plan.clear(id):
            raise ControlError(f"There is no fault {id!r}; it may have been cleared already.")
        self._note("fault cleared", {"id": id})
        return {"cleared": 1}

    def _clear_faults(self) -> dict[str, Any]:
        cleared = self._plan.clear_all()
        self._note("all faults cleared", {"cleared": cleared})
        return {"cleared": cleared}

    def _note(self, what: str, about: dict[str, Any]) -> None:
        self._world.act("note", what=what, about=about)

    def _press(self, request: Request, button: str) -> Response:
        """Do what a button of the page says. Invalid input is explained on the page and kept in its form."""
        form = request.form
        presses: dict[str, Callable[[], Any]] = {
            "clock": lambda: self._move_clock({name: _value(text) for name, text in form.items()}),
            "balance": lambda: self._set_balance(form.to_dict()),
            "faults": lambda: self._add_fault(_object(_value(form.get("declaration", "")))),
            "clear": lambda: self._clear_fault(form.get("id", "")),
        }
        try:
            presses[button]()
        except ControlError as error:
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
                faults=[_in_words(fault) for fault in self._plan.as_json()],
                ledger=movements[: -SHOWN - 1 : -1],
                movements=len(movements),
                journal=[_entry(entry) for entry in reversed(self._world.journal.entries[-SHOWN:])],
            )


def check_names(given: Given, known: tuple[str, ...]) -> None:
    """Raise ControlError for a name that is not known."""
    if unknown := sorted(given.keys() - set(known)):
        raise ControlError(f"Unknown name {unknown[0]!r}; the names are: {', '.join(known)}.")


def amount(given: Given, name: str) -> str:
    """Return an amount in dollars. Raises ControlError."""
    try:
        return f"{read_amount(given.get(name)):.2f}"
    except ValueError:
        raise ControlError(f'{name} is {given.get(name)!r}; it must be an amount in quotes, such as "4.20".') from None


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row that JSON can hold."""

    def text(value: Any) -> Any:
        if isinstance(value, Decimal):
            return f"{value:.2f}"
        return value.isoformat() if isinstance(value, datetime) else value

    return {name: text(value) for name, value in row.items()}


def _seconds(given: Given, name: str) -> float:
    value = given.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LONGEST:
        raise ControlError(f"{name} is {value!r}; it must be a number of seconds from 0 to {LONGEST} (ten years).")
    return value


def _flag(given: Given, name: str, default: bool) -> bool:
    value = given.get(name, default)
    if not isinstance(value, bool):
        raise ControlError(f"{name} is {value!r}; it must be true or false.")
    return value


def _sent(request: Request) -> dict[str, Any]:
    """Return the JSON object in a request's body. Its type must be JSON, which another site's form cannot send."""
    if not request.get_data():
        return {}
    if request.mimetype != "application/json":
        raise ControlError("Send JSON, with Content-Type: application/json.")
    return _object(_value(request.get_data()))


def _value(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ControlError(f"This is not JSON: {error}") from error


def _object(sent: Any) -> dict[str, Any]:
    if not isinstance(sent, dict):
        raise ControlError("Send a JSON object, in braces.")
    return sent


def _json(value: Any, status: int = 200) -> Response:
    return Response(json.dumps(value, indent=1) + "\n", status, mimetype="application/json")


def _in_words(fault: Mapping[str, Any]) -> dict[str, Any]:
    details = ", ".join(f"{name} {value}" for name, value in fault.items() if name not in COUNTED)
    return {**fault, "words": details}


def _entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    words = shorten(json.dumps(entry["arguments"], ensure_ascii=False), 160, placeholder=" …")
    return {"at": datetime.fromisoformat(entry["at"]), "act": entry["act"], "words": words}
