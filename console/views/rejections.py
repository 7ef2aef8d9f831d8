"""Refused work: what waits for a second person, what holds, and what its workers object."""

from collections.abc import Callable
from functools import partial

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.appealing import answer_appeal, appeal
from annotation.models import Appeal, Rejection
from annotation.rejecting import drop_proposal, second
from annotation.reversing import reverse
from console.access import StaffRequest, members_only, reviewers_only
from console.pages import page_of
from console.refused import Refused
from core.errors import CounterpartError

SHOWN = {
    "proposed": {"dropped_at": None, "needs_second": True, "seconded_at": None},
    "objected": {"appeal__isnull": False, "appeal__answered_at": None},
}


@members_only
@require_safe
def rejections(request: HttpRequest) -> HttpResponse:
    """All refused work, the latest first; ``?show=`` keeps what waits for a second person or for an answer."""
    show = request.GET.get("show", "")
    work = ("assignment__hit__round", "assignment__worker", "assignment__platform__posting")
    rows = Rejection.objects.select_related(*work, "by", "appeal")
    page = page_of(request, rows.filter(**SHOWN.get(show, {})).order_by("-id"))
    context = {"rows": page, "lines": [Refused(row) for row in page], "show": show, "counts": _counts()}
    return render(request, "console/rejections.html", context)


@reviewers_only
@require_POST
def rejection_second(request: StaffRequest, rejection_id: int) -> HttpResponse:
    found = _rejection_or_404(rejection_id)
    return _done(request, found, lambda: second(found, by=request.user), "It holds now: the work is not paid.")


@reviewers_only
@require_POST
def rejection_drop(request: StaffRequest, rejection_id: int) -> HttpResponse:
    found = _rejection_or_404(rejection_id)
    return _done(request, found, lambda: drop_proposal(found, by=request.user), "Dropped; decide the work anew.")


@reviewers_only
@require_POST
def rejection_reverse(request: StaffRequest, rejection_id: int) -> HttpResponse:
    found = _rejection_or_404(rejection_id)
    reason = request.POST.get("reason", "")
    return _done(request, found, lambda: reverse(found, reason=reason, by=request.user), "Reversed; the work is paid.")


@reviewers_only
@require_POST
def appeal_enter(request: StaffRequest, rejection_id: int) -> HttpResponse:
    """Write down an objection that reached us by mail or through the platform."""
    found = _rejection_or_404(rejection_id)
    text, actor = request.POST.get("text", ""), request.user.get_username()
    return _done(request, found, lambda: appeal(found, text=text, actor=actor), "The objection waits for an answer.")


@reviewers_only
@require_POST
def appeal_answer(request: StaffRequest, appeal_id: int) -> HttpResponse:
    found = get_object_or_404(Appeal.objects.select_related("rejection"), pk=appeal_id)
    upheld, answer = request.POST.get("upheld"), request.POST.get("answer", "")
    if upheld not in ("yes", "no"):
        messages.error(request, "Say whether the worker is right.")
        return redirect("assignment", found.rejection.assignment_id)
    act = partial(answer_appeal, found, upheld=upheld == "yes", answer=answer, by=request.user)
    return _done(request, found.rejection, act, "The worker reads your answer on their page.")


def _done(request: StaffRequest, rejection: Rejection, act: Callable[[], object], told: str) -> HttpResponse:
    """Do it, say what came of it, and go back to the work."""
    try:
        act()
        messages.success(request, told)
    except CounterpartError as error:
        messages.error(request, str(error))
    return redirect("assignment", rejection.assignment_id)


def _rejection_or_404(rejection_id: int) -> Rejection:
    return get_object_or_404(Rejection.objects.select_related("assignment__hit__round"), pk=rejection_id)


def _counts() -> dict[str, int]:
    return {name: Rejection.objects.filter(**only).count() for name, only in SHOWN.items()}
