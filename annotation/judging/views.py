"""The worker's pages. Each parses, asks who may, calls one act and renders."""

from contextlib import suppress
from mimetypes import guess_type

from django.conf import settings
from django.core.files.storage import default_storage
from django.core.signing import BadSignature
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from annotation.answers import ASKS_REASONS, Answer
from annotation.drafting import ANSWERABLE, SeatLostError, drop_draft, save_draft
from annotation.intake import submit_answers
from annotation.judging.access import Trouble, Visit, assignment_of, joined_round, link_page, visit_behind, visit_of
from annotation.judging.forms import parse_active_seconds, parse_answers, parse_draft, places_of
from annotation.judging.history import earned, receipt_of, work_of
from annotation.judging.sheet import pairs_of
from annotation.judging.tokens import WORKER_LIFE, assignment_token, read_visit_token, read_worker_token, visit_token
from annotation.models import Level, Shortcoming, WrongWay
from hits.designs import Design
from hits.leasing import lease_seat, return_assignment
from hits.models import Assignment, Round, Worker
from hits.reconciling import heal_if_due
from hits.workers import actor_of, give_consent, worker_for
from journal.errors import CounterpartError

REMEMBERED = "worker"

EXPLANATIONS = {
    Level.YES: "The sentence fits the picture. Nothing in it is wrong.",
    Level.PARTIALLY_YES: "It fits on the whole, but some detail is wrong or missing.",
    Level.MOSTLY_NO: "The main thing is wrong or missing; only something small fits.",
    Level.NO: "The sentence and the picture have nothing to do with each other.",
}
LEVELS = [
    {"value": level.value, "label": level.label, "asks": level in ASKS_REASONS, "text": text}
    for level, text in EXPLANATIONS.items()
]


@link_page("GET", "POST")
def join(request: HttpRequest, join_key: str) -> HttpResponse:
    """What the round is about and what it pays; consenting makes a worker."""
    round = joined_round(join_key)
    if request.method == "POST" and request.POST.get("consent") == "yes":
        return _remember(_consent(request, round))
    known = _remembered(request, round)
    context = {"round": round, "known": known, "visit": visit_token(), "refused": request.method == "POST"}
    return render(request, "judging/join.html", {**context, **_terms(round)}, status=422 if context["refused"] else 200)


@link_page("GET")
def home(request: HttpRequest, token: str) -> HttpResponse:
    """A worker's own page in a round: the next HIT, and what became of the earlier ones."""
    visit = visit_of(token)
    works = work_of(visit.worker)
    context = {
        "visit": visit,
        "held": _held(visit),
        "nothing_left": "nothing-left" in request.GET,
        "returned": "returned" in request.GET,
        "works": works,
        "earned": earned(works),
    }
    return render(request, "judging/home.html", {**context, **_terms(visit.round)})


@link_page("POST")
def take(request: HttpRequest, token: str) -> HttpResponse:
    """Lease a seat and open its HIT."""
    visit = visit_of(token)
    heal_if_due()
    try:
        assignment = lease_seat(visit.round, worker=visit.worker)
    except CounterpartError as error:
        raise Trouble("No HIT can be taken now", str(error), status=410, home=visit.token) from error
    if assignment is None:
        return _to_home(visit, "nothing-left")
    return redirect("judging:task", token=assignment_token(assignment))


@link_page("GET", "POST")
def task(request: HttpRequest, token: str) -> HttpResponse:
    """The HIT: its pairs, the four levels, and the one submit."""
    assignment = assignment_of(token)
    if receipt_of(assignment):
        return redirect("judging:receipt", token=token)
    if request.method != "POST":
        if assignment.state != Assignment.State.LEASED:
            raise _lost(assignment)
        return _sheet(request, assignment, token, problem="")
    problem = _submit(request, assignment)
    return _sheet(request, assignment, token, problem) if problem else redirect("judging:receipt", token=token)


@link_page("POST")
def draft(request: HttpRequest, token: str) -> HttpResponse:
    """Keep one pair's answer as it now stands."""
    assignment = assignment_of(token)
    try:
        change = parse_draft(request.POST, places_of(assignment))
        if change.answer:
            save_draft(assignment, change.answer)
        else:
            drop_draft(assignment, item_id=change.item_id)
    except CounterpartError as error:
        return JsonResponse({"error": str(error)}, status=409 if isinstance(error, SeatLostError) else 422)
    return JsonResponse({"saved": True})


@link_page("POST")
def give_back(request: HttpRequest, token: str) -> HttpResponse:
    """Return the HIT unanswered; somebody else gets it."""
    assignment = assignment_of(token)
    return_assignment(assignment, actor=actor_of(assignment.worker))
    return _to_home(visit_behind(assignment), "returned")


@link_page("GET")
def receipt(request: HttpRequest, token: str) -> HttpResponse:
    """Proof of submission."""
    assignment = assignment_of(token)
    work = receipt_of(assignment)
    if work is None:
        return redirect("judging:task", token=token)
    visit = visit_behind(assignment)
    return render(
        request, "judging/receipt.html", {"work": work, "visit": visit, "pairs": assignment.hit.items.count()}
    )


@link_page("GET")
def picture(request: HttpRequest, token: str, place: int) -> HttpResponseBase:
    """One picture of the HIT, under a name that tells nothing."""
    assignment = assignment_of(token)
    file = assignment.hit.items.filter(place=place).values_list("image__file", flat=True).first()
    if assignment.state not in ANSWERABLE or not file or not default_storage.exists(file):
        return HttpResponse("This picture is not here.", status=404, content_type="text/plain")
    kind = guess_type(file)[0] or "application/octet-stream"
    response = FileResponse(default_storage.open(file), filename=f"picture-{place}", content_type=kind)
    response["Cache-Control"] = "private, max-age=3600"
    return response


def _terms(round: Round) -> dict[str, object]:
    """What a worker should know beforehand: how much, how long, by which levels."""
    return {"pairs": Design(**round.design).size, "lease_minutes": settings.LEASE_MINUTES, "levels": LEVELS}


def _consent(request: HttpRequest, round: Round) -> Visit:
    """Make the worker who agreed. Sending the same form twice makes one."""
    try:
        visit = read_visit_token(request.POST.get("visit", ""))
    except BadSignature as error:
        raise Trouble("This form is too old", "Open the join link once more and agree again.", status=410) from error
    worker = worker_for(channel="browser", external_id=visit)
    give_consent(worker)
    return Visit(worker, round)


def _remember(visit: Visit) -> HttpResponse:
    """Send the worker to their own page. The cookie only shows the way back there from the join link."""
    response = redirect("judging:home", token=visit.token)
    response.set_cookie(
        REMEMBERED,
        visit.token,
        max_age=WORKER_LIFE,
        path="/judge/",
        httponly=True,
        secure=settings.SESSION_COOKIE_SECURE,
        samesite="Lax",
    )
    return response


def _remembered(request: HttpRequest, round: Round) -> Visit | None:
    with suppress(BadSignature):
        pseudonym, _round_id = read_worker_token(request.COOKIES.get(REMEMBERED, ""))
        worker = Worker.objects.filter(pseudonym=pseudonym, consented_at__isnull=False).first()
        return Visit(worker, round) if worker else None
    return None


def _held(visit: Visit) -> str:
    """Return the token of the HIT that the worker has open in this round, or ""."""
    leased = visit.worker.assignments.filter(state=Assignment.State.LEASED, hit__round=visit.round)
    held = leased.filter(deadline__gt=timezone.now()).first()
    return assignment_token(held) if held else ""


def _to_home(visit: Visit, message: str) -> HttpResponse:
    return redirect(f"{reverse('judging:home', args=[visit.token])}?{message}")


def _submit(request: HttpRequest, assignment: Assignment) -> str:
    """Submit what was sent. Returns what is wrong with it, in one line, or "" once it is in."""
    answers: list[Answer] = []
    try:
        answers = parse_answers(request.POST, places_of(assignment))
        seconds = parse_active_seconds(request.POST, assignment)
        submit_answers(assignment, answers=answers, active_seconds=seconds)
    except SeatLostError as error:
        raise _lost(assignment) from error
    except CounterpartError as error:
        _keep(assignment, answers)
        return str(error)
    return ""


def _keep(assignment: Assignment, answers: list[Answer]) -> None:
    """Keep what can be kept of answers that could not be submitted."""
    for answer in answers:
        with suppress(CounterpartError):
            save_draft(assignment, answer)


def _lost(assignment: Assignment) -> Trouble:
    text = "It was returned, or its time ran out and it went to somebody else. That does you no harm. Take another one."
    return Trouble("This HIT is no longer yours", text, status=409, home=visit_behind(assignment).token)


def _sheet(request: HttpRequest, assignment: Assignment, token: str, problem: str) -> HttpResponse:
    round = assignment.hit.round
    pairs = pairs_of(assignment)
    context = {
        "token": token,
        "visit": visit_behind(assignment),
        "pairs": pairs,
        "unfinished": [pair for pair in pairs if not pair.is_finished(reasons=round.reasons)] if problem else [],
        "problem": problem,
        "levels": LEVELS,
        "shortcomings": Shortcoming.choices if round.reasons else [],
        "wrong_ways": WrongWay.choices,
        "deadline": assignment.deadline,
        "seconds_left": max(0, int((assignment.deadline - timezone.now()).total_seconds())),
    }
    return render(request, "judging/task.html", context, status=422 if problem else 200)
