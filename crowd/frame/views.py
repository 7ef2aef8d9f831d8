"""The pages of a turn at a posted HIT: preview, judging, sending on to the platform, and what the platform said."""

from collections.abc import Sequence
from contextlib import suppress

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from annotation.answers import Answer, encode_answers
from annotation.drafts import SeatLostError
from annotation.judging.forms import parse_active_seconds, parse_answers, parse_draft, places_of
from annotation.judging.history import receipt_of
from annotation.judging.links import Trouble, turn_token
from annotation.judging.sheet import SAMPLE, contact, picture_response, sheet_of, terms_of
from core.errors import CounterpartError
from crowd.arriving import TurnedAwayError, open_turn, posting_of
from crowd.channels import Arrival
from crowd.frame.access import Site, Turn, arrival_at, frame_page, turn_of
from crowd.models import PlatformAssignment, Posting
from crowd.turns import drop_answer, keep_answer, kept_answers, save_answers
from hits.models import Item

FIELD, RECEIPT_FIELD = "answers", "receipt"


@frame_page("GET")
def entry(request: HttpRequest, site: Site) -> HttpResponse:
    """Where the platform's frame leads: a preview, or on to the worker's turn at an address that names nobody."""
    arrival = arrival_at(site, request)
    try:
        posting = posting_of(arrival, channel=site.channel, environment=site.environment)
        if arrival.is_preview:
            return _preview(request, posting)
        turn = open_turn(posting, arrival)
    except TurnedAwayError as error:
        raise Trouble(error.title, str(error), status=error.status) from error
    return redirect(_address(site, turn, arrival))


@frame_page("GET", "POST")
def sheet(request: HttpRequest, site: Site, token: str) -> HttpResponse:
    """The HIT itself; once its answers are saved, the form that takes them to the platform; then what became of it."""
    turn = turn_of(site, token)
    if turn.row.status:
        return _confirmed(request, turn.row)
    if request.method != "POST":
        return _sending(request, site, turn, at_once=False) if turn.row.receipt else _sheet(request, turn.row, "")
    problem = _save(request, turn.row)
    return _sheet(request, turn.row, problem) if problem else _sending(request, site, turn, at_once=True)


@frame_page("POST")
def draft(request: HttpRequest, site: Site, token: str) -> HttpResponse:
    """Keep one pair's answer as it now stands."""
    turn = turn_of(site, token).row
    try:
        change = parse_draft(request.POST, places_of(turn.posting.hit.items.all()))
        if change.answer:
            keep_answer(turn, change.answer)
        else:
            drop_answer(turn, item_id=change.item_id)
    except CounterpartError as error:
        return JsonResponse({"error": str(error)}, status=409 if isinstance(error, SeatLostError) else 422)
    return JsonResponse({"saved": True})


@frame_page("GET")
def picture(request: HttpRequest, site: Site, token: str, place: int) -> HttpResponseBase:
    """One picture of the HIT, until the platform has its answers."""
    turn = turn_of(site, token).row
    shown = Item.objects.none() if turn.status else turn.posting.hit.items.filter(place=place)
    return picture_response(shown.values_list("image__file", flat=True).first(), place=place)


def _preview(request: HttpRequest, posting: Posting) -> HttpResponse:
    context = {"round": posting.hit.round, "sample": SAMPLE, **terms_of(posting.hit.round)}
    return render(request, "judging/frame/preview.html", context)


def _address(site: Site, turn: PlatformAssignment, arrival: Arrival) -> str:
    token = turn_token(turn, arrival.submit_url)
    return reverse("crowd:frame_sheet", args=[site.channel, site.environment, token])


def _save(request: HttpRequest, turn: PlatformAssignment) -> str:
    """Save what was sent. Returns what is wrong with it, in one line, or "" once it is in."""
    answers: list[Answer] = []
    try:
        answers = parse_answers(request.POST, places_of(turn.posting.hit.items.all()))
        seconds = parse_active_seconds(request.POST, since=turn.opened_at or timezone.now())
        save_answers(turn, answers, active_seconds=seconds)
    except CounterpartError as error:
        _keep(turn, answers)
        return str(error)
    return ""


def _keep(turn: PlatformAssignment, answers: Sequence[Answer]) -> None:
    """Keep what can be kept of answers that could not be saved as a whole."""
    for answer in answers:
        with suppress(CounterpartError):
            keep_answer(turn, answer)
    turn.refresh_from_db(fields=["answers"])


def _sheet(request: HttpRequest, turn: PlatformAssignment, problem: str) -> HttpResponse:
    hit = turn.posting.hit
    shown = sheet_of(hit.items.all(), kept_answers(turn), reasons=hit.round.reasons, problem=problem)
    context = {"round": hit.round, "address": request.path, **shown, **contact()}
    return render(request, "judging/frame/sheet.html", context, status=422 if problem else 200)


def _sending(request: HttpRequest, site: Site, turn: Turn, *, at_once: bool) -> HttpResponse:
    """Show the form that takes the saved answers to the platform; ``at_once`` has the page send it by itself."""
    row = turn.row
    fields = {
        site.platform.assignment_field: row.external_id,
        FIELD: encode_answers([*kept_answers(row).values()], places_of(row.posting.hit.items.all())),
        RECEIPT_FIELD: row.receipt,
    }
    context = {"row": row, "submit_url": turn.submit_url, "fields": fields, "at_once": at_once, **contact()}
    return render(request, "judging/frame/sending.html", context)


def _confirmed(request: HttpRequest, turn: PlatformAssignment) -> HttpResponse:
    work = receipt_of(turn.assignment) if turn.assignment else None
    return render(request, "judging/frame/confirmed.html", {"turn": turn, "work": work, **contact()})
