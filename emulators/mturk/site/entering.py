"""Sign in as any worker of the rehearsal, or as one that did not exist yet."""

from collections.abc import Mapping

from werkzeug import Response

from emulators.mturk.errors import Refusal
from emulators.mturk.site.visits import COOKIE, Visit, go

HOME = "/worker/"


def show(visit: Visit) -> Response:
    return _form(visit, next=visit.request.args.get("next", HOME))


def sign_in(visit: Visit) -> Response:
    worker_id = visit.request.form.get("worker_id", "")
    with visit.world.looking() as state:
        is_known = worker_id in state.workers
    if not is_known:
        return _form(visit, error=f"No worker {worker_id!r} is registered here.", status=400)
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
        raise Refusal(f"{text!r} is no whole number.")
    return int(text)
