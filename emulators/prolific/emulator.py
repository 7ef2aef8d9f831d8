"""The whole emulator on one port: the API, the participants' site, the controls, and the courier of webhooks."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

from werkzeug import Request
from werkzeug.routing import Rule

from emulators.control_panel import is_local
from emulators.market_server import MarketServer
from emulators.prolific import TOKEN, control_panel
from emulators.prolific.api import Api
from emulators.prolific.call_faults import CallFaults
from emulators.prolific.courier import Courier
from emulators.prolific.fault_kinds import EXAMPLE, KINDS
from emulators.prolific.participant_acts import ParticipantActs
from emulators.prolific.site import VIEWS, ParticipantVisit
from emulators.prolific.world import World

SIGNS = {"USD": "$", "GBP": "£"}


class Emulator(MarketServer[World]):
    """A world served over HTTP. Raises OSError for a taken port."""

    token = TOKEN

    def __init__(
        self,
        world: World | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        may_control: Callable[[Request], bool] = is_local,
    ) -> None:
        world = world or World()
        super().__init__(
            world,
            name="Prolific",
            folder=Path(__file__).parent,
            currency=SIGNS[world.look(lambda state: state.currency)],
            kinds=KINDS,
            example=EXAMPLE,
            readers=control_panel.readers(world),
            acts=control_panel.acts(world),
            may_control=may_control,
            host=host,
            port=port,
        )
        self._courier = Courier(world, self.plan)

    def own_rules(self) -> Iterator[Rule]:
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
