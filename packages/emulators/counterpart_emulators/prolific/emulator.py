"""The whole emulator on one port: the API, the participants' site, the controls, and the courier of webhooks."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Self

from werkzeug.routing import Rule

from counterpart_emulators.market_server import MarketServer
from counterpart_emulators.prolific import TOKEN, control_panel
from counterpart_emulators.prolific.api import Api
from counterpart_emulators.prolific.call_faults import CallFaults
from counterpart_emulators.prolific.courier import Courier
from counterpart_emulators.prolific.fault_kinds import EXAMPLE, KINDS
from counterpart_emulators.prolific.participant_acts import ParticipantActs
from counterpart_emulators.prolific.site import VIEWS, ParticipantVisit
from counterpart_emulators.prolific.world import World

SIGNS = {"USD": "$", "GBP": "£"}


class Emulator(MarketServer[World]):
    """Prolific served over HTTP."""

    name = "Prolific"
    folder = Path(__file__).parent
    kinds = KINDS
    example = EXAMPLE
    controls: ClassVar = control_panel
    new_world = World
    token = TOKEN

    def currency(self) -> str:
        return SIGNS[self.world.look(lambda state: state.currency)]

    def own_rules(self) -> Iterator[Rule]:
        self._courier = Courier(self.world, self.plan)
        acts = ParticipantActs(self.world, self.plan)
        yield from Api(self.world, CallFaults(self.world, self.plan)).rules()
        yield from ParticipantVisit.rules(
            VIEWS,
            lambda request: ParticipantVisit(self.world, acts, self.pages, request, self.may_control(request)),
        )

    def __enter__(self) -> Self:
        self._courier.start()
        return super().__enter__()

    def stop(self) -> None:
        self._courier.stop()
        super().stop()
