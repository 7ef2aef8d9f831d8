"""Rehearsing a round: a researcher judges one of its HITs on the worker's page. Nothing of it is stored."""

from collections.abc import Mapping
from decimal import Decimal

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from annotation.judging.hit_pictures import picture_response
from annotation.judging.sheet import sheet_of, shown_in
from annotation.judging.sheet_answers import parse_answers, parse_number
from annotation.money.wages import fair_reward
from annotation.work.answers import Answer
from console.permissions import researchers_only
from core.errors import CounterpartError, some_of
from hits.models import HIT, Item, Round
from hits.task_types import task_type_of

LONGEST = 99_999  # seconds that a rehearsal may have taken


@researchers_only.fills
@never_cache
def round_rehearse(request: HttpRequest, name: str) -> HttpResponse:
    """The first HIT as its worker sees it; sending the answers shows what an hour of such work pays."""
    hit = _first_hit(name)
    if request.method != "POST":
        return _sheet(request, hit)
    answers: dict[int, Answer] = {}
    places = _places_of(hit)
    task = task_type_of(hit.round)
    try:
        answers = {answer.item_id: answer for answer in parse_answers(request.POST, places, task)}
        if missing := sorted({task.screens(place) for place, item in places.items() if item not in answers}):
            shown = some_of(missing, at_most=18)
            raise CounterpartError(f"No answer yet for {task.screen[0]} {shown}. Answer and submit again.")
        seconds = parse_number(request.POST.get("active_seconds", "") or "0", "the seconds")
    except CounterpartError as error:
        return _sheet(request, hit, answers, problem=str(error))
    return render(request, "console/rounds/rehearsed.html", {"round": hit.round, **_wage(hit.round, seconds)})


@researchers_only.reads
def rehearsal_picture(request: HttpRequest, name: str, place: int) -> HttpResponseBase:
    """One picture of the rehearsed HIT, as a worker gets it."""
    item = Item.objects.select_related("image").filter(hit=_first_hit(name), place=place).first()
    return picture_response(item, size=request.GET.get("size", ""), number=request.GET.get("n", ""))


def _first_hit(name: str) -> HIT:
    round = get_object_or_404(Round, name=name)
    hit = round.hits.order_by("number").first()
    if hit is None:
        raise Http404(f"Round {round} has no HITs.")
    hit.round = round
    return hit


def _places_of(hit: HIT) -> dict[int, int]:
    return dict(hit.items.values_list("place", "pk"))


def _sheet(
    request: HttpRequest, hit: HIT, answers: Mapping[int, Answer] | None = None, problem: str = ""
) -> HttpResponse:
    round = hit.round
    shown = sheet_of(
        shown_in(hit.pk),
        _places_of(hit),
        answers or {},
        task=task_type_of(round),
        wording=round.wording,
        reasons=round.reasons,
        problem=problem,
        pictures=f"{reverse('round_rehearse', args=[round.name])}pictures/",
    )
    context = {"round": round, "address": request.path, **shown}
    return render(request, "console/rounds/rehearse.html", context, status=422 if problem else 200)


def _wage(round: Round, seconds: int) -> dict[str, object]:
    if not 0 < seconds <= LONGEST:
        return {}
    return {
        "seconds": seconds,
        "hourly": round.reward * 3600 / Decimal(seconds),
        "fair": fair_reward(seconds, round.wage_floor),
    }
