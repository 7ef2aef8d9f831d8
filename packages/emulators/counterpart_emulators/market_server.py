"""A marketplace on a port, with the faults, pages and controls that all of them have."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from werkzeug import Request
from werkzeug.routing import Rule

from counterpart_emulators.control_panel import Act, Controls, Read, is_local
from counterpart_emulators.faults import FaultKind, FaultPlan
from counterpart_emulators.marketplace import Marketplace
from counterpart_emulators.server import Server
from counterpart_emulators.web_pages import Pages

World = TypeVar("World", bound=Marketplace[Any])


class ControlPanel(Protocol):
    """The module with the controls that only one marketplace has."""

    def readers(self, world: Any) -> dict[str, Read]: ...

    def acts(self, world: Any) -> dict[str, Act]: ...


class MarketServer(Server, Generic[World]):
    """A world served over HTTP; a new one if none is given. Raises OSError for a taken port.

    ``folder`` has the pages, ``kinds`` are the faults that can be set, with an ``example`` of one; ``plan`` holds those
    that are set. ``may_control`` decides which requests may use the controls.
    """

    name: ClassVar[str]
    folder: ClassVar[Path]
    kinds: ClassVar[Mapping[str, FaultKind]]
    example: ClassVar[str]
    controls: ClassVar[ControlPanel]
    new_world: ClassVar[Callable[[], Any]]

    def __init__(
        self,
        world: World | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        may_control: Callable[[Request], bool] = is_local,
    ) -> None:
        self.world: World = world or type(self).new_world()
        self.plan = FaultPlan(self.kinds, self.world.clock.now)
        self.may_control = may_control
        self.pages = Pages(self.folder, name=self.name, currency=self.currency())
        readers = self.controls.readers(self.world)
        acts = self.controls.acts(self.world)
        controls = Controls(
            self.world,
            self.plan,
            self.pages,
            may_control=may_control,
            example=self.example,
            readers=readers,
            acts=acts,
        )
        super().__init__([*self.pages.rules(), *controls.rules(), *self.own_rules()], host=host, port=port)

    def currency(self) -> str:
        """Return the sign before every amount."""
        return "$"

    def own_rules(self) -> Iterable[Rule]:
        """Return the rules of the API and of the site."""
        raise NotImplementedError
