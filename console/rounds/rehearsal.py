"""A HIT as workers see it, whose answers are not stored: of a collection before any search, in a frame of the page that
plans the round; and of a draft, to rehearse it with the pay, the right controls and the time of each pair. Or a job has
a simulated crowd judge all HITs of the draft."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from statistics import median
from typing import Any, cast

from csp.constants import SELF
from csp.decorators import csp_replace
from django import forms
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_sameorigin

from annotation.judging.hit_pictures import picture_response
from annotation.judging.sheet import ItemContent, sheet_of, shown_in
from annotation.judging.sheet_answers import parse_answers, parse_number
from annotation.models import Draft
from annotation.people.guides import guided_task
from annotation.work.answers import NO_PICTURE, Answer, check_answer_set
from console.acts import Chosen
from console.fields import asking
from console.permissions import View, researchers_only
from console.review.answer_sheets import pairs_of
from console.rounds.round_acts import round_act
from core.errors import CounterpartError
from core.models import Job
from core.parameters import choices
from corpus.models import Collection, Image
from hits.models import HIT, Item, Round
from hits.packing.designs import DEFAULT, DESIGNS
from hits.prices import fair_reward
from hits.task_types import TASK_TYPES, task_type_of
from hits.task_types.ranking_preference import PREFERENCE
from hits.task_types.task_type import TaskType
from simulation import profiles
from simulation.jobs import start_rehearsal
from simulation.rehearsals import REHEARSED

RANKED = 5  # pictures in each of two rankings
framable = cast("Callable[[View], View]", csp_replace({"frame-ancestors": [SELF]}))


@researchers_only.fills("plan/preview/<slug:name>/<slug:task>/<slug:design>/")
@framable
@xframe_options_sameorigin
def hit_preview(request: HttpRequest, name: str, task: str, design: str) -> HttpResponse:
    """The sheet of the task; answers sent from it are not stored."""
    collection, chosen, items = _previewed_or_404(name, task, design)
    shown = [_shown(item, collection.language) for item in items]
    sheet = sheet_of(
        shown,
        {item.place: item.place for item in items},
        {},
        task=chosen,
        wording=chosen.latest_wording,
        reasons="reasons" in request.GET,
        problem="",
        pictures=f"{reverse('hit_preview', args=[name, task, design])}pictures/",
    )
    return render(request, "console/rounds/preview.html", {"collection": name, "address": request.path, **sheet})


@researchers_only.reads("plan/preview/<slug:name>/<slug:task>/<slug:design>/pictures/<int:place>/")
def preview_picture(request: HttpRequest, name: str, task: str, design: str, place: int) -> HttpResponseBase:
    """One picture of the preview, as a worker gets it."""
    _, _, items = _previewed_or_404(name, task, design)
    item = next((one for one in items if one.place == place), None)
    return picture_response(request, item)


def _previewed_or_404(name: str, task: str, design: str) -> tuple[Collection, TaskType, list[Item]]:
    if task not in TASK_TYPES:
        raise Http404(f"Unknown type of task {task}.")
    collection = get_object_or_404(Collection, name=name)
    chosen = TASK_TYPES[task]
    composition = chosen.design or DESIGNS.get(design, DESIGNS[DEFAULT])
    return collection, chosen, _items(collection, chosen, composition.size)


def _items(collection: Collection, task: TaskType, size: int) -> list[Item]:
    """Return unsaved items: as many screens as a HIT has, or as the collection has pictures for."""
    pictures = collection.images.gallery() if task.writes else collection.images.gallery().captioned()
    images = list(pictures.prefetch_related("captions").order_by("pk")[: max(task.screens(size), 2 * RANKED)])
    if task.writes:
        return [Item(place=place, image=image) for place, image in enumerate(images[:size], 1)]
    places = range(1, min(size, len(images) * task.group) + 1)
    return [_item(place, images, task) for place in places]


def _item(place: int, images: Sequence[Image], task: TaskType) -> Item:
    """Return the pair at a place. Every other pair has the caption of a later picture instead of its own."""
    number = (place - 1) // task.group
    image = images[number % len(images)]
    captions = images[(number + (place % 2) * place) % len(images)].captions.all()
    caption = captions[place % len(captions)]
    if task is PREFERENCE:
        keys = [one.pk for one in images]
        return Item(place=place, caption=caption, content={"rankings": [keys[:RANKED], keys[RANKED : 2 * RANKED]]})
    return Item(place=place, image=image, caption=caption)


def _shown(item: Item, language: str) -> ItemContent:
    image = item.image or Image()
    sentence = item.caption.text if item.caption else ""
    size = image.width, image.height
    return ItemContent(item.place, image.pk, image.sha256, sentence, language, *size, item.content)


LONGEST = 99_999  # seconds that a rehearsal may have taken


@researchers_only.fills("rounds/<slug:name>/rehearse/")
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
    context = {"round": hit.round, "task": task, **_graded(hit, answers)}
    if 0 < seconds <= LONGEST:
        context |= {"seconds": seconds, "hourly": hit.round.reward * 3600 / Decimal(seconds)}
        context["fair"] = fair_reward(seconds, hit.round.wage_floor)
    return render(request, "console/rounds/rehearsed.html", context)


@researchers_only.reads("rounds/<slug:name>/rehearse/pictures/<int:place>/")
def rehearsal_picture(request: HttpRequest, name: str, place: int) -> HttpResponseBase:
    """One picture of the rehearsed HIT, as a worker gets it."""
    item = Item.shown.select_related("image").filter(hit=_first_hit(name), place=place).first()
    return picture_response(request, item)


def _first_hit(name: str) -> HIT:
    hit = HIT.objects.select_related("round").filter(round__name=name).order_by("number").first()
    if hit is None:
        raise Http404(f"No round {name} has HITs.")
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
        can_skip=task_type_of(round).has_picture,
    )
    context = {"round": round, "address": request.path, **shown}
    return render(request, "console/rounds/rehearse.html", context, status=422 if problem else 200)


def _graded(hit: HIT, answers: Mapping[int, Answer]) -> dict[str, Any]:
    """Return the pairs with their answers, which are not stored, the number of right controls, and the median time of a
    pair."""
    pairs = []
    for pair in pairs_of(hit):
        answer = answers[pair.item.pk]
        given = {"skipped": True} if answer.level == NO_PICTURE else {"judgment": Draft(**asdict(answer))}
        pairs.append(replace(pair, **given))
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


@round_act(
    "rehearsals",
    "Rehearse {} with a simulated crowd?",
    label="Rehearse with a simulated crowd",
    button="Rehearse",
    form=asking(
        lambda round: round.summary.get(REHEARSED),
        workers=forms.IntegerField(initial=20, min_value=1, max_value=1_000, label="Workers"),
        profile=forms.ChoiceField(
            choices=choices(*sorted(path.stem for path in profiles.PRESETS.glob("*.json"))),
            initial=profiles.DEFAULT,
            label="Crowd",
        ),
    ),
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
