"""Judgments: the list of answered HITs, the queue of flagged ones, and the page on which a person decides one."""

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.deciding import decide
from annotation.masking import mask_workers
from annotation.models import Assignment
from console.access import StaffRequest, members_only, reviewers_only
from console.answers import answers_of
from console.forms import DecisionForm
from console.pages import page_of
from console.quality import record_of
from console.refused import refused_of
from core.errors import CounterpartError
from crowd.models import PlatformAssignment

REVIEWABLE = (Assignment.State.FLAGGED, Assignment.State.ACCEPTED, Assignment.State.EXCLUDED)


@members_only
@require_safe
def judgments(request: HttpRequest) -> HttpResponse:
    """Answered HITs, newest first; ``?state=`` and ``?round=`` narrow them."""
    state = request.GET.get("state", "")
    rows = _rows(request).exclude(submitted_at=None).order_by("-submitted_at", "-pk")
    rows = rows.filter(state=state) if state in Assignment.State.values else rows
    states = [Assignment.State.FLAGGED, Assignment.State.ACCEPTED, Assignment.State.EXCLUDED]
    context = {"rows": page_of(request, rows), "state": state, "states": states, "round": request.GET.get("round", "")}
    return render(request, "console/judgments.html", context)


@members_only
@require_safe
def review(request: HttpRequest) -> HttpResponse:
    """Flagged assignments, longest waiting first."""
    rows = _rows(request).filter(state=Assignment.State.FLAGGED).order_by("submitted_at", "pk")
    return render(
        request, "console/review.html", {"rows": page_of(request, rows), "round": request.GET.get("round", "")}
    )


def _rows(request: HttpRequest) -> QuerySet[Assignment]:
    rows = Assignment.objects.select_related("hit__round", "worker")
    chosen = request.GET.get("round", "")
    return rows.filter(hit__round__name=chosen) if chosen else rows


@members_only
@require_safe
def assignment(request: HttpRequest, assignment_id: int) -> HttpResponse:
    return _page(request, _assignment_or_404(assignment_id), DecisionForm())


@reviewers_only
@require_POST
def assignment_decide(request: StaffRequest, assignment_id: int) -> HttpResponse:
    """Decide, then go to the flagged assignment that has waited longest."""
    found = _assignment_or_404(assignment_id)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return _page(request, found, form)
    try:
        decision = decide(found, **form.cleaned_data, by=request.user)
    except CounterpartError as error:
        form.add_error(None, str(error))
        return _page(request, found, form)
    told = decision or "not to be paid, once a second person agrees"
    messages.success(request, f"Assignment {found.pk}: {told}.")
    following = _next_flagged(found)
    return redirect("assignment", following.pk) if following else redirect("review")


def _assignment_or_404(assignment_id: int) -> Assignment:
    return get_object_or_404(Assignment.objects.select_related("hit__round", "worker", "seat"), pk=assignment_id)


def _next_flagged(passed: Assignment) -> Assignment | None:
    """The flagged assignment after this one in the order of the queue, or else its first."""
    flagged = Assignment.objects.filter(state=Assignment.State.FLAGGED).exclude(pk=passed.pk)
    queue = flagged.order_by("submitted_at", "pk")
    later = queue.filter(submitted_at__gte=passed.submitted_at) if passed.submitted_at else queue
    return later.first() or queue.first()


def _page(request: HttpRequest, assignment: Assignment, form: DecisionForm) -> HttpResponse:
    answers = answers_of(assignment)
    turn = PlatformAssignment.objects.filter(assignment=assignment).first()
    context = {
        "assignment": assignment,
        "answers": answers,
        "controls": sorted((a for a in answers if a.item.control), key=lambda answer: not answer.is_wrong),
        "record": record_of(assignment.worker),
        "refused": refused_of(assignment),
        "turn": turn,
        "problem": mask_workers([turn.problem])[0] if turn else "",
        "decisions": assignment.decisions.select_related("by"),
        "form": form,
        "reviewable": assignment.state in REVIEWABLE,
        "following": _next_flagged(assignment),
    }
    return render(request, "console/assignment.html", context, status=422 if form.errors else 200)
