"""The faults between a researcher's call and its answer: those of every API, a busy crowd, and readings that lag."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from werkzeug import Response

from counterpart_emulators import call_faults
from counterpart_emulators.marketplace import Refusal
from counterpart_emulators.prolific.errors import ProlificError
from counterpart_emulators.prolific.state import State
from counterpart_emulators.prolific.submissions import seen_at
from counterpart_emulators.prolific.world import World
from counterpart_emulators.server import Drop

Fields = dict[str, Any]
SHOWN_LATE = ("list_submissions", "show_submission")
DECIDING = ("AWAITING REVIEW", "APPROVED")  # what a fleeting PROCESSING hides


class CallFaults(call_faults.CallFaults[World]):
    """Makes the faults happen to calls; the API asks it before and after every call, outside the lock."""

    def busy(self) -> ProlificError:
        return ProlificError("Request was throttled.", status=429)

    def failed(self, status: int, body: str) -> Response | ProlificError:
        if body == "json":
            return ProlificError("The request failed.", status=status)
        # An undocumented shape that clients get as well.
        return Response('{"message": "Internal error", "detail": null}', status, mimetype="application/json")

    def before(self, operation: str, ids: dict[str, str]) -> Response | Drop | ProlificError | None:
        """Change the world, wait, and return the answer of a fault that replaces the call; None to make the call."""
        for fault in self._plan.happening(operation, "crowd"):
            with suppress(Refusal, ProlificError):  # a full study admits no participant
                CROWD[fault.settings["act"]](self._world, ids)
        instead: Response | Drop | ProlificError | None = self.before_all(operation)
        return instead

    def delays(self, operation: str) -> Fields:
        """Return how long a call's effect takes, where a fault changes it."""
        late = self._plan.happening(operation, "publishing", "late")
        return {"seconds": late[-1].settings["seconds"]} if late else {}

    def after(self, operation: str, result: Any) -> Any:
        """Return the answer to a call that was made: its result, or that of a fault."""
        if (dropped := self.after_all(operation)) is not None:
            return dropped
        if operation not in SHOWN_LATE:
            return result
        rows = result if isinstance(result, list) else [result]
        with self._world.looking() as state:
            for fault in self._plan.happening(operation, "lag"):
                rows = _as_of(state, rows, fault.settings["seconds"])
        if self._plan.happening(operation, "processing"):
            rows = [row | {"status": "PROCESSING"} if row["status"] in DECIDING else row for row in rows]
        return rows if isinstance(result, list) else rows[0]

    def page(self, operation: str) -> tuple[int, bool]:
        """Return by how many rows the pages of a listing are off, and whether a full last page names a next one."""
        off = sum(fault.settings["by"] for fault in self._plan.happening(operation, "shift"))
        return off, bool(self._plan.happening(operation, "next"))


def _as_of(state: State, rows: list[Fields], seconds: float) -> list[Fields]:
    return [seen_at(state, row, state.now - timedelta(seconds=seconds)) for row in rows]


def _study_of(world: World, ids: dict[str, str]) -> str:
    """Return the study that a call is about, or the latest one."""
    with world.looking() as state:
        if (submission := state.submissions.get(ids.get("submission_id", ""))) is not None:
            return submission.study.id
        named = ids.get("study_id") or ids.get("study") or ""
        return named if named in state.studies else next(reversed(state.studies), "")


def _reserve(world: World, ids: dict[str, str]) -> tuple[str, str]:
    participant = world.register()
    reserved = world.act("reserve", study_id=_study_of(world, ids), participant_id=participant)
    return reserved["submission_id"], participant


def _complete(world: World, ids: dict[str, str]) -> None:
    submission_id, participant = _reserve(world, ids)
    world.act("start", submission_id=submission_id, participant_id=participant)
    world.act("complete", submission_id=submission_id, participant_id=participant, code="NOCODE")


def _give_back(world: World, ids: dict[str, str]) -> None:
    """Let the latest participant who still can return their work."""
    study_id = _study_of(world, ids)
    with world.looking() as state:
        rows = reversed(state.studies[study_id].submissions)
        last = next((each for each in rows if each.status in ("RESERVED", "ACTIVE", "AWAITING REVIEW")), None)
    if last is not None:
        world.act("return", submission_id=last.id, participant_id=last.participant_id)


def _add_place(world: World, ids: dict[str, str]) -> None:
    study_id = _study_of(world, ids)
    places = world.look(lambda state: state.studies[study_id].places)
    world.act("change_study", study_id=study_id, total_available_places=places + 1)


def _stop(world: World, ids: dict[str, str]) -> None:
    world.act("move_study", study_id=_study_of(world, ids), action="STOP", publish_at=None)


CROWD: dict[str, Callable[[World, dict[str, str]], Any]] = {
    "reserve": _reserve,
    "complete": _complete,
    "return": _give_back,
    "places": _add_place,
    "stop": _stop,
}
