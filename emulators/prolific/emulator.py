"""The whole emulator on one port: the API, the participants' site, the controls, and the courier of webhooks."""

from collections.abc import Callable
from pathlib import Path
from typing import Self

from werkzeug import Request

from emulators.control_panel import Controls, is_local
from emulators.faults import FaultPlan
from emulators.prolific import TOKEN, control_panel
from emulators.prolific.api import Api
from emulators.prolific.call_faults import CallFaults
from emulators.prolific.courier import Courier
from emulators.prolific.fault_kinds import EXAMPLE, KINDS
from emulators.prolific.participant_acts import ParticipantActs
from emulators.prolific.site import VIEWS, ParticipantVisit
from emulators.prolific.world import World
from emulators.server import Server
from emulators.web_pages import Pages

SIGNS = {"USD": "$", "GBP": "£"}


class Emulator(Server):
    """A world served over HTTP. Raises OSError for a taken port.

    ``plan`` holds the faults that are set. ``may_control`` decides which requests may use the controls.
    """

    token = TOKEN

    def __init__(
        self,
        world: World | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        may_control: Callable[[Request], bool] = is_local,
    ) -> None:
        self.world = world or World()
        self.plan = FaultPlan(KINDS, self.world.clock.now)
        acts = ParticipantActs(self.world, self.plan)
        currency = self.world.look(lambda state: state.currency)
        pages = Pages(Path(__file__).parent, name="Prolific", currency=SIGNS[currency])
        controls = Controls(
            self.world,
            self.plan,
            pages,
            may_control=may_control,
            example=EXAMPLE,
            readers=control_panel.readers(self.world),
            acts=control_panel.acts(self.world),
        )
        rules = [
            *Api(self.world, CallFaults(self.world, self.plan)).rules(),
            *ParticipantVisit.rules(
                VIEWS, lambda request: ParticipantVisit(self.world, acts, pages, request, may_control(request))
            ),
            *pages.rules(),
            *controls.rules(),
        ]
        super().__init__(rules, host=host, port=port)
        self._courier = Courier(self.world, self.plan)

    def __enter__(self) -> Self:
        self._courier.start()
        return super().__enter__()

    def stop(self) -> None:
        self._courier.stop()
        super().stop()
