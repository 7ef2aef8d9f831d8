"""The workers' site: signing in, the HITs and qualifications on offer, work in a frame, and the dashboard."""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from werkzeug import Response

from counterpart_emulators.marketplace import Refusal
from counterpart_emulators.mturk import qualifications, workers
from counterpart_emulators.mturk.faults.worker_acts import Parameters, Work
from counterpart_emulators.mturk.world import World
from counterpart_emulators.mturk.xml_documents import Question
from counterpart_emulators.site_visits import Visit, whole
from counterpart_emulators.web_pages import go

OTHER_NAMES = {"127.0.0.1": "localhost", "localhost": "127.0.0.1"}
NOT_AVAILABLE = "ASSIGNMENT_ID_NOT_AVAILABLE"
SEPARATOR = "|"  # between the values of fields with the same name


class WorkerVisit(Visit[World, Work]):
    """A request to the workers' site."""

    cookie = "mturk_emulator_worker"
    home = "/worker/"
    sign_in = "/worker/sign-in"
    done_texts = {
        "submitted": "Submitted. The requester can see your answers now.",
        "returned": "Returned. Another worker can do this HIT now.",
        "requested": "Requested. Your status is shown below.",
    }

    form_fields = ("worker_id", "approved", "approval_rate", "country", "masters")
    person_word = "worker"

    def people(self) -> Mapping[str, Any]:
        return self.world.look(lambda state: {**state.workers})

    def registered(self, given: Mapping[str, str]) -> str:
        return self.world.register_worker(
            given.get("worker_id", "").strip() or None,
            approved=whole(given, "approved", 0),
            approval_rate=whole(given, "approval_rate", 100),
            locale=given.get("country", "").strip().upper() or "US",
            masters="masters" in given,
        )

    def refused(self, text: str) -> Response:
        return self.outcome("This is not possible", text)

    def outcome(self, heading: str, text: str, *, status: int = 409, framed: bool = False) -> Response:
        """Show the result of an act: refused, unless the status is 200."""
        return self.page("outcome.html", status=status, heading=heading, text=text, framed=framed, done=status == 200)


def show_hits(visit: WorkerVisit) -> Response:
    worker_id = visit.require_person()
    types = visit.world.look(lambda state: {*state.qualification_types})
    mine = visit.world.look(workers.dashboard, worker_id)["assignments"]
    held = [work for work in mine if work["status"] == "Accepted"]
    groups = visit.world.look(workers.open_groups, worker_id)
    return visit.page("hits.html", here="groups", done=visit.done, held=held, groups=groups, types=types)


def show_dashboard(visit: WorkerVisit) -> Response:
    seen = visit.world.look(workers.dashboard, visit.require_person())
    counts = Counter(work["status"] for work in seen["assignments"])
    shown = {name: seen[name] for name in ("assignments", "bonuses", "messages", "earned", "bonus_total")}
    return visit.page("dashboard.html", here="dashboard", counts=counts, **shown)


def show_qualifications(visit: WorkerVisit) -> Response:
    types = visit.world.look(qualifications.requestable, visit.require_person())
    return visit.page("qualifications.html", here="qualifications", done=visit.done, types=types)


def request_qualification(visit: WorkerVisit, type_id: str) -> Response:
    visit.world.request_qualification(type_id, visit.require_person())
    return go("/worker/qualifications", done="requested")


def preview(visit: WorkerVisit, hit_id: str) -> Response:
    task = visit.world.look(workers.preview, hit_id, visit.require_person())
    return visit.page("task.html", task=task, assignment=None, frame=_frame(visit, task, "preview"))


def accept(visit: WorkerVisit, hit_id: str) -> Response:
    accepted = visit.acts.accept(hit_id, visit.require_person())
    return go(f"/worker/assignments/{accepted['AssignmentId']}")


def work(visit: WorkerVisit, assignment_id: str) -> Response:
    worker_id = visit.require_person()
    task = visit.world.look(workers.work, assignment_id, worker_id)
    if task["status"] != "Accepted":
        return visit.outcome("This assignment is closed", f"Its state is: {task['status']}.")
    clock = visit.world.clock
    assignment = {
        "id": assignment_id,
        "seconds_left": int((task["deadline"] - clock.now()).total_seconds()),
        "running": clock.running,
    }
    frame = _frame(visit, task, "work", assignment_id=assignment_id, worker_id=worker_id)
    return visit.page("task.html", task=task, assignment=assignment, frame=frame)


def return_assignment(visit: WorkerVisit, assignment_id: str) -> Response:
    visit.acts.return_assignment(assignment_id, visit.require_person())
    return go(visit.home, done="returned")


def external_submit(visit: WorkerVisit) -> Response:
    """Submit an assignment, from a form inside the frame. Fields in the address are ignored."""
    fields = {name: SEPARATOR.join(values) for name, values in visit.request.form.lists()}
    assignment_id = fields.get("assignmentId", "")
    outcome = partial(visit.outcome, "Not submitted", framed=True)
    if visit.request.method != "POST" or not assignment_id:
        why = "The form must be sent by POST, with assignmentId among the fields of its body, not in the address."
        return outcome(why, status=400)
    try:
        visit.acts.submit(assignment_id, _submitter(visit, assignment_id), fields)
    except Refusal as refusal:
        return outcome(str(refusal))
    return visit.outcome("Submitted", "Your answers were submitted. You may close this page.", status=200, framed=True)


def _frame(
    visit: WorkerVisit, task: Mapping[str, Any], operation: str, *, assignment_id: str = "", worker_id: str = ""
) -> dict[str, Any]:
    """Return the frame of a HIT that is previewed or, with ids, worked on; its height is in pixels (0: to fit).

    ``elsewhere`` is the origin to open this site at where the requester's page shares its host name: a browser then
    sends cookies into the frame that it would not send on the real site. Faults may change the parameters.
    """
    question: Question = task["question"]
    origin = visit.request.host_url.rstrip("/")
    given: Parameters = [
        ("assignmentId", assignment_id or NOT_AVAILABLE),
        ("hitId", task["hit_id"]),
        ("turkSubmitTo", origin),
    ]
    if assignment_id:
        given.append(("workerId", worker_id))
    parts = urlsplit(question.url)
    query = "&".join(filter(None, (parts.query, urlencode(visit.acts.address(operation, given)))))
    ours = urlsplit(origin)
    is_shared = parts.hostname == ours.hostname and ours.hostname in OTHER_NAMES
    elsewhere = f"{ours.scheme}://{OTHER_NAMES[str(ours.hostname)]}:{ours.port}" if is_shared else ""
    url = urlunsplit(parts._replace(query=query))
    return {"url": url, "height": question.frame_height, "elsewhere": elsewhere}


def _submitter(visit: WorkerVisit, assignment_id: str) -> str:
    """Return the worker who is signed in or, as the frame gets no cookies, who holds the assignment."""
    assignment = visit.world.look(lambda state: state.assignments.get(assignment_id))
    if assignment is None:
        raise Refusal(f"Unknown assignment {assignment_id}; a preview cannot be submitted.")
    return visit.person or assignment.worker_id


VIEWS: list[tuple[str, str, Callable[..., Response]]] = [
    ("GET", "/", lambda visit: go(visit.home)),
    ("GET", WorkerVisit.home, show_hits),
    ("GET", "/worker/dashboard", show_dashboard),
    ("GET", "/worker/sign-in", WorkerVisit.sign_in_form),
    ("POST", "/worker/sign-in", WorkerVisit.sign_in_registered),
    ("POST", "/worker/register", WorkerVisit.register),
    ("POST", "/worker/sign-out", WorkerVisit.leave),
    ("GET", "/worker/hits/<hit_id>", preview),
    ("POST", "/worker/hits/<hit_id>/accept", accept),
    ("GET", "/worker/assignments/<assignment_id>", work),
    ("POST", "/worker/assignments/<assignment_id>/return", return_assignment),
    ("GET", "/worker/qualifications", show_qualifications),
    ("POST", "/worker/qualifications/<type_id>", request_qualification),
    ("GET", "/mturk/externalSubmit", external_submit),
    ("POST", "/mturk/externalSubmit", external_submit),
]
