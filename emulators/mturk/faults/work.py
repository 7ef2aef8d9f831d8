"""What workers do, and the faults that meet them while they do it."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from emulators.mturk.faults.answers import misshapen
from emulators.mturk.faults.plan import FaultPlan
from emulators.mturk.world import World

Parameters = list[tuple[str, str]]

ADDRESSES: Mapping[str, Callable[[Parameters], Parameters]] = {
    "slash": lambda given: [(name, f"{value}/" if name == "turkSubmitTo" else value) for name, value in given],
    "repeated": lambda given: [*given, *given],
    "contradicting": lambda given: [*given, ("assignmentId", "3SOMEBODYELSES")],
    "no worker": lambda given: [(name, value) for name, value in given if name != "workerId"],
}


class Work:
    """Acts on the world in a worker's name. Faults name these operations: preview, accept, work, submit and return.

    All raise Refusal.
    """

    def __init__(self, world: World, plan: FaultPlan) -> None:
        self._world = world
        self._plan = plan

    def accept(self, hit_id: str, worker_id: str) -> dict[str, Any]:
        self._let_time_pass("accept")
        policies = [fault.settings["to"] for fault in self._plan.happening("accept", "reissue")]
        if not policies:
            return self._world.accept(hit_id, worker_id)
        with self._world.lock:
            with self._world.looking() as state:
                usual = state.reissue
            self._world.act("set_reissue", policy=policies[0])
            try:
                return self._world.accept(hit_id, worker_id)
            finally:
                self._world.act("set_reissue", policy=usual)

    def submit(self, assignment_id: str, worker_id: str, fields: Mapping[str, str]) -> dict[str, Any]:
        self._let_time_pass("submit")
        shapes = [fault.settings["shape"] for fault in self._plan.happening("submit", "answer")]
        answer = misshapen(shapes[0], fields) if shapes else None
        return self._world.submit(assignment_id, worker_id, dict(fields), answer=answer)

    def return_assignment(self, assignment_id: str, worker_id: str) -> dict[str, Any]:
        self._let_time_pass("return")
        return self._world.return_assignment(assignment_id, worker_id)

    def address(self, operation: str, parameters: Parameters) -> Parameters:
        """Return the parameters that a task's address is given on ``preview`` or ``work``."""
        for fault in self._plan.happening(operation, "address"):
            parameters = ADDRESSES[fault.settings["form"]](parameters)
        return parameters

    def _let_time_pass(self, operation: str) -> None:
        for fault in self._plan.happening(operation, "clock"):
            running = self._world.clock.stopped_at is None
            self._world.move_clock(by=timedelta(seconds=fault.settings["seconds"]), running=running)
