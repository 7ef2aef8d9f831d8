"""Review of pairs: the queue of a collection, one screen for a pair, and what reviewers conclude there."""

from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from console.pairs.conclusions import CONCLUSIONS, LAST_ACT, ConclusionForm, last_act, remember_act
from console.pairs.pair_sheets import sheet_of
from console.permissions import StaffRequest, members_only, reviewers_only
from console.refusals import refusals_as_messages
from core.errors import CounterpartError
from core.untrusted import whole_number
from corpus.models import Caption, Image
from dataset.models import Case, CaseQuerySet, Review
from dataset.reviews.cases import queue_of
from dataset.reviews.reviews import conclude, second, undo
from dataset.secret_controls import refuse_secret_pairs


@members_only.reads
def pair(request: HttpRequest, image_id: int, caption_id: int) -> HttpResponse:
    return _page(request, *_pair_or_404(image_id, caption_id))


@reviewers_only.acts
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
    remember_act(request, reviews, seen, pair=(image_id, caption_id), page=_pair_address(image_id, caption_id))
    waits = "" if reviews[0].is_settled else " It holds when a second person agrees."
    of = f" for {len(reviews)} pairs" if len(reviews) > 1 else ""
    messages.success(request, f"Reviewed: {_spoken(form)}{of}.{waits}")
    following = _neighbours(case, _reason(request))["following"] if case else None
    return redirect(_address(following or case, _reason(request)) if case else _pair_address(image_id, caption_id))


@reviewers_only.acts
def reviews_undo(request: StaffRequest, image_id: int, caption_id: int) -> HttpResponse:
    """Undo the reviews named in ``review``, all or none, and return to the page where they were made."""
    image, _caption = _pair_or_404(image_id, caption_id)
    named = [key for key in request.POST.getlist("review") if whole_number(key)]
    last = last_act(request)
    back = _pair_address(image_id, caption_id)
    if last and [str(review) for review in last["reviews"]] == named:
        back = last["page"]
    with refusals_as_messages(request):
        undone = undo(list(Review.objects.filter(pk__in=named, collection=image.collection)), by=request.user)
        of = f" for {len(undone)} pairs" if len(undone) > 1 else ""
        messages.success(request, f"Undone{of}. What held before holds again.")
        request.session.pop(LAST_ACT, None)
    return redirect(back)


@reviewers_only.acts
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
    sheet = sheet_of(image, caption)
    reason = _reason(request)
    waiting = queue_of(image.collection, reason)
    latest = {review.subject: review.pk for review, _ in reversed(sheet["reviews"])}
    context = {
        **sheet,
        **_neighbours(sheet["case"], reason, waiting),
        "n_waiting": waiting.count(),
        "reason": reason,
        "latest": set(latest.values()),
        "last": last_act(request),
        "form": form or ConclusionForm(),
        "trouble": trouble,
    }
    return render(request, "console/pairs/pair.html", context, status=422 if trouble else 200)


def _neighbours(case: Case | None, reason: str, waiting: CaseQuerySet | None = None) -> dict[str, Any]:
    """Return the waiting cases after and before ``case``; without one the first of the queue follows."""
    if case is None:
        return {"following": waiting.first() if waiting is not None else None, "preceding": None}
    waiting = queue_of(case.collection, reason)
    later = Q(priority__lt=case.priority) | Q(priority=case.priority, pk__gt=case.pk)
    earlier = Q(priority__gt=case.priority) | Q(priority=case.priority, pk__lt=case.pk)
    others = waiting.exclude(pk=case.pk)
    return {"following": others.filter(later).first() or others.first(), "preceding": others.filter(earlier).last()}


def _reason(request: HttpRequest) -> str:
    reason = request.GET.get("reason", "")
    return reason if reason in Case.Reason.values else ""


def _address(case: Case, reason: str) -> str:
    return _pair_address(case.image_id, case.caption_id) + (f"?reason={reason}" if reason else "")


def _pair_address(image_id: int, caption_id: int) -> str:
    return reverse("pair", args=[image_id, caption_id])


def _spoken(form: ConclusionForm) -> str:
    chosen = form.cleaned_data["conclusion"]
    if chosen == "excluded":
        return f"{'picture' if form.cleaned_data['side'] == 'image' else 'caption'} excluded"
    return "kept as it is" if chosen == "kept" else f"level {chosen}, {dict(CONCLUSIONS)[chosen]}"
