"""A request to the workers' site: which worker is signed in, and the pages around a task."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from werkzeug import Request, Response

from emulators.mturk.errors import Refusal
from emulators.mturk.faults.work import Work
from emulators.mturk.world import World
from emulators.pages import Pages, go

COOKIE = "mturk_emulator_worker"
HOME = "/worker/"
DONE = {
    "submitted": "Submitted. The requester can see your answers now.",
    "returned": "Returned. Another worker can do this HIT now.",
    "requested": "Requested. Your status is shown below.",
}


class NotSignedInError(Exception):
    """Nobody is signed in, and the page is for workers."""


@dataclass(frozen=True)
class Visit:
    """``work`` does what workers do, faults included; ``local``: the visitor may use the controls."""

    world: World
    work: Work
    pages: Pages
    request: Request
    local: bool

    @cached_property
    def worker_id(self) -> str | None:
        """The worker who is signed in with this browser, if they are registered."""
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

    @property
    def done(self) -> str:
        """What the worker has just done, as a sentence."""
        return DONE.get(self.request.args.get("done", ""), "")

    def page(self, template: str, *, here: str = "", status: int = 200, **context: Any) -> Response:
        common: Mapping[str, Any] = {"worker": self.worker_id, "local": self.local, "here": here}
        return self.pages.render(template, status=status, **common, **context)

    def refusal(self, heading: str, text: str) -> Response:
        return self.page("refusal.html", status=409, heading=heading, text=text)


def show_sign_in(visit: Visit) -> Response:
    return _form(visit, next=visit.request.args.get("next", HOME))


def sign_in(visit: Visit) -> Response:
    worker_id = visit.request.form.get("worker_id", "")
    with visit.world.looking() as state:
        is_known = worker_id in state.workers
    if not is_known:
        return _form(visit, error=f"No worker {worker_id!r} is registered.", status=400)
    return _entered(visit, worker_id)


def register(visit: Visit) -> Response:
    given = visit.request.form
    try:
        worker_id = visit.world.register_worker(
            given.get("worker_id", "").strip() or None,
            approved=_whole(given, "approved", 0),
            approval_rate=_whole(given, "approval_rate", 100),
            locale=given.get("country", "").strip().upper() or "US",
            masters="masters" in given,
        )
    except Refusal as refusal:
        return _form(visit, error=str(refusal), given=given, status=400)
    return _entered(visit, worker_id)


def sign_out(visit: Visit) -> Response:
    response = go("/worker/sign-in")
    response.delete_cookie(COOKIE)
    return response


def show_hits(visit: Visit) -> Response:
    worker_id = visit.require_worker()
    with visit.world.looking() as state:
        types = {*state.qualification_types}
    mine = visit.world.dashboard(worker_id)["assignments"]
    held = [work for work in mine if work["status"] == "Accepted"]
    groups = visit.world.open_groups(worker_id)
    return visit.page("hits.html", here="groups", done=visit.done, held=held, groups=groups, types=types)


def show_dashboard(visit: Visit) -> Response:
    seen = visit.world.dashboard(visit.require_worker())
    counts = Counter(work["status"] for work in seen["assignments"])
    shown = {name: seen[name] for name in ("assignments", "bonuses", "messages", "earned", "bonus_total")}
    return visit.page("dashboard.html", here="dashboard", counts=counts, **shown)


def show_qualifications(visit: Visit) -> Response:
    types = visit.world.requestable(visit.require_worker())
    return visit.page("qualifications.html", here="qualifications", done=visit.done, types=types)


def request_qualification(visit: Visit, type_id: str) -> Response:
    visit.world.request_qualification(type_id, visit.require_worker())
    return go("/worker/qualifications", done="requested")


def _form(
    visit: Visit, *, next: str = "", error: str = "", given: Mapping[str, str] | None = None, status: int = 200
) -> Response:
    names = ("worker_id", "approved", "approval_rate", "country", "masters")
    filled = {name: (given or {}).get(name, "") for name in names}
    with visit.world.looking() as state:
        workers = sorted(state.workers.values(), key=lambda worker: worker.id)
    place = next or visit.request.form.get("next", HOME)
    return visit.page("sign_in.html", status=status, next=place, error=error, given=filled, workers=workers)


def _entered(visit: Visit, worker_id: str) -> Response:
    place = visit.request.form.get("next", HOME)
    response = go(place if place.startswith(HOME) else HOME)
    response.set_cookie(COOKIE, worker_id, httponly=True, samesite="Lax")
    return response


def _whole(given: Mapping[str, str], name: str, default: int) -> int:
    text = given.get(name, "").strip() or str(default)
    if not text.isdigit():
        raise Refusal(f"{text!r} is not a whole number.")
    return int(text)
