"""Qualifications: which there are, and how a worker asks for one, perhaps by a test."""

from typing import Any

from werkzeug import Response

from emulators.mturk.errors import Refusal
from emulators.mturk.site.looking import DONE
from emulators.mturk.site.question_form import Form, Given, read_form
from emulators.mturk.site.visits import Visit, go
from emulators.mturk.xml import parse


def types(visit: Visit) -> Response:
    worker_id, done = visit.require_worker(), DONE.get(visit.request.args.get("done", ""), "")
    offered = visit.world.requestable(worker_id)
    return visit.page("qualifications.html", here="qualifications", done=done, types=offered)


def show(visit: Visit, type_id: str) -> Response:
    """Show the test, whose time begins to run, or the plain question whether to ask."""
    type = _type(visit, type_id)
    if type["why_not"]:
        raise Refusal(type["why_not"])
    form, left = _begun(visit, type)
    return _shown(visit, type, form, left)


def request(visit: Visit, type_id: str) -> Response:
    """Hand the test in; answers that the form does not allow are shown again, and nothing is sent."""
    type = _type(visit, type_id)
    answers: dict[str, str | list[str]] | None = None
    if type["has_test"] and not type["why_not"]:
        given = {name: [text for text in texts if text.strip()] for name, texts in visit.request.form.lists()}
        form, left = _begun(visit, type)
        if form and (errors := form.errors(given)):
            return _shown(visit, type, form, left, given=given, errors=errors)
        answers = {name: texts for name, texts in given.items() if texts}
    visit.world.request_qualification(type_id, visit.require_worker(), answers)
    return go("/worker/qualifications", done="requested")


def _type(visit: Visit, type_id: str) -> dict[str, Any]:
    offered = visit.world.requestable(visit.require_worker())
    found = next((type for type in offered if type["type_id"] == type_id), None)
    if found is None:
        raise Refusal(f"There is no qualification {type_id} that could be asked for.")
    return found


def _begun(visit: Visit, type: dict[str, Any]) -> tuple[Form | None, int]:
    """Return the test and how many seconds are left for it."""
    if not type["has_test"]:
        return None, 0
    begun = visit.world.begin_test(type["type_id"], visit.require_worker())
    left = begun["Deadline"] - visit.world.clock.now()
    return read_form(parse(begun["Test"])), int(left.total_seconds())


def _shown(
    visit: Visit,
    type: dict[str, Any],
    form: Form | None,
    left: int,
    *,
    given: Given | None = None,
    errors: dict[str, str] | None = None,
) -> Response:
    return visit.page(
        "qualification.html",
        here="qualifications",
        status=422 if errors else 200,
        type=type,
        form=form,
        seconds_left=left,
        running=visit.world.clock.stopped_at is None,
        answers=given or {},
        errors=errors or {},
    )
