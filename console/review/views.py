"""Review: answered HITs, the queue of flagged ones, decisions, rejections and appeals."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.models import Appeal, Assignment, Payment, Rejection
from annotation.money.payments import BonusParameters, owe_bonus
from annotation.money.wages import timing_of
from annotation.people.workers import mask_workers
from annotation.review.appeals import answer_appeal, appeal
from annotation.review.decisions import LONGEST, decide, drop_proposal, reverse, second, work_to_review
from annotation.work.grading import accepted_unreviewed_at
from annotation.work.worker_records import record_of
from console.fields import ParametersForm
from console.kept_figures import kept_if_slow
from console.pagination import count_of, page_of
from console.permissions import StaffRequest, members_only, reviewers_only
from console.refusals import refusals_as_messages, refusals_in
from console.review.answer_sheets import RejectionSheet, answers_of, rejections_of
from corpus.models import Collection
from crowd.messages import LONGEST_REQUEST, can_be_returned, request_return
from crowd.posting.platform_postings import shortest_reason
from dataset.models import Case
from dataset.secret_controls import refuse_secret_pairs
from hits.models import Round

ALL_RIGHT = "The answers were looked at and count."


def _yes_or_no(question: str, yes: str, no: str) -> forms.TypedChoiceField:
    """Two radio buttons without a default; cleaned to a bool."""
    return forms.TypedChoiceField(
        label=question,
        choices=[("yes", yes), ("no", no)],
        coerce=lambda value: value == "yes",
        widget=forms.RadioSelect,
    )


class DecisionForm(forms.Form):
    """Whether the votes count, whether the work is paid, and why; refusing payment also needs grounds and evidence."""

    votes_count = _yes_or_no("Do the votes count?", "Count them", "Exclude them")
    paid = _yes_or_no("Is the work paid?", "Pay the worker", "Do not pay")
    reason = forms.CharField(
        max_length=LONGEST["reason"],
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Optional if you count the votes and pay. The worker sees it if you do not pay.",
    )
    grounds = forms.ChoiceField(
        choices=[("", "choose if you do not pay"), *Rejection.Grounds.choices],
        required=False,
        label="Grounds for not paying",
        help_text="A failed control alone is not enough.",
    )
    evidence = forms.CharField(
        max_length=LONGEST["evidence"],
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Required if you do not pay. Shown to reviewers, also when the worker appeals.",
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("votes_count") and cleaned.get("paid"):
            cleaned["reason"] = cleaned.get("reason") or ALL_RIGHT
        elif "reason" in cleaned and not cleaned["reason"]:
            self.add_error("reason", "Required unless you count the votes and pay.")
        if cleaned.get("paid") is False:
            if cleaned.get("votes_count"):
                self.add_error("paid", "Work that counts must be paid. Pay it, or exclude its votes.")
            for name in ("grounds", "evidence"):
                if not cleaned.get(name):
                    self.add_error(name, "Required if you do not pay.")
        return cleaned


class BonusForm(ParametersForm):
    """What a worker is paid on top of the reward, and why."""

    act = BonusParameters


class ReturnForm(forms.Form):
    """Why a worker is asked to return work."""

    reason = forms.CharField(
        max_length=LONGEST_REQUEST,
        label="Reason",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="The worker reads it.",
    )


REVIEWABLE = (Assignment.State.FLAGGED, Assignment.State.ACCEPTED, Assignment.State.EXCLUDED)


@members_only.reads
def review(request: HttpRequest) -> HttpResponse:
    """Flagged assignments, longest waiting first, but for those that are proposed to be rejected; ``?state=`` shows
    those accepted or excluded, or ``all`` submitted ones, newest first."""
    chosen = request.GET.get("round", "")
    state = request.GET.get("state", "flagged")
    if chosen:
        get_object_or_404(Round, name=chosen)
    rows = work_to_review() if state == Assignment.State.FLAGGED else Assignment.objects.without_claims()
    rows = rows.select_related("hit__round", "worker")
    rows = rows.filter(hit__round__name=chosen) if chosen else rows
    rows = rows.filter(state=state) if state in REVIEWABLE else rows.exclude(submitted_at=None)
    order = ("submitted_at", "pk") if state == Assignment.State.FLAGGED else ("-submitted_at", "-pk")
    context = {
        "rows": page_of(request, rows.order_by(*order)),
        "round": chosen,
        "state": state,
        "states": [*(one.value for one in REVIEWABLE), "all"],
        "queues": Collection.objects.annotate(n=count_of(Case, "collection", done_at=None)).filter(n__gt=0),
    }
    return render(request, "console/review/review.html", context)


@members_only.reads
def assignment(request: HttpRequest, assignment_id: int) -> HttpResponse:
    found = _assignment_or_404(assignment_id)
    refuse_secret_pairs(found.hit.round, request.user)
    return _page(request, found, DecisionForm())


@reviewers_only.acts
def assignment_decide(request: StaffRequest, assignment_id: int) -> HttpResponse:
    """Decide, then go to the next flagged assignment."""
    found = _assignment_or_404(assignment_id)
    form = DecisionForm(request.POST)
    if form.is_valid():
        with refusals_in(form):
            decision = decide(found, **form.cleaned_data, by=request.user)
            outcome = decision or "will be rejected if a second person agrees"
            messages.success(request, f"Assignment {found.pk}: {outcome}.")
            following = _next_flagged(found)
            return redirect("assignment", following.pk) if following else redirect("review")
    return _page(request, found, form)


@reviewers_only.fills
def assignment_bonus(request: StaffRequest, assignment_id: int) -> HttpResponse:
    """Give the worker a bonus."""
    found = _assignment_or_404(assignment_id)
    form = BonusForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        with refusals_in(form):
            payment = owe_bonus(found, **form.cleaned_data, actor=request.user.get_username())
            messages.success(request, f"Worker {found.worker}: a bonus of ${payment.amount} is {payment.state}.")
            return redirect("assignment", found.pk)
    context = {"assignment": found, "form": form, "given": found.payments.filter(kind=Payment.Kind.BONUS)}
    return render(request, "console/review/assignment_bonus.html", context, status=422 if form.errors else 200)


@reviewers_only.fills
def assignment_return(request: StaffRequest, assignment_id: int) -> HttpResponse:
    """Ask the worker through their platform to return the work."""
    found = _assignment_or_404(assignment_id)
    form = ReturnForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        with refusals_in(form):
            request_return(found, **form.cleaned_data, by=request.user.get_username())
            messages.success(request, f"Worker {found.worker} was asked to return it.")
            return redirect("assignment", found.pk)
    context = {"assignment": found, "form": form}
    return render(request, "console/review/assignment_return.html", context, status=422 if form.errors else 200)


def _assignment_or_404(assignment_id: int) -> Assignment:
    return get_object_or_404(Assignment.objects.select_related("hit__round", "worker", "seat"), pk=assignment_id)


def _next_flagged(passed: Assignment) -> Assignment | None:
    """Return the next flagged assignment in the queue, or its first one."""
    queue = work_to_review().exclude(pk=passed.pk).order_by("submitted_at", "pk")
    later = queue.filter(submitted_at__gte=passed.submitted_at) if passed.submitted_at else queue
    return later.first() or queue.first()


def _page(request: HttpRequest, assignment: Assignment, form: DecisionForm) -> HttpResponse:
    answers = answers_of(assignment) if assignment.has_hit else []
    controls = [answer for answer in answers if answer.item.control]
    visit = assignment.visit if assignment.is_outside else None
    round = assignment.hit.round
    context = {
        "assignment": assignment,
        "answers": answers,
        "controls": sorted(controls, key=lambda answer: not answer.is_wrong),
        "written": [answer for answer in answers if answer.judgment and answer.judgment.text],
        "n_unanswered": sum(answer.judgment is None for answer in controls),
        "record": record_of(assignment.worker),
        "timing": kept_if_slow(f"timing-of-round:{round.pk}", partial(timing_of, round, at_least=1)).figures,
        "rejections": rejections_of(assignment),
        "asked": assignment.appeals.filter(rejection=None).select_related("answered_by").first(),
        "drafted": assignment.drafts.count(),
        "accepted_at": accepted_unreviewed_at(assignment),
        "problem": mask_workers([assignment.problem])[0],
        "decisions": assignment.decisions.select_related("by"),
        "form": form,
        "can_be_returned": can_be_returned(assignment),
        "reviewable": assignment.state in REVIEWABLE,
        "following": _next_flagged(assignment),
        "least_reason": shortest_reason(visit) if visit else 1,
        "visit": visit,
    }
    return render(request, "console/review/assignment.html", context, status=422 if form.errors else 200)


SHOWN = {
    "proposed": {"dropped_at": None, "needs_second": True, "seconded_at": None},
    "appealed": {"appeal__isnull": False, "appeal__answered_at": None},
}


@members_only.reads
def rejections(request: HttpRequest) -> HttpResponse:
    """All rejections, newest first; ``?show=`` filters those that wait for a second person or an answer."""
    show = request.GET.get("show", "")
    work = ("assignment__hit__round", "assignment__worker")
    rows = Rejection.objects.select_related(*work, "by", "appeal")
    page = page_of(request, rows.filter(**SHOWN.get(show, {})).order_by("-id"))
    asked = Appeal.objects.filter(rejection=None, answered_at=None)
    counts = {name: Rejection.objects.filter(**only).count() for name, only in SHOWN.items()}
    context = {
        "rows": page,
        "things": "rejections",
        "lines": [RejectionSheet(row) for row in page],
        "asked": asked.select_related(*work) if show != "proposed" else (),
        "show": show,
        "counts": counts | {"appealed": Appeal.objects.filter(answered_at=None).count()},
    }
    return render(request, "console/review/rejections.html", context)


@reviewers_only.acts
def rejection_second(request: StaffRequest, rejection_id: int) -> HttpResponse:
    found = _rejection_or_404(rejection_id)
    return _done(request, found, lambda: second(found, by=request.user), "Rejected: the work is not paid.")


@reviewers_only.acts
def rejection_drop(request: StaffRequest, rejection_id: int) -> HttpResponse:
    found = _rejection_or_404(rejection_id)
    return _done(
        request, found, lambda: drop_proposal(found, by=request.user), "Proposal dropped. Decide on the work again."
    )


@reviewers_only.acts
def rejection_reverse(request: StaffRequest, rejection_id: int) -> HttpResponse:
    found = _rejection_or_404(rejection_id)
    reason = request.POST.get("reason", "")
    return _done(
        request, found, lambda: reverse(found, reason=reason, by=request.user), "Rejection reversed: the work is paid."
    )


@reviewers_only.acts
def appeal_enter(request: StaffRequest, rejection_id: int) -> HttpResponse:
    """Enter an appeal that was received by mail or through the platform."""
    found = _rejection_or_404(rejection_id)
    text = request.POST.get("text", "")
    actor = request.user.get_username()
    return _done(request, found, lambda: appeal(found, text=text, actor=actor), "Appeal saved. It waits for an answer.")


@reviewers_only.acts
def appeal_answer(request: StaffRequest, appeal_id: int) -> HttpResponse:
    found = get_object_or_404(Appeal.objects.select_related("rejection", "assignment__hit__round"), pk=appeal_id)
    upheld = request.POST.get("upheld")
    answer = request.POST.get("answer", "")
    if upheld not in ("yes", "no"):
        messages.error(request, "Choose whether the worker is right.")
        return redirect("assignment", found.assignment_id)
    act = partial(answer_appeal, found, upheld=upheld == "yes", answer=answer, by=request.user)
    return _done(request, found, act, "Appeal answered. The worker sees the answer on their page.")


def _done(request: StaffRequest, found: Rejection | Appeal, act: Callable[[], object], outcome: str) -> HttpResponse:
    """Act, show the outcome and return to the assignment."""
    with refusals_as_messages(request):
        act()
        messages.success(request, outcome)
    return redirect("assignment", found.assignment_id)


def _rejection_or_404(rejection_id: int) -> Rejection:
    return get_object_or_404(Rejection.objects.select_related("assignment__hit__round"), pk=rejection_id)
