"""The pages of a HIT. They take its assignment, so that they serve it at whichever address it has."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime

from django.core.signing import BadSignature
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.judging.history import completion_code_of, receipt_of
from annotation.judging.hit_pictures import picture_response
from annotation.judging.home import to_home
from annotation.judging.links import (
    PICTURES_SALT,
    Trouble,
    assignment_token,
    copy_key,
    home_behind,
    read_assignment_token,
)
from annotation.judging.sheet import hit_page
from annotation.judging.sheet_answers import (
    believed,
    elapsed_seconds,
    parse_active_seconds,
    parse_answers,
    parse_draft,
    parse_reports,
)
from annotation.models import Assignment
from annotation.people.admission import permit_of
from annotation.people.workers import actor_of
from annotation.review.appeals import work_again
from annotation.work.answers import Answer, SeatLostError, items_in, places_among, places_of, save_drafts
from annotation.work.leases import extend_lease, return_assignment
from annotation.work.reports import report_pair
from annotation.work.submissions import items_of, submit_answers
from core.errors import CounterpartError
from hits.models import Item, Seat
from hits.task_types import task_type_of

Finish = Callable[..., HttpResponse]
GIVEN_AWAY = gettext_noop(
    "Your time ran out and another worker took this HIT, so your answers cannot be used. If you worked on it, you can "
    "ask to be paid on your own page. A person decides."
)


def to_receipt(request: HttpRequest, assignment: Assignment, *, at_once: bool) -> HttpResponse:
    return redirect("judging:receipt", token=assignment_token(assignment))


@require_http_methods(["GET", "HEAD", "POST"])
def task(request: HttpRequest, assignment: Assignment, *, finish: Finish = to_receipt) -> HttpResponse:
    """Show the HIT: its pairs, the four levels, and the one submit; ``finish`` makes the page that follows, ``at_once``
    when the answers have just been sent."""
    is_submitted = assignment.is_submitted and not assignment.may_be_answered_yet
    if is_submitted or (assignment.receipt and request.method != "POST"):
        return finish(request, assignment, at_once=request.method == "POST")
    if request.method == "POST":
        problem = _submit(request, assignment)
        if problem:
            return hit_page(request, assignment, address=request.path, problem=problem)
        return finish(request, assignment, at_once=True)
    if assignment.state != Assignment.State.LEASED and not (assignment.may_be_answered_yet or _is_late(assignment)):
        raise _lost(assignment)
    return hit_page(request, assignment, address=request.path)


@require_POST
def draft(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    """Save answers as drafts and store reports: one in each field ``saving``, written as a form, or the form itself.

    Each is taken or refused by itself; ``errors`` says why, by their numbers in what was sent. Sending it again changes
    nothing."""
    forms = [QueryDict(one) for one in request.POST.getlist("saving")] or [request.POST]
    try:
        errors = _save(assignment, forms)
    except SeatLostError as error:
        return JsonResponse({"error": str(error)}, status=409)
    if _is_lost(assignment):
        return JsonResponse({"error": _(GIVEN_AWAY)}, status=409)
    return JsonResponse({"errors": errors}, status=422 if errors else 200)


@require_POST
def extend(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    """Give the worker more time, once, and show the HIT again."""
    extend_lease(assignment)
    return redirect("judging:task", token=assignment_token(assignment))


@require_POST
def give_back(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    """Return the HIT unanswered, for another worker. A HIT that another tab has submitted shows its receipt."""
    if not return_assignment(assignment, actor=actor_of(assignment.worker)):
        assignment.refresh_from_db(fields=["state"])
        if receipt_of(assignment):
            return redirect("judging:receipt", token=assignment_token(assignment))
    return to_home(home_behind(assignment), "returned")


@require_safe
def receipt(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    """Proof of submission."""
    work = receipt_of(assignment)
    if work is None:
        return redirect("judging:task", token=assignment_token(assignment))
    home = home_behind(assignment)
    permit = permit_of(home.round, home.worker)
    context = {
        "work": work,
        "home": home,
        "answers": task_type_of(home.round).screens(len(items_in(assignment.hit_id))),
        "permit": permit,
        "code": completion_code_of(home, permit),
        "over": copy_key(assignment),
    }
    return render(request, "judging/receipt.html", context)


@require_safe
def picture(request: HttpRequest, token: str, place: int) -> HttpResponseBase:
    """Send one picture of the HIT, under a name that reveals nothing, while the HIT may be answered."""
    assignment = None
    with suppress(BadSignature):
        assignment = read_assignment_token(token, salt=PICTURES_SALT)
    shown = places_of(assignment).get(place, 0) if assignment and assignment.is_answerable else 0
    item = Item.shown.select_related("image").filter(pk=shown).first()
    return picture_response(request, item)


def _submit(request: HttpRequest, assignment: Assignment) -> str:
    """Submit what was sent. Returns what is wrong with it, in one line, or "" once it is in."""
    answers: list[Answer] = []
    items = items_of(assignment)
    places = places_among(assignment, items)
    for complaint in parse_reports(request.POST, places):
        with suppress(CounterpartError):  # a report never keeps answers out
            report_pair(assignment, complaint)
    try:
        elapsed = elapsed_seconds(assignment)
        answers = believed(parse_answers(request.POST, places, task_type_of(assignment.hit.round)), elapsed)
        seconds = parse_active_seconds(request.POST, answers, elapsed)
        submit_answers(assignment, answers=answers, active_seconds=seconds, items=items)
    except CounterpartError as error:
        with suppress(CounterpartError):
            save_drafts(assignment, answers)
        if isinstance(error, SeatLostError) and not assignment.is_claim:
            raise _lost(assignment) from error
        return str(error)
    return ""


def _save(assignment: Assignment, forms: Sequence[QueryDict]) -> dict[int, str]:
    """Save what the forms hold: the drafts together, the reports each. Returns why some are refused, by number."""
    places = places_of(assignment)
    answers: list[Answer] = []
    undone: dict[int, datetime] = {}
    number_of: dict[int, int] = {}
    errors: dict[int, str] = {}
    for number, form in enumerate(forms):
        try:
            complaints = parse_reports(form, places)
            for complaint in complaints:
                report_pair(assignment, complaint)
            if not complaints:
                given, taken_back = parse_draft(form, places, task_type_of(assignment.hit.round))
                answers += given
                undone |= taken_back
                number_of |= {answer.item_id: number for answer in given}
        except SeatLostError:
            raise
        except CounterpartError as error:
            errors[number] = str(error)
    if answers or undone:
        refused = save_drafts(assignment, believed(answers, elapsed_seconds(assignment)), undone, places)
        errors |= {number_of[item]: error for item, error in refused.items()}
    return errors


def _is_lost(assignment: Assignment) -> bool:
    """Whether another worker was given the HIT when its time ran out."""
    is_expired = assignment.state == Assignment.State.EXPIRED
    return is_expired and Assignment.objects.lost().filter(pk=assignment.pk).exists()


def _is_late(assignment: Assignment) -> bool:
    """Whether the HIT may be submitted late: its time ran out, no other worker took it, and its worker did not take it
    again."""
    if assignment.state != Assignment.State.EXPIRED or assignment.is_outside or work_again(assignment).exists():
        return False
    return assignment.seat is not None and assignment.seat.state == Seat.State.OPEN


def _lost(assignment: Assignment) -> Trouble:
    """Return the error page that says why a HIT can no longer be opened or submitted."""
    if _is_lost(assignment):
        title = _("You no longer have this HIT")
        text = _(GIVEN_AWAY)
    elif assignment.state == Assignment.State.RETURNED:
        title = _("You returned this HIT")
        text = _("It is not paid and does not count against you. You can take another one.")
    else:
        title = _("The time for this HIT is over")
        text = _(
            "Your answers are saved. Take a HIT on your own page: you get this one again if no other worker has it."
        )
        if assignment.is_outside:
            text = _("The platform lists your session as ended. Your answers are saved. Write to us on the platform.")
    home = "" if assignment.is_outside else home_behind(assignment).token
    return Trouble(title, text, status=409, home=home, over=copy_key(assignment))
