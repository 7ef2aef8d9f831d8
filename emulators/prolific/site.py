"""The participants' site: signing in, the studies on offer, a place in one, its completion code, earnings, messages."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from werkzeug import Request, Response
from werkzeug.routing import Rule
from werkzeug.utils import redirect

from emulators.marketplace import Refusal
from emulators.prolific import participants
from emulators.prolific.participant_acts import ParticipantActs
from emulators.prolific.state import State, Study, Submission
from emulators.prolific.wallet import place_price
from emulators.prolific.world import World
from emulators.web_pages import Pages, go

COOKIE = "prolific_emulator_participant"
HOME = "/studies/"
DONE = {"returned": "Returned. Somebody else can take the place now.", "completed": "Completed. Thank you."}


class NotSignedInError(Exception):
    """Nobody is signed in, and the page is for participants."""


@dataclass(frozen=True)
class Visit:
    """``acts`` does what participants do, faults included; ``local``: the visitor may use the controls."""

    world: World
    acts: ParticipantActs
    pages: Pages
    request: Request
    local: bool

    @cached_property
    def participant_id(self) -> str | None:
        """The participant who is signed in with this browser, if they are registered."""
        named = self.request.cookies.get(COOKIE)
        with self.world.looking() as state:
            return named if named in state.participants else None

    def require_participant(self) -> str:
        """Return who is signed in. Raises NotSignedInError."""
        if participant_id := self.participant_id:
            return participant_id
        raise NotSignedInError

    def page(self, template: str, *, here: str = "", status: int = 200, **context: Any) -> Response:
        done = DONE.get(self.request.args.get("done", ""), "")
        common: Mapping[str, Any] = {"worker": self.participant_id, "local": self.local, "here": here}
        return self.pages.render(template, status=status, **{"done": done, **common, **context})


def rules(visit_of: Callable[[Request], Visit]) -> Iterator[Rule]:
    """Return a rule for every page; ``visit_of`` makes the visit of a request."""

    def answer(view: Callable[..., Response], request: Request, **values: str) -> Response:
        visit = visit_of(request)
        try:
            return view(visit, **values)
        except NotSignedInError:
            return go("/sign-in", next=request.full_path.rstrip("?") if request.method == "GET" else HOME)
        except Refusal as refusal:
            return visit.page("refusal.html", status=409, text=str(refusal))

    for method, path, view in VIEWS:
        yield Rule(path, methods=[method], endpoint=partial(answer, view))


def show_sign_in(visit: Visit) -> Response:
    return _form(visit, next=visit.request.args.get("next", HOME))


def sign_in(visit: Visit) -> Response:
    participant_id = visit.request.form.get("participant_id", "")
    if not visit.world.look(lambda state: participant_id in state.participants):
        return _form(visit, error=f"No participant {participant_id!r} is registered.", status=400)
    return _entered(visit, participant_id)


def register(visit: Visit) -> Response:
    given = visit.request.form
    rate = given.get("approval_rate", "").strip() or "100"
    try:
        if not rate.isdecimal():
            raise Refusal(f"{rate!r} is not a whole number of per cent.")
        profile = {"approval_rate": int(rate), "device": given.get("device", "desktop")}
        participant_id = visit.world.register(given.get("participant_id", "").strip() or None, **profile)
    except Refusal as refusal:
        return _form(visit, error=str(refusal), given=given, status=400)
    return _entered(visit, participant_id)


def sign_out(visit: Visit) -> Response:
    response = go("/sign-in")
    response.delete_cookie(COOKIE)
    return response


def show_studies(visit: Visit) -> Response:
    participant_id = visit.require_participant()
    with visit.world.looking() as state:
        held = participants.find_participant(state, participant_id).open
        cards = [_card(study) for study in participants.open_studies(state, participant_id)]
        return visit.page("studies.html", here="studies", studies=cards, held=held and _shown(state, held))


def reserve(visit: Visit, study_id: str) -> Response:
    submission_id = visit.acts.reserve(study_id, visit.require_participant())
    return go(f"/submissions/{submission_id}/")


def show_submission(visit: Visit, submission_id: str) -> Response:
    participant_id = visit.require_participant()
    with visit.world.looking() as state:
        submission = participants.own_submission(state, submission_id, participant_id)
        messages = [
            each for each in state.messages
            if each.participant_id == participant_id and each.study_id == submission.study.id
        ]  # fmt: skip
        shown = _shown(state, submission)
        return visit.page("submission.html", work=shown, study=_card(submission.study), messages=messages[::-1])


def start(visit: Visit, submission_id: str) -> Response:
    return redirect(visit.acts.start(submission_id, visit.require_participant()), 303)


def complete(visit: Visit, submission_id: str) -> Response:
    code = visit.request.form.get("code", "")
    visit.acts.complete(submission_id, visit.require_participant(), code)
    return go(f"/submissions/{submission_id}/", done="completed")


def complete_by_link(visit: Visit) -> Response:
    """Complete what the participant works on, when a study sends them back with its code."""
    participant_id, code = visit.require_participant(), visit.request.args.get("cc", "")
    submission_id = visit.world.look(lambda state: participants.awaited(state, participant_id).id)
    visit.acts.complete(submission_id, participant_id, code)
    return go(f"/submissions/{submission_id}/", done="completed")


def give_back(visit: Visit, submission_id: str) -> Response:
    visit.acts.give_back(submission_id, visit.require_participant())
    return go(HOME, done="returned")


def show_work(visit: Visit) -> Response:
    participant_id = visit.require_participant()
    with visit.world.looking() as state:
        participant = participants.find_participant(state, participant_id)
        work = [_shown(state, each) for each in reversed(participant.submissions)]
        counts = Counter(each.status for each in participant.submissions)
        return visit.page("work.html", here="work", work=work, counts=counts, earned=participants.earned(participant))


def show_messages(visit: Visit) -> Response:
    participant_id = visit.require_participant()
    with visit.world.looking() as state:
        messages = [
            {"body": each.body, "sent_at": each.sent_at, "study": state.studies[each.study_id].terms["name"]}
            for each in reversed(state.messages)
            if each.participant_id == participant_id
        ]
        return visit.page("messages.html", here="messages", messages=messages)


def _card(study: Study) -> dict[str, Any]:
    return {
        "id": study.id,
        "name": study.terms["name"],
        "description": study.terms["description"],
        "reward": place_price(study).reward,
        "hourly": participants.hourly(study),
        "minutes": study.terms["estimated_completion_time"],
        "free": study.free,
        "places": study.places,
        "limit": study.limit,
        "devices": study.terms["device_compatibility"],
    }


def _shown(state: State, submission: Submission) -> dict[str, Any]:
    left = participants.time_left(state, submission)
    return {
        "id": submission.id,
        "study": submission.study.terms["name"],
        "status": submission.status,
        "left": left,
        "until": state.now + left,
        "started_at": submission.started_at,
        "completed_at": submission.completed_at,
        "code": submission.entered_code,
        "asked_to_return": submission.return_requested is not None,
        "may_return": submission.status in participants.RETURNABLE,
        "may_complete": submission.status == "ACTIVE"
        or (submission.status == "TIMED-OUT" and submission.started_at is not None and submission.study.free > 0),
        "rejection": submission.rejection,
        "paid": submission.paid,
        "bonuses": submission.bonuses,
    }


def _form(
    visit: Visit, *, next: str = "", error: str = "", given: Mapping[str, str] | None = None, status: int = 200
) -> Response:
    filled = {name: (given or {}).get(name, "") for name in ("participant_id", "approval_rate", "device")}
    known = visit.world.look(lambda state: sorted(state.participants.values(), key=lambda each: each.id))
    place = next or visit.request.form.get("next", HOME)
    context: dict[str, Any] = {
        "next": place,
        "error": error,
        "given": filled,
        "known": known,
        "devices": participants.DEVICES,
    }
    return visit.page("sign_in.html", status=status, **context)


def _entered(visit: Visit, participant_id: str) -> Response:
    place = visit.request.form.get("next", HOME)
    response = go(place if place.startswith("/") and not place.startswith(("//", "/\\")) else HOME)
    response.set_cookie(COOKIE, participant_id, httponly=True, samesite="Lax")
    return response


VIEWS: list[tuple[str, str, Callable[..., Response]]] = [
    ("GET", "/", lambda visit: go(HOME)),
    ("GET", "/sign-in", show_sign_in),
    ("POST", "/sign-in", sign_in),
    ("POST", "/register", register),
    ("POST", "/sign-out", sign_out),
    ("GET", HOME, show_studies),
    ("POST", "/studies/<study_id>/reserve", reserve),
    ("GET", "/submissions/", show_work),
    ("GET", "/submissions/complete", complete_by_link),
    ("GET", "/submissions/<submission_id>/", show_submission),
    ("POST", "/submissions/<submission_id>/start", start),
    ("POST", "/submissions/<submission_id>/complete", complete),
    ("POST", "/submissions/<submission_id>/return", give_back),
    ("GET", "/messages/", show_messages),
]
