"""The whole emulator on one port: the Requester API, the workers' site, the faults and the controls."""

from collections.abc import Callable, Iterable
from pathlib import Path

from werkzeug import Request
from werkzeug.routing import Rule

from emulators.controls import Controls, is_local
from emulators.faults import FaultPlan
from emulators.mturk import controls
from emulators.mturk.api import RequesterApi
from emulators.mturk.faults.calls import CallFaults
from emulators.mturk.faults.kinds import EXAMPLE, KINDS
from emulators.mturk.faults.work import Work
from emulators.mturk.signing import OTHER_ACCOUNT, REQUESTER, Credential
from emulators.mturk.site import Site
from emulators.mturk.world import World
from emulators.pages import Pages
from emulators.server import Server


class Emulator(Server):
    """A world served over HTTP. Raises OSError for a taken port.

    ``may_control`` decides which requests may use the controls; ``plan`` holds the faults that are set.
    """

    def __init__(
        self,
        world: World | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        may_control: Callable[[Request], bool] = is_local,
        credentials: Iterable[Credential] = (REQUESTER, OTHER_ACCOUNT),
    ) -> None:
        self.world = world or World()
        self.plan = FaultPlan(KINDS, self.world.clock.now)
        self.work = Work(self.world, self.plan)
        self.api = RequesterApi(self.world, CallFaults(self.world, self.plan), credentials)
        pages = Pages(Path(__file__).parent, name="MTurk")
        console = Controls(
            self.world,
            self.plan,
            pages,
            may_control=may_control,
            example=EXAMPLE,
            readers=controls.readers(self.world),
            acts=controls.acts(self.world),
        )
        site = Site(self.world, self.work, pages, is_local=may_control)
        api = Rule("/", methods=["POST"], endpoint=self.api)
        super().__init__([api, *pages.rules(), *site.rules(), *console.rules()], host=host, port=port)
