"""Where a task's form is sent: ``POST /mturk/externalSubmit`` with a body of form fields, from inside the frame."""

from werkzeug import Response

from emulators.mturk.errors import Refusal
from emulators.mturk.site.rendering import page
from emulators.mturk.site.visits import Visit

BETWEEN = "|"  # what stands between the values of fields with one name


def external_submit(visit: Visit) -> Response:
    """Hand in an assignment. Fields in the address count for nothing."""
    fields = {name: BETWEEN.join(values) for name, values in visit.request.form.lists()}
    assignment_id = fields.get("assignmentId", "")
    if visit.request.method != "POST" or not assignment_id:
        why = "The form has to be sent by POST, with assignmentId among the fields of its body, not in the address."
        return _outcome(why, status=400)
    try:
        visit.work.submit(assignment_id, _worker(visit, assignment_id), fields)
    except Refusal as refusal:
        return _outcome(str(refusal), status=409)
    return _outcome("Your answers were handed in. You may close this page.", status=200)


def _worker(visit: Visit, assignment_id: str) -> str:
    """Who submits: whoever is signed in; where the frame sends no cookies, whoever holds the assignment."""
    with visit.world.looking() as state:
        assignment = state.assignments.get(assignment_id)
    if assignment is None:
        raise Refusal(f"There is no assignment {assignment_id}; a preview cannot be submitted.")
    return visit.worker_id or assignment.worker_id


def _outcome(text: str, *, status: int) -> Response:
    done = status == 200
    heading = "Submitted" if done else "Nothing was submitted just now"
    return page("outcome.html", status=status, heading=heading, text=text, done=done)
