"""From preview to return: a HIT with its frame, as one worker sees it."""

from functools import partial

from werkzeug import Response

from emulators.mturk.site.frames import frame_of
from emulators.mturk.site.visits import Visit, go


def preview(visit: Visit, hit_id: str) -> Response:
    task = visit.world.preview(hit_id, visit.require_worker())
    frame = frame_of(task, origin=visit.origin, given=partial(visit.work.address, "preview"))
    return visit.page("task.html", task=task, assignment=None, frame=frame)


def accept(visit: Visit, hit_id: str) -> Response:
    accepted = visit.work.accept(hit_id, visit.require_worker())
    return go(f"/worker/assignments/{accepted['AssignmentId']}")


def work(visit: Visit, assignment_id: str) -> Response:
    worker_id = visit.require_worker()
    task = visit.world.work(assignment_id, worker_id)
    if task["status"] != "Accepted":
        return visit.trouble("This assignment is closed", f"Its state is: {task['status']}.", status=409)
    clock = visit.world.clock
    assignment = {
        "id": assignment_id,
        "deadline": task["deadline"],
        "seconds_left": int((task["deadline"] - clock.now()).total_seconds()),
        "running": clock.stopped_at is None,
    }
    given = partial(visit.work.address, "work")
    frame = frame_of(task, origin=visit.origin, given=given, assignment_id=assignment_id, worker_id=worker_id)
    return visit.page("task.html", task=task, assignment=assignment, frame=frame)


def return_assignment(visit: Visit, assignment_id: str) -> Response:
    visit.work.return_assignment(assignment_id, visit.require_worker())
    return go("/worker/", done="returned")


def html(visit: Visit, hit_id: str) -> Response:
    """An HTMLQuestion's own page: it may run its scripts, but nothing of this site is open to it."""
    content = visit.world.preview(hit_id, None)["question"].html
    return Response(
        content, headers={"Content-Security-Policy": "sandbox allow-scripts allow-forms"}, mimetype="text/html"
    )
