"""A marketplace on a port, with what each of them has: faults, pages and controls."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from werkzeug import Request
from werkzeug.routing import Rule

from emulators.control_panel import Act, Controls, Read
from emulators.faults import FaultPlan, Kind
from emulators.marketplace import Marketplace
from emulators.server import Server
from emulators.web_pages import Pages

World = TypeVar("World", bound=Marketplace[Any])


class MarketServer(Server, Generic[World]):
    """A world served over HTTP. Raises OSError for a taken port.

    ``plan`` holds the faults that are set, of these ``kinds``. The ``folder`` has the pages; ``readers`` and ``acts``
    are the controls that only this marketplace has. ``may_control`` decides which requests may use the controls.
    """

    def __init__(
        self,
        world: World,
        *,
        name: str,
        folder: Path,
        currency: str,
        kinds: Mapping[str, Kind],
        example: str,
        readers: dict[str, Read],
        acts: dict[str, Act],
        may_control: Callable[[Request], bool],
        host: str,
        port: int,
    ) -> None:
        self.world = world
        self.plan = FaultPlan(kinds, world.clock.now)
        self.may_control = may_control
        self.pages = Pages(folder, name=name, currency=currency)
        controls = Controls(
            world, self.plan, self.pages, may_control=may_control, example=example, readers=readers, acts=acts
        )
        super().__init__([*self.pages.rules(), *controls.rules(), *self.own_rules()], host=host, port=port)

    def own_rules(self) -> Iterable[Rule]:
        """Return the rules of the API and of the site."""
        raise NotImplementedError
