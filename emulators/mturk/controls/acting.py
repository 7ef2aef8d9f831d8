"""What the controls do to a world: each act takes what was sent and returns what it made of it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, get_args

from emulators.mturk.clock import ClockError
from emulators.mturk.controls.summary import clock
from emulators.mturk.errors import Refusal
from emulators.mturk.faults.declaring import FaultError, declare
from emulators.mturk.faults.plan import FaultPlan
from emulators.mturk.state import Reissue
from emulators.mturk.world import World

Given = Mapping[str, Any]

LONGEST = 315_360_000  # seconds: ten years
PROFILE = {"worker_id": str, "approved": int, "approval_rate": int, "locale": str, "masters": bool, "adult": bool}


class ControlError(Exception):
    """What was sent makes no sense; the text is one line for the person who sent it."""


class Act:
    """The acts of the controls on one world and its faults. All raise ControlError and then change nothing."""

    def __init__(self, world: World, plan: FaultPlan) -> None:
        self._world = world
        self._plan = plan

    def move_clock(self, given: Given) -> dict[str, Any]:
        """``to`` an instant (ISO 8601) or ``forward_seconds``; ``running``: whether it goes on from there."""
        _check_names(given, ("to", "forward_seconds", "running"))
        was_running = self._world.clock.stopped_at is None
        try:
            to = datetime.fromisoformat(given["to"]) if "to" in given else None
            by = timedelta(seconds=_seconds(given, "forward_seconds"))
            self._world.move_clock(to, by=by, running=_flag(given, "running", was_running))
        except (ClockError, ValueError, TypeError) as error:
            raise ControlError(str(error)) from error
        return clock(self._world)

    def set_balance(self, given: Given) -> dict[str, Any]:
        _check_names(given, ("available",))
        return self._world.act("set_balance", available=_amount(given, "available"))

    def set_premium_fee(self, given: Given) -> dict[str, Any]:
        _check_names(given, ("qualification_type_id", "fee"))
        id = given.get("qualification_type_id")
        if not isinstance(id, str) or not id:
            raise ControlError("qualification_type_id is missing; it names the type that costs more.")
        return self._world.act("set_premium_fee", qualification_type_id=id, fee=_amount(given, "fee"))

    def set_reissue(self, given: Given) -> dict[str, Any]:
        _check_names(given, ("policy",))
        policies = get_args(Reissue)
        if given.get("policy") not in policies:
            raise ControlError(f"policy is {given.get('policy')!r}; choose one of: {', '.join(policies)}.")
        return self._world.act("set_reissue", policy=given["policy"])

    def register_worker(self, given: Given) -> dict[str, Any]:
        _check_names(given, tuple(PROFILE))
        for name, value in given.items():
            if type(value) is not PROFILE[name]:
                raise ControlError(f"{name} is {value!r}; it must be of type {PROFILE[name].__name__}.")
        try:
            return {"WorkerId": self._world.register_worker(**given)}
        except Refusal as error:
            raise ControlError(str(error)) from error

    def add_fault(self, given: Given) -> dict[str, Any]:
        try:
            fault = declare(given)
        except FaultError as error:
            raise ControlError(str(error)) from error
        id = self._plan.add(fault)
        self._world.act("note", what="fault set", about={"id": id, **fault.as_json()})
        return {"id": id}

    def clear_fault(self, given: Given) -> dict[str, Any]:
        if not self._plan.clear(str(given.get("id"))):
            raise ControlError(f"There is no fault {given.get('id')!r}; it may have been cleared already.")
        self._world.act("note", what="fault cleared", about={"id": given["id"]})
        return {"cleared": 1}

    def clear_faults(self, given: Given) -> dict[str, Any]:
        cleared = self._plan.clear_all()
        self._world.act("note", what="all faults cleared", about={"cleared": cleared})
        return {"cleared": cleared}


def _check_names(given: Given, known: tuple[str, ...]) -> None:
    if unknown := sorted(given.keys() - set(known)):
        raise ControlError(f"There is no {unknown[0]!r} here; this takes: {', '.join(known)}.")


def _amount(given: Given, name: str) -> str:
    text = given.get(name)
    try:
        amount = Decimal(text) if isinstance(text, str) else Decimal("NaN")
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0 or amount != round(amount, 2):
        raise ControlError(f'{name} is {text!r}; it must be dollars and cents in quotes, such as "4.20".')
    return f"{amount:.2f}"


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
