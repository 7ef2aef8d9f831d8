"""The controls for people: the clock, the money, the HITs, the faults and what happened last, on one page."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from textwrap import shorten
from typing import Any

from werkzeug import Request, Response

from emulators.mturk.controls import summary
from emulators.mturk.controls.acting import Act, ControlError
from emulators.mturk.faults.declaring import KINDS
from emulators.mturk.faults.plan import FaultPlan
from emulators.mturk.site.rendering import page
from emulators.mturk.site.visits import go
from emulators.mturk.world import World

JUMPS = (("1 minute", 60), ("1 hour", 3_600), ("1 day", 86_400), ("1 week", 604_800))
EXAMPLE = '{"kind": "drop", "operation": "CreateHITWithHITType", "nth": 1}'
SHOWN = 15  # the latest entries of the ledger and the journal
OWN = ("id", "kind", "operation", "met", "happened", "spent")

Form = Mapping[str, str]


class ControlPage:
    """Shows one world; each button is one act, and an act that is refused is explained on the page."""

    def __init__(self, world: World, plan: FaultPlan, act: Act) -> None:
        self._world = world
        self._plan = plan
        self._buttons: dict[str, tuple[str, Callable[[Form], Any]]] = {
            "clock": ("The clock was set.", lambda form: act.move_clock(_moved(form))),
            "balance": ("The balance was set.", lambda form: act.set_balance({"available": form.get("available")})),
            "faults": ("The fault is set.", lambda form: act.add_fault(_declared(form))),
            "clear": ("The fault is cleared.", lambda form: act.clear_fault({"id": form.get("id")})),
        }

    def show(self, request: Request) -> Response:
        done, _ = self._buttons.get(request.args.get("done", ""), ("", None))
        return self._shown(done=done)

    def act(self, request: Request, act: str) -> Response:
        if act not in self._buttons:
            return self._shown(error=f"There is no button {act!r} here.", status=404)
        try:
            self._buttons[act][1](request.form)
        except ControlError as error:
            return self._shown(error=str(error), declaration=request.form.get("declaration", EXAMPLE), status=400)
        return go("/_emulator/", done=act)

    def _shown(self, *, done: str = "", error: str = "", declaration: str = EXAMPLE, status: int = 200) -> Response:
        figures = summary.summary(self._world)
        figures["clock"]["now"] = datetime.fromisoformat(figures["clock"]["now"])
        ledger = summary.ledger(self._world)
        return page(
            "controls.html",
            status=status,
            worker=None,
            local=True,
            here="controls",
            done=done,
            error=error,
            declaration=declaration,
            jumps=JUMPS,
            kinds=KINDS,
            faults=[_in_words(fault) for fault in self._plan.as_json()],
            ledger=[_with_amounts(entry) for entry in ledger[: -SHOWN - 1 : -1]],
            movements=len(ledger),
            journal=[_entry(entry) for entry in reversed(self._world.journal.tail()[-SHOWN:])],
            **figures,
        )


def _moved(form: Form) -> dict[str, Any]:
    """Read a button of the clock: a jump forward, or stop and go."""
    if "running" in form:
        return {"running": form["running"] == "1"}
    seconds = form.get("forward_seconds", "")
    if not seconds.isdigit():
        raise ControlError(f"{seconds!r} is no number of seconds.")
    return {"forward_seconds": int(seconds)}


def _declared(form: Form) -> dict[str, Any]:
    try:
        declared = json.loads(form.get("declaration", ""))
    except ValueError as error:
        raise ControlError(f"The fault is not JSON: {error}") from error
    if not isinstance(declared, dict):
        raise ControlError(f"A fault is a JSON object, such as {EXAMPLE}")
    return declared


def _in_words(fault: Mapping[str, Any]) -> dict[str, Any]:
    details = ", ".join(f"{name} {value}" for name, value in fault.items() if name not in OWN)
    return {**fault, "words": details}


def _with_amounts(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {**entry, "available": Decimal(entry["available"]), "on_hold": Decimal(entry["on_hold"])}


def _entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    words = json.dumps(entry["arguments"], ensure_ascii=False)
    return {
        "at": datetime.fromisoformat(entry["at"]),
        "act": entry["act"],
        "words": shorten(words, 160, placeholder=" …"),
    }
