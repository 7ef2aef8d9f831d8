"""The controls that only Prolific has: participants and submissions."""

from collections.abc import Callable
from typing import Any

from counterpart_emulators.control_panel import Act, rows_of
from counterpart_emulators.inputs import TEXT, number, one_of
from counterpart_emulators.prolific.participants import DEVICES
from counterpart_emulators.prolific.world import World

PER_CENT = number("a whole number, 0 to 100", most=100, whole=True)
PROFILE = {"participant_id": TEXT, "approval_rate": PER_CENT, "device": one_of(*DEVICES, required=False)}


def readers(world: World) -> dict[str, Callable[[], Any]]:
    """Return what can be read, by address."""
    people = {"id": "id", "approval_rate": "approval_rate", "device": "device", "earned": "earned"}
    work = {name: name for name in ("id", "status", "entered_code", "paid", "bonuses")}
    return {
        "participants": rows_of(world, "participants", **people),
        "submissions": rows_of(world, "submissions", study="study.id", participant="participant_id", **work),
    }


def acts(world: World) -> dict[str, Act]:
    """Return what can be done, by address."""
    return {"participants": (PROFILE, lambda **profile: {"participant_id": world.register(**profile)})}
