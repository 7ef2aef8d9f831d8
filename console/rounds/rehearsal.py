"""Rehearsing a draft: a researcher judges one of its HITs on the worker's page, and sees the pay, the right controls
and the time of each pair, without storing the answers; or a job has a simulated crowd judge all of them."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from decimal import Decimal
from statistics import median
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from annotation.judging.hit_pictures import picture_response
from annotation.judging.sheet import sheet_of, shown_in
from annotation.judging.sheet_answers import parse_answers, parse_number
from annotation.models import Draft
from annotation.people.guides import guided_task
from annotation.work.answers import NO_PICTURE, Answer, check_answer_set
from console.acts import Chosen
from console.permissions import researchers_only
from console.review.answer_sheets import SheetAnswer, pairs_of
from console.rounds.round_acts import round_act
from core.errors import CounterpartError
from core.models import Job
from core.parameters import choices
from hits.models import HIT, Item, Round
from hits.prices import fair_reward
from hits.task_types import task_type_of
from simulation.jobs import start_rehearsal
from simulation.profiles import DEFAULT, PRESETS
from simulation.rehearsals import REHEARSED

LONGEST = 99_999  # seconds that a rehearsal may have taken


@researchers_only.fills
@never_cache
def round_rehearse(request: HttpRequest, name: str) -> HttpResponse:
    """The first HIT as its worker sees it; sending the answers shows how they would be graded and paid."""
    hit = _first_hit(name)
    if request.method != "POST":
        return _sheet(request, hit)
    answers: dict[int, Answer] = {}
    places = _places_of(hit)
    task = task_type_of(hit.round)
    try:
        answers = {answer.item_id: answer for answer in parse_answers(request.POST, places, task)}
        check_answer_set([*answers.values()], places, task=task, reasons=hit.round.reasons)
        seconds = parse_number(request.POST.get("active_seconds", "") or "0", "the seconds")
    except CounterpartError as error:
        return _sheet(request, hit, answers, problem=str(error))
    context = {"round": hit.round, "task": task, **_wage(hit.round, seconds), **_graded(hit, answers)}
    return render(request, "console/rounds/rehearsed.html", context)


@researchers_only.reads
def rehearsal_picture(request: HttpRequest, name: str, place: int) -> HttpResponseBase:
    """One picture of the rehearsed HIT, as a worker gets it."""
    item = Item.shown.select_related("image").filter(hit=_first_hit(name), place=place).first()
    return picture_response(item, size=request.GET.get("size", ""), number=request.GET.get("n", ""))


def _first_hit(name: str) -> HIT:
    round = get_object_or_404(Round, name=name)
    hit = round.hits.order_by("number").first()
    if hit is None:
        raise Http404(f"Round {round} has no HITs.")
    hit.round = round
    return hit


def _places_of(hit: HIT) -> dict[int, int]:
    return dict(Item.shown.filter(hit=hit).values_list("place", "pk"))


def _sheet(
    request: HttpRequest, hit: HIT, answers: Mapping[int, Answer] | None = None, problem: str = ""
) -> HttpResponse:
    round = hit.round
    shown = sheet_of(
        shown_in(hit.pk),
        _places_of(hit),
        answers or {},
        task=guided_task(round),
        wording=round.wording,
        reasons=round.reasons,
        problem=problem,
        pictures=f"{reverse('round_rehearse', args=[round.name])}pictures/",
        reported={} if task_type_of(round).has_picture else None,
    )
    context = {"round": round, "address": request.path, "can_report": task_type_of(round).has_picture, **shown}
    return render(request, "console/rounds/rehearse.html", context, status=422 if problem else 200)


def _graded(hit: HIT, answers: Mapping[int, Answer]) -> dict[str, Any]:
    """Return the pairs with their answers, which are not stored, the number of right controls, and the median time of a
    pair."""
    pairs = [_judged(pair, answers[pair.item.pk]) for pair in pairs_of(hit)]
    controls = [pair for pair in pairs if pair.item.control]
    right = sum(pair.judgment is not None and not pair.is_wrong for pair in controls)
    times = [answer.seconds for answer in answers.values() if answer.seconds is not None]
    return {
        "answers": pairs,
        "reasons": hit.round.reasons,
        "controls": len(controls),
        "right": right,
        "passes": right >= task_type_of(hit.round).passing * len(controls),
        "median": median(times) if times else None,
    }


def _judged(pair: SheetAnswer, answer: Answer) -> SheetAnswer:
    if answer.level == NO_PICTURE:
        return replace(pair, skipped=True)
    return replace(pair, judgment=Draft(**asdict(answer)))


def _wage(round: Round, seconds: int) -> dict[str, object]:
    if not 0 < seconds <= LONGEST:
        return {}
    return {
        "seconds": seconds,
        "hourly": round.reward * 3600 / Decimal(seconds),
        "fair": fair_reward(seconds, round.wage_floor),
    }


class CrowdForm(forms.Form):
    """The simulated crowd of a rehearsal."""

    workers = forms.IntegerField(initial=20, min_value=1, max_value=1_000, label="Workers")
    profile = forms.ChoiceField(
        choices=choices(*sorted(path.stem for path in PRESETS.glob("*.json"))), initial=DEFAULT, label="Crowd"
    )


@round_act(
    "rehearsals",
    "Rehearse {} with a simulated crowd?",
    label="Rehearse with a simulated crowd",
    button="Rehearse",
    form=lambda data, round: CrowdForm(data, initial=round.summary.get(REHEARSED)),
    offered=lambda round: round.state == "draft" and not task_type_of(round).writes,
)
def rehearsals(round: Round, chosen: Chosen, by: User) -> Job:
    """Programs judge a copy of the HITs. Their votes are not stored and cannot be released."""
    if round.state != "draft":
        raise CounterpartError(f"Round {round} is already {round.state}: only a draft is rehearsed.")
    return start_rehearsal(round, **chosen, seed=0, by=by)


def rehearsal_figures(round: Round) -> dict[str, Any] | None:
    """Return the figures of the last rehearsal with the shares and the wage that follow from them; None without one."""
    kept = round.summary.get(REHEARSED)
    if kept is None:
        return None
    seconds = kept["seconds_of_hit"]
    return kept | {
        "cost": Decimal(kept["cost"]),
        "hourly": round.reward * 3600 / Decimal(seconds) if seconds else None,
        "controls_right": kept["right_controls"] / kept["controls"] if kept["controls"] else None,
        "verdicts_right": kept["right_verdicts"] / kept["verdicts"] if kept["verdicts"] else None,
    }
