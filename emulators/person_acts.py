"""What people do at a marketplace's site, and the time that passes before it."""

from datetime import timedelta
from typing import Any, Generic, TypeVar

from emulators.faults import FaultPlan
from emulators.marketplace import Marketplace

World = TypeVar("World", bound=Marketplace[Any])


class PersonActs(Generic[World]):
    """Acts for people. Faults happen to them by the names of their operations."""

    def __init__(self, world: World, plan: FaultPlan) -> None:
        self._world = world
        self._plan = plan

    def let_time_pass(self, operation: str) -> None:
        """Move the clock where a fault says so."""
        for fault in self._plan.happening(operation, "clock"):
            by = timedelta(seconds=fault.settings["seconds"])
            self._world.move_clock(by=by, running=self._world.clock.running)
