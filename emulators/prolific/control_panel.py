"""What the controls can read and do on Prolific in particular: participants and submissions."""

from collections.abc import Callable
from typing import Any

from emulators.control_panel import Act
from emulators.inputs import TEXT, number, one_of
from emulators.prolific.participants import DEVICES, earned
from emulators.prolific.world import World

PER_CENT = number("a whole number, 0 to 100", most=100, whole=True)
PROFILE = {"participant_id": TEXT, "approval_rate": PER_CENT, "device": one_of(*DEVICES, required=False)}


def readers(world: World) -> dict[str, Callable[[], Any]]:
    """Return what can be read, by address."""

    def participants() -> list[dict[str, Any]]:
        with world.looking() as state:
            return [
                {"id": each.id, "approval_rate": each.approval_rate, "device": each.device, "earned": earned(each)}
                for each in state.participants.values()
            ]

    def submissions() -> list[dict[str, Any]]:
        with world.looking() as state:
            return [
                {
                    "id": each.id,
                    "study": each.study.id,
                    "participant": each.participant_id,
                    "status": each.status,
                    "entered_code": each.entered_code,
                    "paid": each.paid,
                    "bonuses": each.bonuses,
                }
                for each in state.submissions.values()
            ]

    return {"participants": participants, "submissions": submissions}


def acts(world: World) -> dict[str, Act]:
    """Return what can be done, by address."""
    return {"participants": (PROFILE, lambda **profile: {"participant_id": world.register(**profile)})}
