"""The workers' site: which address leads to which page, and what a refusal looks like."""

from collections.abc import Callable, Iterator
from functools import partial
from mimetypes import guess_type

from werkzeug import Request, Response
from werkzeug.exceptions import NotFound
from werkzeug.routing import Rule

from emulators.mturk.errors import Refusal
from emulators.mturk.faults.work import Work
from emulators.mturk.site import entering, looking, qualifying, submitting, working
from emulators.mturk.site.rendering import STATIC
from emulators.mturk.site.visits import NotSignedInError, Visit, go
from emulators.mturk.world import World

View = Callable[..., Response]


def _static(visit: Visit, name: str) -> Response:
    if name not in {path.name for path in STATIC.iterdir()}:
        raise NotFound
    return Response((STATIC / name).read_bytes(), mimetype=guess_type(name)[0])


PAGES: list[tuple[str, str, View]] = [
    ("GET", "/", lambda visit: go("/worker/")),
    ("GET", "/worker/", looking.groups),
    ("GET", "/worker/dashboard", looking.dashboard),
    ("GET", "/worker/sign-in", entering.show),
    ("POST", "/worker/sign-in", entering.sign_in),
    ("POST", "/worker/register", entering.register),
    ("POST", "/worker/sign-out", entering.sign_out),
    ("GET", "/worker/hits/<hit_id>", working.preview),
    ("POST", "/worker/hits/<hit_id>/accept", working.accept),
    ("GET", "/worker/assignments/<assignment_id>", working.work),
    ("POST", "/worker/assignments/<assignment_id>/return", working.return_assignment),
    ("GET", "/worker/html/<hit_id>", working.html),
    ("GET", "/worker/qualifications", qualifying.types),
    ("GET", "/worker/qualifications/<type_id>", qualifying.show),
    ("POST", "/worker/qualifications/<type_id>", qualifying.request),
    ("GET", "/worker/static/<name>", _static),
    ("GET", "/mturk/externalSubmit", submitting.external_submit),
    ("POST", "/mturk/externalSubmit", submitting.external_submit),
]


class Site:
    """The workers' pages as routes; ``is_local`` says whether a request comes from this machine."""

    def __init__(self, world: World, work: Work, *, is_local: Callable[[Request], bool]) -> None:
        self._world = world
        self._work = work
        self._is_local = is_local

    def rules(self) -> Iterator[Rule]:
        """Yield a rule for every page; each endpoint takes the request and the address's values."""
        for method, path, view in PAGES:
            yield Rule(path, methods=[method], endpoint=partial(self._answer, view))

    def _answer(self, view: View, request: Request, **values: str) -> Response:
        visit = Visit(self._world, self._work, request, self._is_local(request))
        try:
            return view(visit, **values)
        except NotSignedInError:
            return go("/worker/sign-in", next=request.path if request.method == "GET" else "/worker/")
        except Refusal as refusal:
            return visit.trouble("That is not possible", str(refusal), status=409)
