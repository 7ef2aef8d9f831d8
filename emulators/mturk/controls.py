"""What the controls can read and do on MTurk in particular: workers, premium fees and reissued ids."""

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any, get_args

from emulators.controls import ControlError, Given, amount, check_names, plain
from emulators.mturk.errors import Refusal
from emulators.mturk.state import Reissue, Worker
from emulators.mturk.world import World

PROFILE = {"worker_id": str, "approved": int, "approval_rate": int, "locale": str, "masters": bool, "adult": bool}


def readers(world: World) -> dict[str, Callable[[], Any]]:
    """Return what can be read, by address."""
    return {"workers": partial(_workers, world)}


def acts(world: World) -> dict[str, Callable[[Given], dict[str, Any]]]:
    """Return what can be done, by address. All raise ControlError."""
    return {
        "workers": partial(_register_worker, world),
        "premium-fees": partial(_set_premium_fee, world),
        "reissue": partial(_set_reissue, world),
    }


def _workers(world: World) -> list[dict[str, Any]]:
    names = [field.name for field in fields(Worker) if field.name != "assignments"]
    with world.looking() as state:
        return [plain({name: getattr(worker, name) for name in names}) for worker in state.workers.values()]


def _register_worker(world: World, given: Given) -> dict[str, Any]:
    check_names(given, tuple(PROFILE))
    for name, value in given.items():
        if type(value) is not PROFILE[name]:
            raise ControlError(f"{name} is {value!r}; it must be of type {PROFILE[name].__name__}.")
    try:
        return {"WorkerId": world.register_worker(**given)}
    except Refusal as error:
        raise ControlError(str(error)) from error


def _set_premium_fee(world: World, given: Given) -> dict[str, Any]:
    check_names(given, ("qualification_type_id", "fee"))
    id = given.get("qualification_type_id")
    if not isinstance(id, str) or not id:
        raise ControlError("qualification_type_id is missing; give the id of the type that costs more.")
    return world.act("set_premium_fee", qualification_type_id=id, fee=amount(given, "fee"))


def _set_reissue(world: World, given: Given) -> dict[str, Any]:
    check_names(given, ("policy",))
    policies = get_args(Reissue)
    if given.get("policy") not in policies:
        raise ControlError(f"policy is {given.get('policy')!r}; choose one of: {', '.join(policies)}.")
    return world.act("set_reissue", policy=given["policy"])
