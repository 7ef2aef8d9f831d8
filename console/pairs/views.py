"""Review of pairs: the queue of a collection, one screen for a pair, and what reviewers conclude there."""

from collections import Counter
from typing import Any

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation.models import Judgment
from annotation.work.control_records import Tally, tallies_of
from annotation.work.judgments import answers_by, answers_on
from annotation.work.pair_status import PairStatus, status_of
from console.pairs.conclusions import CONCLUSIONS, LAST_ACT, ConclusionForm, last_act, remember_act
from console.pairs.pair_lines import Line, Pair, lines_of
from console.pairs.pair_scopes import PairScope
from console.permissions import StaffRequest, members_only, reviewers_only
from console.refusals import refusals_as_messages
from core.errors import CounterpartError
from core.untrusted import whole_number
from corpus.models import Caption, Image, Match
from dataset.models import Case, CaseQuerySet, Review
from dataset.reviews.cases import group_of, queue_of
from dataset.reviews.reviews import conclude, latest_review, second, undo
from dataset.secret_controls import refuse_secret_pairs
from hits.models import Round

MOST_RELATED = 12


@members_only.reads("pairs/<int:image_id>/<int:caption_id>/")
def pair(request: HttpRequest, image_id: int, caption_id: int) -> HttpResponse:
    return _page(request, *_pair_or_404(image_id, caption_id))


@reviewers_only.acts("pairs/<int:image_id>/<int:caption_id>/conclude/")
def pair_conclude(request: StaffRequest, image_id: int, caption_id: int) -> HttpResponse:
    """Conclude on the pair, then go to the next case if the pair was one."""
    image, caption = _pair_or_404(image_id, caption_id)
    form = ConclusionForm(request.POST)
    if not form.is_valid():
        return _page(request, image, caption, form, "Choose a level, keep the pair as it is, or exclude.")
    case = queue_of(image.collection).filter(image=image, caption=caption).first()
    seen = form.cleaned_data["seen"]
    subjects = form.subjects(image, caption)
    try:
        reviews = conclude(image.collection, subjects, form.conclude(), by=request.user, seen=seen)
    except CounterpartError as error:
        return _page(request, image, caption, form, str(error))
    remember_act(request, reviews, seen, pair=(image_id, caption_id), page=reverse("pair", args=[image_id, caption_id]))
    waits = "" if reviews[0].is_settled else " It holds when a second person agrees."
    of = f" for {len(reviews)} pairs" if len(reviews) > 1 else ""
    messages.success(request, f"Reviewed: {_spoken(form)}{of}.{waits}")
    if case is None:
        return redirect("pair", image_id, caption_id)
    reason = _reason(request)
    following = _neighbours(queue_of(image.collection, reason), case)["following"] or case
    address = reverse("pair", args=[following.image_id, following.caption_id])
    return redirect(f"{address}?reason={reason}" if reason else address)


@reviewers_only.acts("pairs/<int:image_id>/<int:caption_id>/undo/")
def reviews_undo(request: StaffRequest, image_id: int, caption_id: int) -> HttpResponse:
    """Undo the reviews named in ``review``, all or none, and return to the page where they were made."""
    image, _caption = _pair_or_404(image_id, caption_id)
    named = [key for key in request.POST.getlist("review") if whole_number(key)]
    last = last_act(request)
    back = reverse("pair", args=[image_id, caption_id])
    if last and [str(review) for review in last["reviews"]] == named:
        back = last["page"]
    with refusals_as_messages(request):
        undone = undo(list(Review.objects.filter(pk__in=named, collection=image.collection)), by=request.user)
        of = f" for {len(undone)} pairs" if len(undone) > 1 else ""
        messages.success(request, f"Undone{of}. What held before holds again.")
        request.session.pop(LAST_ACT, None)
    return redirect(back)


@reviewers_only.acts("pairs/<int:image_id>/<int:caption_id>/second/<int:review_id>/")
def review_second(request: StaffRequest, image_id: int, caption_id: int, review_id: int) -> HttpResponse:
    """Agree to a review that needs a second person."""
    image, _caption = _pair_or_404(image_id, caption_id)
    review = get_object_or_404(Review, pk=review_id, collection=image.collection)
    with refusals_as_messages(request):
        second(review, by=request.user)
        messages.success(request, "You agreed: the review holds.")
    return redirect("pair", image_id, caption_id)


def _pair_or_404(image_id: int, caption_id: int) -> tuple[Image, Caption]:
    image = get_object_or_404(Image.objects.select_related("collection"), pk=image_id)
    return image, get_object_or_404(Caption, pk=caption_id, collection=image.collection)


def _page(
    request: HttpRequest, image: Image, caption: Caption, form: ConclusionForm | None = None, trouble: str = ""
) -> HttpResponse:
    refuse_secret_pairs(image.collection, request.user)
    sheet = _sheet_of(image, caption)
    reason = _reason(request)
    waiting = queue_of(image.collection, reason)
    latest = {review.subject: review.pk for review, _ in reversed(sheet["reviews"])}
    context = {
        **sheet,
        **_neighbours(waiting, sheet["case"]),
        "n_waiting": waiting.count(),
        "reason": reason,
        "latest": set(latest.values()),
        "last": last_act(request),
        "form": form or ConclusionForm(),
        "trouble": trouble,
    }
    return render(request, "console/pairs/pair.html", context, status=422 if trouble else 200)


def _sheet_of(image: Image, caption: Caption) -> dict[str, Any]:
    """Return the context of a pair's page. The number of queries depends only on the number of rounds that ask about
    the pair."""
    pair = (image.pk, caption.pk)
    group = group_of(image, caption)
    other_images = _related(Match.objects.filter(caption=caption).exclude(image=image))
    other_captions = _related(Match.objects.filter(image=image).exclude(caption=caption))
    lines = lines_of(PairScope(image.collection), {pair, *group, *other_images, *other_captions})
    by_pair = {(line.image.pk, line.caption.pk): line for line in lines}
    line = by_pair[pair]
    return {
        "image": image,
        "caption": caption,
        "collection": image.collection,
        "line": line,
        "case": Case.objects.filter(image=image, caption=caption).first(),
        "votes": _votes(image, caption),
        "statuses": _statuses(image, caption, {proposal.pool_id for proposal in line.proposals}),
        "versions": set(image.collection.versions.values_list("name", flat=True)),
        "reviews": _reviews(image, caption, line),
        "other_images": [by_pair[other] for other in other_images],
        "other_captions": [by_pair[other] for other in other_captions],
        "group": group,
        "twins": [by_pair[twin] for twin in group[1:]],
        "seen": latest_review([*group, (image.pk, None), (None, caption.pk)]),
    }


def _votes(image: Image, caption: Caption) -> list[tuple[Judgment, Tally]]:
    """Return the judgments of the pair, each with its worker's answers to controls."""
    related = ("worker", "assignment__hit__round", "item__control")
    judgments = list(answers_on([image], [caption]).select_related(*related).order_by("pk"))
    tallies = tallies_of(answers_by([judgment.worker_id for judgment in judgments]))
    return [(judgment, tallies.get(judgment.worker_id, Tally())) for judgment in judgments]


def _statuses(image: Image, caption: Caption, pools: set[int]) -> list[tuple[Round, PairStatus]]:
    """Return the rounds of the pools that ask about the pair, with its status in each."""
    rounds = Round.objects.filter(pool__in=pools).order_by("pk")
    statuses = [(one, status_of(one, image.pk, caption.pk)) for one in rounds]
    return [(one, status) for one, status in statuses if status]


def _related(matches: QuerySet[Match]) -> list[Pair]:
    """Return the pairs of the matches, those of most sources first; at most MOST_RELATED pairs."""
    found = matches.order_by("source", "pk").values_list("image_id", "caption_id")[:200]
    return [pair for pair, _ in Counter(found).most_common(MOST_RELATED)]


def _reviews(image: Image, caption: Caption, line: Line) -> list[tuple[Review, int | None]]:
    """Return the reviews of the pair, its image and its caption, newest first, each with the level that it replaced: of
    an earlier settled review, else of the newest verdict; None for a review of the image or the caption alone."""
    about = Q(image=image, caption=caption) | Q(image=image, caption=None) | Q(image=None, caption=caption)
    voted = max(line.verdicts, key=lambda verdict: verdict.aggregation.at).level if line.verdicts else None
    reviews = []
    before = voted
    for review in Review.objects.filter(about).select_related("by", "seconded_by", "undoes").order_by("pk"):
        of_pair = None not in review.subject
        reviews.append((review, before if of_pair else None))
        if of_pair and review.is_settled:
            before = review.level or voted
    return reviews[::-1]


def _neighbours(waiting: CaseQuerySet, case: Case | None) -> dict[str, Case | None]:
    """Return the waiting cases after and before ``case``; without one the first of the queue follows."""
    if case is None:
        return {"following": waiting.first(), "preceding": None}
    later = Q(priority__lt=case.priority) | Q(priority=case.priority, pk__gt=case.pk)
    earlier = Q(priority__gt=case.priority) | Q(priority=case.priority, pk__lt=case.pk)
    others = waiting.exclude(pk=case.pk)
    return {"following": others.filter(later).first() or others.first(), "preceding": others.filter(earlier).last()}


def _reason(request: HttpRequest) -> str:
    reason = request.GET.get("reason", "")
    return reason if reason in Case.Reason.values else ""


def _spoken(form: ConclusionForm) -> str:
    chosen = form.cleaned_data["conclusion"]
    if chosen == "excluded":
        return f"{'picture' if form.cleaned_data['side'] == 'image' else 'caption'} excluded"
    return "kept as it is" if chosen == "kept" else f"level {chosen}, {dict(CONCLUSIONS)[chosen]}"
