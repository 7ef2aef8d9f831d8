"""The participants' site: signing in, the studies on offer, a place in one, its completion code, earnings, messages."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from werkzeug import Response
from werkzeug.utils import redirect

from counterpart_emulators.prolific import participants
from counterpart_emulators.prolific.participant_acts import ParticipantActs
from counterpart_emulators.prolific.world import World
from counterpart_emulators.site_visits import Visit, whole
from counterpart_emulators.web_pages import go


class ParticipantVisit(Visit[World, ParticipantActs]):
    """A request to the participants' site."""

    cookie = "prolific_emulator_participant"
    home = "/studies/"
    sign_in = "/sign-in"
    done_texts = {
        "returned": "Returned. Another participant can take the place now.",
        "completed": "Completed. Thank you.",
    }

    form_fields = ("participant_id", "approval_rate", "device")
    person_word = "participant"

    def people(self) -> Mapping[str, Any]:
        return self.world.look(lambda state: {**state.participants})

    def registered(self, given: Mapping[str, str]) -> str:
        profile = {"approval_rate": whole(given, "approval_rate", 100), "device": given.get("device", "desktop")}
        return self.world.register(given.get("participant_id", "").strip() or None, **profile)

    def refused(self, text: str) -> Response:
        return self.page("refusal.html", status=409, text=text)


def show_studies(visit: ParticipantVisit) -> Response:
    participant_id = visit.require_person()
    with visit.world.looking() as state:
        studies = participants.open_studies(state, participant_id)
        held = participants.find_participant(state, participant_id).open
        return visit.page("studies.html", here="studies", done=visit.done, studies=studies, held=held)


def reserve(visit: ParticipantVisit, study_id: str) -> Response:
    submission_id = visit.acts.reserve(study_id, visit.require_person())
    return go(f"/submissions/{submission_id}/")


def show_submission(visit: ParticipantVisit, submission_id: str) -> Response:
    participant_id = visit.require_person()
    with visit.world.looking() as state:
        work = participants.own_submission(state, submission_id, participant_id)
        return visit.page("submission.html", done=visit.done, work=work, left=work.deadline - state.now)


def start(visit: ParticipantVisit, submission_id: str) -> Response:
    return redirect(visit.acts.start(submission_id, visit.require_person()), 303)


def complete(visit: ParticipantVisit, submission_id: str) -> Response:
    code = visit.request.form.get("code", "")
    visit.acts.complete(submission_id, visit.require_person(), code)
    return go(f"/submissions/{submission_id}/", done="completed")


def complete_by_link(visit: ParticipantVisit) -> Response:
    """Complete the participant's open submission, when a study sends them back with its code."""
    participant_id = visit.require_person()
    code = visit.request.args.get("cc", "")
    submission_id = visit.world.look(lambda state: participants.awaited(state, participant_id).id)
    visit.acts.complete(submission_id, participant_id, code)
    return go(f"/submissions/{submission_id}/", done="completed")


def give_back(visit: ParticipantVisit, submission_id: str) -> Response:
    visit.acts.give_back(submission_id, visit.require_person())
    return go(visit.home, done="returned")


def show_work(visit: ParticipantVisit) -> Response:
    participant_id = visit.require_person()
    with visit.world.looking() as state:
        participant = participants.find_participant(state, participant_id)
        work = participant.submissions[::-1]
        counts = Counter(each.status for each in work)
        return visit.page("work.html", here="work", work=work, counts=counts, earned=participant.earned)


def show_messages(visit: ParticipantVisit) -> Response:
    participant_id = visit.require_person()
    with visit.world.looking() as state:
        messages = [
            {"body": each.body, "sent_at": each.sent_at, "study": state.studies[each.study_id].terms["name"]}
            for each in reversed(state.messages)
            if each.participant_id == participant_id
        ]
        return visit.page("messages.html", here="messages", messages=messages)


VIEWS: list[tuple[str, str, Callable[..., Response]]] = [
    ("GET", "/", lambda visit: go(visit.home)),
    ("GET", "/sign-in", ParticipantVisit.sign_in_form),
    ("POST", "/sign-in", ParticipantVisit.sign_in_registered),
    ("POST", "/register", ParticipantVisit.register),
    ("POST", "/sign-out", ParticipantVisit.leave),
    ("GET", ParticipantVisit.home, show_studies),
    ("POST", "/studies/<study_id>/reserve", reserve),
    ("GET", "/submissions/", show_work),
    ("GET", "/submissions/complete", complete_by_link),
    ("GET", "/submissions/<submission_id>/", show_submission),
    ("POST", "/submissions/<submission_id>/start", start),
    ("POST", "/submissions/<submission_id>/complete", complete),
    ("POST", "/submissions/<submission_id>/return", give_back),
    ("GET", "/messages/", show_messages),
]
