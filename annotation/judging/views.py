"""The worker's pages. Those of a HIT take its assignment, so that they serve it at whichever address it has."""

from contextlib import suppress

from django.conf import settings
from django.core.signing import BadSignature
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.admission import has_joined, is_full, join_round, permit_of
from annotation.answers import (
    ANSWERS_FIELD,
    RECEIPT_FIELD,
    Answer,
    SeatLostError,
    drafted_answers,
    drop_draft,
    encode_answers,
    places_of,
    save_draft,
)
from annotation.appeals import appeal, ask_for_pay
from annotation.judging.history import completion_code_of, earned, lost_work_of, receipt_of, rejected_work_of, work_of
from annotation.judging.links import (
    WORKER_LIFE,
    Trouble,
    Visit,
    assignment_token,
    copy_key,
    joined_round,
    read_visit_token,
    read_worker_token,
    refuse_excluded,
    visit_behind,
    visit_of,
    visit_token,
)
from annotation.judging.sheet import (
    contact,
    milliseconds,
    parse_active_seconds,
    parse_answers,
    parse_draft,
    picture_response,
    sheet_of,
    terms_of,
)
from annotation.leases import lease_seat, return_assignment
from annotation.models import Assignment, Rejection, Worker
from annotation.repair import repair_if_due
from annotation.submissions import submit_answers
from annotation.workers import actor_of, give_consent, worker_for
from core.errors import CounterpartError
from hits.models import Item, Round
from hits.wording import WORDINGS

REMEMBERED = "worker"
GIVEN_AWAY = (
    "Its time ran out and another worker was given it, so your answers cannot be used. If you worked on it, you can "
    "ask to be paid on your own page; a person decides."
)


@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, join_key: str) -> HttpResponse:
    """What the round is about and what it pays; consenting makes a worker, who joins the round."""
    round = joined_round(join_key)
    known = _remembered(request, round)
    _refuse_unwelcome(round, known)
    if request.method == "POST" and known and "again" in request.POST:
        return _enter(known)
    if request.method == "POST" and request.POST.get("consent") == "yes":
        return _enter(_consent(request, round))
    context = {"round": round, "known": known, "visit": visit_token(), "refused": request.method == "POST"}
    return render(request, "judging/join.html", {**context, **_terms(round)}, status=422 if context["refused"] else 200)


@require_safe
def home(request: HttpRequest, token: str) -> HttpResponse:
    """A worker's own page in a round: the next HIT, and what became of the earlier ones."""
    visit = visit_of(token)
    works = work_of(visit.worker)
    permit, nothing_left = permit_of(visit.round, visit.worker), "nothing-left" in request.GET
    context = {
        "visit": visit,
        "held": _held(visit),
        "permit": permit,
        "nothing_left": nothing_left,
        "returned": "returned" in request.GET,
        "works": works,
        "earned": earned(works),
        "rejected": rejected_work_of(visit.worker),
        "lost": lost_work_of(visit.worker),
        "code": completion_code_of(visit, permit, nothing_left=nothing_left),
    }
    return render(request, "judging/home.html", {**context, **_terms(visit.round)})


@require_POST
def take(request: HttpRequest, token: str) -> HttpResponse:
    """Lease a seat and open its HIT."""
    visit = visit_of(token)
    if not _held(visit):
        refuse_excluded(visit)
    if permit_of(visit.round, visit.worker).needs_test:
        return redirect("judging:test", token=token)
    repair_if_due()
    try:
        assignment = lease_seat(visit.round, worker=visit.worker)
    except CounterpartError as error:
        raise Trouble("No HIT can be taken now", str(error), status=410, home=visit.token) from error
    if assignment is None:
        return _to_home(visit, "nothing-left")
    return redirect("judging:task", token=assignment_token(assignment))


@require_POST
def appeal_against(request: HttpRequest, token: str, rejection_id: int) -> HttpResponse:
    """Store the appeal and go back to the worker's page."""
    visit = visit_of(token)
    rejection = Rejection.objects.filter(pk=rejection_id, assignment__worker=visit.worker).first()
    if rejection is None:
        raise Trouble(
            "This is not your work", "Go back to your own page and appeal from there.", status=404, home=visit.token
        )
    try:
        appeal(rejection, text=request.POST.get("text", ""), actor=actor_of(visit.worker))
    except CounterpartError as error:
        raise Trouble("Your appeal was not stored", str(error), status=422, home=visit.token) from error
    return redirect(f"{reverse('judging:home', args=[visit.token])}#rejected")


@require_POST
def ask_to_be_paid(request: HttpRequest, token: str, assignment_id: int) -> HttpResponse:
    """Store the request for the pay of a HIT that another worker was given, and go back to the worker's page."""
    visit = visit_of(token)
    lost = visit.worker.assignments.filter(pk=assignment_id).first()
    if lost is None:
        raise Trouble("This is not your work", "Go back to your own page and ask from there.", status=404, home=token)
    try:
        ask_for_pay(lost, text=request.POST.get("text", ""), actor=actor_of(visit.worker))
    except CounterpartError as error:
        raise Trouble("Your request was not saved", str(error), status=422, home=token) from error
    return redirect(f"{reverse('judging:home', args=[token])}#lost")


@require_http_methods(["GET", "HEAD", "POST"])
def task(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    """The HIT: its pairs, the four levels, and the one submit."""
    if assignment.is_submitted or (assignment.receipt and request.method != "POST"):
        return _submitted(request, assignment)
    if request.method == "POST":
        problem = _submit(request, assignment)
        return _sheet(request, assignment, problem) if problem else _submitted(request, assignment, at_once=True)
    if assignment.state != Assignment.State.LEASED:
        raise _lost(assignment)
    return _sheet(request, assignment, problem="")


@require_POST
def draft(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    """Save one pair's answer as a draft."""
    try:
        change = parse_draft(request.POST, places_of(assignment))
        if change.answer:
            save_draft(assignment, change.answer)
        else:
            drop_draft(assignment, item_id=change.item_id)
    except CounterpartError as error:
        return JsonResponse({"error": str(error)}, status=409 if isinstance(error, SeatLostError) else 422)
    if _is_lost(assignment):
        return JsonResponse({"error": GIVEN_AWAY}, status=409)
    return JsonResponse({"saved": True})


@require_POST
def give_back(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    """Return the HIT unanswered; somebody else gets it. One that another tab has submitted shows its receipt."""
    if not return_assignment(assignment, actor=actor_of(assignment.worker)) and receipt_of(assignment):
        return redirect("judging:receipt", token=assignment_token(assignment))
    return _to_home(visit_behind(assignment), "returned")


@require_safe
def receipt(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    """Proof of submission."""
    work = receipt_of(assignment)
    if work is None:
        return redirect("judging:task", token=assignment_token(assignment))
    visit = visit_behind(assignment)
    permit = permit_of(visit.round, visit.worker)
    context = {
        "work": work,
        "visit": visit,
        "pairs": assignment.hit.items.count(),
        "permit": permit,
        "code": completion_code_of(visit, permit),
        "over": copy_key(assignment),
    }
    return render(request, "judging/receipt.html", context)


@require_safe
def picture(request: HttpRequest, assignment: Assignment, place: int) -> HttpResponseBase:
    """One picture of the HIT, under a name that reveals nothing, while the HIT may be answered."""
    item = places_of(assignment).get(place, 0) if assignment.is_answerable else 0
    return picture_response(Item.objects.filter(pk=item).values_list("image__file", flat=True).first(), place=place)


def _terms(round: Round) -> dict[str, object]:
    return terms_of(round) | {"lease_minutes": settings.LEASE_MINUTES}


def _consent(request: HttpRequest, round: Round) -> Visit:
    """Make the worker who agreed. Sending the same form twice makes one."""
    try:
        visit = read_visit_token(request.POST.get("visit", ""))
    except BadSignature as error:
        raise Trouble("This form has expired", "Open the join link once more and agree again.", status=410) from error
    worker = worker_for(channel="browser", external_id=visit)
    give_consent(worker)
    return Visit(worker, round)


def _refuse_unwelcome(round: Round, known: Visit | None) -> None:
    """Let nobody in whom this browser knows as excluded, and nobody else where the round is full."""
    if known:
        refuse_excluded(known)
    if is_full(round) and not (known and has_joined(round, known.worker)):
        raise _full()


def _full() -> Trouble:
    text = "As many people as it needs have joined. Thank you; the next round may have a place."
    return Trouble("This round is full", text, status=410)


def _enter(visit: Visit) -> HttpResponse:
    """Have the worker join and send them to their own page. The cookie only shows the way back from the join link."""
    if not join_round(visit.round, visit.worker):
        raise _full()
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
        seconds = parse_active_seconds(request.POST, since=assignment.leased_at)
        submit_answers(assignment, answers=answers, active_seconds=seconds)
    except CounterpartError as error:
        _keep(assignment, answers)
        if isinstance(error, SeatLostError) and not assignment.is_claim:
            raise _lost(assignment) from error
        return str(error)
    return ""


def _keep(assignment: Assignment, answers: list[Answer]) -> None:
    """Keep what can be kept of answers that could not be submitted."""
    for answer in answers:
        with suppress(CounterpartError):
            save_draft(assignment, answer)


def _is_lost(assignment: Assignment) -> bool:
    """Whether another worker was given the HIT when its time ran out."""
    is_expired = assignment.state == Assignment.State.EXPIRED
    return is_expired and Assignment.objects.lost().filter(pk=assignment.pk).exists()


def _lost(assignment: Assignment) -> Trouble:
    """Tell the truth about a HIT that can no longer be opened or submitted."""
    if _is_lost(assignment):
        title, text = "This HIT is no longer yours", GIVEN_AWAY
    elif assignment.state == Assignment.State.RETURNED:
        title, text = (
            "You returned this HIT",
            "It is not paid and does not count against you. You can take another one.",
        )
    else:
        title = "The time for this HIT is over"
        text = "Your answers are saved. Take a HIT on your page: you get this one again if nobody else has it."
    home = visit_behind(assignment).token
    return Trouble(title, text, status=409, home=home, over=copy_key(assignment))


def _sheet(request: HttpRequest, assignment: Assignment, problem: str) -> HttpResponse:
    round = assignment.hit.round
    shown = sheet_of(
        assignment.hit.items.all(),
        places_of(assignment),
        drafted_answers(assignment),
        wording=WORDINGS[round.wording],
        reasons=round.reasons,
        problem=problem,
    )
    context = shown | {"round": round, "address": request.path, **_copy_of(assignment), **contact()}
    if not assignment.is_claim:
        context |= {
            "visit": visit_behind(assignment),
            "deadline": assignment.deadline,
            "seconds_left": max(0, int((assignment.deadline - timezone.now()).total_seconds())),
        }
    return render(request, "judging/task.html", context, status=422 if problem else 200)


def _copy_of(assignment: Assignment) -> dict[str, object]:
    """Name the copy of the answers that the browser keeps, and give it our time."""
    return {"copy": copy_key(assignment), "now": milliseconds(timezone.now())}


def _submitted(request: HttpRequest, assignment: Assignment, *, at_once: bool = False) -> HttpResponse:
    """Go on to the receipt or, for a platform's visitor, show what is left to do there: send the platform the saved
    answers, until it has confirmed them. ``at_once`` has the page send them by itself."""
    if not assignment.finish_url:
        return redirect("judging:receipt", token=assignment_token(assignment))
    context = {"assignment": assignment, "at_once": at_once, "over": copy_key(assignment), **contact()}
    if assignment.is_submitted:
        return render(request, "judging/confirmed.html", context | {"work": receipt_of(assignment)})
    answers = [*drafted_answers(assignment).values()]
    sent = {
        ANSWERS_FIELD: encode_answers(answers, places_of(assignment)),
        RECEIPT_FIELD: assignment.receipt,
    }
    return render(request, "judging/finish.html", context | {"fields": assignment.finish_fields | sent})
