"""The workers' site: its addresses, and a HIT from preview to submission, with the requester's page in a frame."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from werkzeug import Request, Response
from werkzeug.routing import Rule

from emulators.mturk import visits
from emulators.mturk.documents import Question
from emulators.mturk.errors import Refusal
from emulators.mturk.faults.work import Parameters, Work
from emulators.mturk.visits import HOME, NotSignedInError, Visit
from emulators.mturk.world import World
from emulators.pages import Pages, go

OTHER_NAMES = {"127.0.0.1": "localhost", "localhost": "127.0.0.1"}
NOT_AVAILABLE = "ASSIGNMENT_ID_NOT_AVAILABLE"
SEPARATOR = "|"  # between the values of fields with the same name


@dataclass(frozen=True)
class Frame:
    """The address in the frame of a task page, and the frame's height in pixels (0: to fit).

    ``elsewhere`` is the origin to open this site at where the requester's page shares its host name: a browser then
    sends cookies into the frame that it would not send on the real site.
    """

    url: str
    height: int
    elsewhere: str


class Site:
    """The workers' pages as routes; ``is_local`` decides which requests see the link to the controls."""

    def __init__(self, world: World, work: Work, pages: Pages, *, is_local: Callable[[Request], bool]) -> None:
        self._world = world
        self._work = work
        self._pages = pages
        self._is_local = is_local

    def rules(self) -> Iterator[Rule]:
        """Return a rule for every page."""
        for method, path, view in VIEWS:
            yield Rule(path, methods=[method], endpoint=partial(self._answer, view))

    def _answer(self, view: Callable[..., Response], request: Request, **values: str) -> Response:
        visit = Visit(self._world, self._work, self._pages, request, self._is_local(request))
        try:
            return view(visit, **values)
        except NotSignedInError:
            return go("/worker/sign-in", next=request.path if request.method == "GET" else HOME)
        except Refusal as refusal:
            return visit.refusal("This is not possible", str(refusal))


def preview(visit: Visit, hit_id: str) -> Response:
    task = visit.world.preview(hit_id, visit.require_worker())
    return visit.page("task.html", task=task, assignment=None, frame=_frame(visit, task, "preview"))


def accept(visit: Visit, hit_id: str) -> Response:
    accepted = visit.work.accept(hit_id, visit.require_worker())
    return go(f"/worker/assignments/{accepted['AssignmentId']}")


def work(visit: Visit, assignment_id: str) -> Response:
    worker_id = visit.require_worker()
    task = visit.world.work(assignment_id, worker_id)
    if task["status"] != "Accepted":
        return visit.refusal("This assignment is closed", f"Its state is: {task['status']}.")
    clock = visit.world.clock
    assignment = {
        "id": assignment_id,
        "deadline": task["deadline"],
        "seconds_left": int((task["deadline"] - clock.now()).total_seconds()),
        "running": clock.running,
    }
    frame = _frame(visit, task, "work", assignment_id=assignment_id, worker_id=worker_id)
    return visit.page("task.html", task=task, assignment=assignment, frame=frame)


def return_assignment(visit: Visit, assignment_id: str) -> Response:
    visit.work.return_assignment(assignment_id, visit.require_worker())
    return go(HOME, done="returned")


def external_submit(visit: Visit) -> Response:
    """Submit an assignment, from a form inside the frame. Fields in the address are ignored."""
    fields = {name: SEPARATOR.join(values) for name, values in visit.request.form.lists()}
    assignment_id = fields.get("assignmentId", "")
    if visit.request.method != "POST" or not assignment_id:
        why = "The form must be sent by POST, with assignmentId among the fields of its body, not in the address."
        return _outcome(visit, why, status=400)
    try:
        visit.work.submit(assignment_id, _submitter(visit, assignment_id), fields)
    except Refusal as refusal:
        return _outcome(visit, str(refusal), status=409)
    return _outcome(visit, "Your answers were submitted. You may close this page.", status=200)


def _frame(
    visit: Visit, task: Mapping[str, Any], operation: str, *, assignment_id: str = "", worker_id: str = ""
) -> Frame:
    """Return the frame of a HIT that is previewed or, with ids, worked on. Faults may change its parameters."""
    question: Question = task["question"]
    given: Parameters = [
        ("assignmentId", assignment_id or NOT_AVAILABLE),
        ("hitId", task["hit_id"]),
        ("turkSubmitTo", visit.origin),
    ]
    if assignment_id:
        given.append(("workerId", worker_id))
    parts = urlsplit(question.url)
    query = "&".join(filter(None, (parts.query, urlencode(visit.work.address(operation, given)))))
    ours = urlsplit(visit.origin)
    is_shared = parts.hostname == ours.hostname and ours.hostname in OTHER_NAMES
    elsewhere = f"{ours.scheme}://{OTHER_NAMES[str(ours.hostname)]}:{ours.port}" if is_shared else ""
    return Frame(urlunsplit(parts._replace(query=query)), question.frame_height, elsewhere)


def _submitter(visit: Visit, assignment_id: str) -> str:
    """Return the worker who is signed in or, as the frame gets no cookies, who holds the assignment."""
    with visit.world.looking() as state:
        assignment = state.assignments.get(assignment_id)
    if assignment is None:
        raise Refusal(f"There is no assignment {assignment_id}; a preview cannot be submitted.")
    return visit.worker_id or assignment.worker_id


def _outcome(visit: Visit, text: str, *, status: int) -> Response:
    done = status == 200
    heading = "Submitted" if done else "Not submitted"
    return visit.page("outcome.html", status=status, heading=heading, text=text, done=done)


VIEWS: list[tuple[str, str, Callable[..., Response]]] = [
    ("GET", "/", lambda visit: go(HOME)),
    ("GET", HOME, visits.show_hits),
    ("GET", "/worker/dashboard", visits.show_dashboard),
    ("GET", "/worker/sign-in", visits.show_sign_in),
    ("POST", "/worker/sign-in", visits.sign_in),
    ("POST", "/worker/register", visits.register),
    ("POST", "/worker/sign-out", visits.sign_out),
    ("GET", "/worker/hits/<hit_id>", preview),
    ("POST", "/worker/hits/<hit_id>/accept", accept),
    ("GET", "/worker/assignments/<assignment_id>", work),
    ("POST", "/worker/assignments/<assignment_id>/return", return_assignment),
    ("GET", "/worker/qualifications", visits.show_qualifications),
    ("POST", "/worker/qualifications/<type_id>", visits.request_qualification),
    ("GET", "/mturk/externalSubmit", external_submit),
    ("POST", "/mturk/externalSubmit", external_submit),
]
