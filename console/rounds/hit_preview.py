"""A HIT of a collection before any search: the worker's page with its first pictures, in a frame of the page that plans
the round. Every other pair has the caption of another picture."""

from collections.abc import Sequence

from csp.constants import SELF
from csp.decorators import csp_replace
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_sameorigin

from annotation.judging.hit_pictures import picture_response
from annotation.judging.sheet import ItemContent, sheet_of
from console.permissions import researchers_only
from corpus.models import Collection, Image
from hits.models import Item
from hits.packing.designs import DEFAULT, DESIGNS
from hits.task_types import TASK_TYPES
from hits.task_types.ranking_preference import PREFERENCE
from hits.task_types.task_type import TaskType

RANKED = 5  # pictures in each of two rankings


@csp_replace({"frame-ancestors": [SELF]})
@xframe_options_sameorigin
@researchers_only.fills
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


@researchers_only.reads
def preview_picture(request: HttpRequest, name: str, task: str, design: str, place: int) -> HttpResponseBase:
    """One picture of the preview, as a worker gets it."""
    _, _, items = _previewed_or_404(name, task, design)
    item = next((one for one in items if one.place == place), None)
    return picture_response(item, size=request.GET.get("size", ""), number=request.GET.get("n", ""))


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
    image = item.image
    width, height = (image.width, image.height) if image else (None, None)
    sentence = item.caption.text if item.caption else ""
    key, sha256 = (image.pk, image.sha256) if image else (None, "")
    return ItemContent(item.place, key, sha256, sentence, language, width, height, item.content)
