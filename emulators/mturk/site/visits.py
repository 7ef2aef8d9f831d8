"""One request to the workers' site: the world it looks at, and who is signed in."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from werkzeug import Request, Response
from werkzeug.utils import redirect

from emulators.mturk.faults.work import Work
from emulators.mturk.site.rendering import page
from emulators.mturk.world import World

COOKIE = "mturk_emulator_worker"


class NotSignedInError(Exception):
    """Nobody is signed in, and this page is for workers."""


@dataclass(frozen=True)
class Visit:
    """``work`` does what workers do, faults included; ``local``: the visitor sits at this machine."""

    world: World
    work: Work
    request: Request
    local: bool

    @cached_property
    def worker_id(self) -> str | None:
        """The worker that is signed in with this browser, if this world knows them."""
        named = self.request.cookies.get(COOKIE)
        with self.world.looking() as state:
            return named if named in state.workers else None

    def require_worker(self) -> str:
        """Return who is signed in. Raises NotSignedInError."""
        if worker_id := self.worker_id:
            return worker_id
        raise NotSignedInError

    @property
    def origin(self) -> str:
        return self.request.host_url.rstrip("/")

    def page(self, template: str, *, here: str = "", status: int = 200, **context: Any) -> Response:
        common: Mapping[str, Any] = {"worker": self.worker_id, "local": self.local, "here": here}
        return page(template, status=status, **common, **context)

    def trouble(self, heading: str, text: str, *, status: int) -> Response:
        return self.page("trouble.html", status=status, heading=heading, text=text)


def go(path: str, **parameters: str) -> Response:
    """Send the browser on, by a GET."""
    return redirect(f"{path}?{urlencode(parameters)}" if parameters else path, 303)
