"""The controls that only MTurk has: workers, premium fees and reissued ids."""

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any, get_args

from counterpart_emulators.control_panel import Act, rows_of
from counterpart_emulators.inputs import AMOUNT, FLAG, TEXT, Setting, number, one_of
from counterpart_emulators.mturk.state import Reissue, Worker
from counterpart_emulators.mturk.world import World

ID = Setting("the id of a qualification type", TEXT.holds, required=True)
COUNT = number("a whole number, 0 or more", whole=True)
PER_CENT = number("a whole number, 1 to 100", least=1, most=100, whole=True)
PROFILE = {"worker_id": TEXT, "approved": COUNT, "approval_rate": PER_CENT}
PROFILE |= {"locale": TEXT, "masters": FLAG, "adult": FLAG}


def readers(world: World) -> dict[str, Callable[[], Any]]:
    """Return what can be read, by address."""
    names = {field.name: field.name for field in fields(Worker) if field.name != "assignments"}
    return {"workers": rows_of(world, "workers", **names)}


def acts(world: World) -> dict[str, Act]:
    """Return what can be done, by address."""
    return {
        "workers": (PROFILE, lambda **profile: {"WorkerId": world.register_worker(**profile)}),
        "premium-fees": ({"qualification_type_id": ID, "fee": AMOUNT}, partial(world.act, "set_premium_fee")),
        "reissue": ({"policy": one_of(*get_args(Reissue))}, partial(world.act, "set_reissue")),
    }
