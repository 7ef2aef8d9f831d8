"""The pairs of a pool, a round or a version as a light table: filters, download, and reviews of one pair in place or of
many at once."""

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse

from console.pagination import page_of
from console.pairs.conclusions import ConclusionForm, last_act, remember_act
from console.pairs.pair_filters import PairFilter
from console.pairs.pair_lines import Pair, as_csv, lines_of
from console.pairs.pair_scopes import PairScope
from console.permissions import StaffRequest, members_only, reviewers_only
from core.errors import CounterpartError
from core.text import counted
from core.untrusted import whole_number
from corpus.models import Collection
from dataset.judged.verdict_worth import why_no_percentage
from dataset.models import Version
from dataset.reviews.random_reviews import random_reviews
from dataset.reviews.reviews import conclude
from dataset.secret_controls import refuse_secret_pairs
from hits.models import Round
from mitl.models import Pool

PLACES = {"pool": Pool, "round": Round, "version": Version}
TABS = {"round": "round_pairs", "version": "version"}  # which the light table belongs to
MOST_SELECTED = 100
MOST = 10_000
"""How many pairs are counted and paged: the database stops there."""
SIZE = 24
"""Pairs a page: five screens of a phone at most."""


@members_only.reads("<slug:kind>s/<slug:name>/pairs/")
def pairs(request: HttpRequest, kind: str, name: str) -> HttpResponse:
    return _page(request, _place_or_404(kind, name))


@members_only.reads("<slug:kind>s/<slug:name>/pairs.csv")
def pairs_csv(request: HttpRequest, kind: str, name: str) -> HttpResponseBase:
    """Download all pairs that pass the filter."""
    place = _place_or_404(kind, name)
    _refuse_secret(request, place)
    form = PairFilter(place, request.GET)
    if not form.is_valid():
        return _page(request, place)
    attached = {"Content-Disposition": f'attachment; filename="{name}-pairs.csv"'}
    rows = as_csv(place, form.pairs())
    return StreamingHttpResponse(rows, content_type="text/csv; charset=utf-8", headers=attached)


@reviewers_only.fills("<slug:kind>s/<slug:name>/pairs/review/")
def pairs_review(request: StaffRequest, kind: str, name: str) -> HttpResponse:
    """Give all selected pairs the same conclusion, or none if one is refused; GET leads to their table.

    A script that reviews one pair in place asks for JSON: the pair's new line and the undo button, or the trouble.
    """
    place = _place_or_404(kind, name)
    back = f"{reverse('pairs', args=[kind, name])}?{request.GET.urlencode()}"
    if request.method != "POST":
        return redirect(back)
    form = ConclusionForm(request.POST)
    if not form.is_valid():
        return _refused(request, place, "Choose a level, or keep the pairs as they are.")
    try:
        chosen = _selected(place.collection, request.POST.getlist("pair"))
        seen = form.cleaned_data["seen"]
        reviews = conclude(place.collection, chosen, form.conclude(), by=request.user, seen=seen)
    except CounterpartError as error:
        return _refused(request, place, str(error))
    image, caption = chosen[0]
    remember_act(request, reviews, seen, pair=chosen[0], page=f"{back}#{image}-{caption}")
    if _wants_json(request):
        return _in_place(request, place, chosen[0])
    waits = sum(not review.is_settled for review in reviews)
    note = f" {counted(waits, 'review holds', 'reviews hold')} when a second person agrees." if waits else ""
    messages.success(request, f"{counted(len(reviews), 'pair')} reviewed.{note}")
    return redirect(back)


def _place_or_404(kind: str, name: str) -> PairScope:
    if kind not in PLACES:
        raise Http404("Only pools, rounds and versions list pairs.")
    related = "pool__collection" if kind == "round" else "collection"
    rows: QuerySet[Any] = PLACES[kind]._default_manager.select_related(related)
    return PairScope(get_object_or_404(rows, name=name))


def _selected(collection: Collection, named: list[str]) -> list[tuple[int, int]]:
    """Return the pairs of the collection that are named by the ids of image and caption, as ``12-40``."""
    if not 0 < len(named) <= MOST_SELECTED:
        raise CounterpartError(f"{len(named)} pairs are selected; select 1 to {MOST_SELECTED}.")
    split = [text.partition("-")[::2] for text in named]
    ids = [(whole_number(image) or 0, whole_number(caption) or 0) for image, caption in split]
    images = collection.images.in_bulk([image for image, _ in ids])
    captions = collection.captions.in_bulk([caption for _, caption in ids])
    valid = [(image, caption) for image, caption in ids if image in images and caption in captions]
    if len(valid) < len(named):
        lost = len(named) - len(valid)
        raise CounterpartError(
            f"{lost} of the selected pairs are not in {collection}. Reload the page and select again."
        )
    return valid


def _wants_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept") == "application/json"


def _refused(request: HttpRequest, place: PairScope, trouble: str) -> HttpResponse:
    return JsonResponse({"trouble": trouble}, status=422) if _wants_json(request) else _page(request, place, trouble)


def _in_place(request: HttpRequest, place: PairScope, pair: Pair) -> JsonResponse:
    """Answer with the line of a pair as it now is, and the button that undoes its review."""
    address = reverse("pairs", args=[place.kind, place.row.name])
    (line,) = lines_of(place, [pair])
    context = {"line": line, "place": place, "here": address, "selecting": True, "blind": _is_blind(request)}
    undo = render_to_string("console/pairs/_undo.html", {"last": last_act(request, at=address), "key": "u"}, request)
    return JsonResponse({"line": render_to_string("console/pairs/_line.html", context, request), "undo": undo})


def _is_blind(request: HttpRequest) -> bool:
    """Whether votes and verdicts are hidden: a check of verdicts drawn at random must not show them."""
    return request.GET.get("sort") == "drawn"


def _refuse_secret(request: HttpRequest, place: PairScope) -> None:
    """Raise SecretControls if the user may not see the pairs of the place, or of the version that the filter names."""
    for row in (place.row, *Version.objects.filter(name=request.GET.get("unlike", ""))):
        refuse_secret_pairs(row, request.user)


def _page(request: HttpRequest, place: PairScope, trouble: str = "") -> HttpResponse:
    _refuse_secret(request, place)
    form = PairFilter(place, request.GET)
    context: dict[str, Any] = {"place": place, "form": form, "trouble": trouble, "blind": _is_blind(request)}
    context["tab"] = TABS.get(place.kind)
    context |= {"selected": request.POST.getlist("pair"), "reason": request.POST.get("reason", "")}
    context["last"] = last_act(request, at=reverse("pairs", args=[place.kind, place.row.name]))
    context["why_no_percentage"] = " ".join({why_no_percentage(one.certainty): None for one in place.aggregations})
    if form.is_valid():
        if form.cleaned_data["sort"] == "drawn":
            context["checked"] = random_reviews(place.aggregations[0])
            context["n_counted"] = (place.aggregations[0].certainty or {}).get("reviewed", 0)
        found = list(form.pairs()[:MOST])  # One query, where a count would be a second one.
        page = page_of(request, found, size=SIZE)
        lines = lines_of(place, page.object_list)
        seen = max((line.seen for line in lines), default=0)
        context |= {"rows": page, "lines": lines, "has_more": len(found) == MOST, "seen": seen}
    return render(request, "console/pairs/pairs.html", context, status=422 if form.errors or trouble else 200)
