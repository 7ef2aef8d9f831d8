"""A worker's case: one answer set with its evidence, the others that wait, decisions on them, and their undo."""

from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from annotation import platforms
from annotation.models import Assignment, Rejection
from annotation.money.wages import timing_of
from annotation.people.admission import permit_of
from annotation.people.workers import mask_workers
from annotation.review.appeals import appealable_until
from annotation.review.decisions import DECIDABLE, LONGEST, work_to_review
from annotation.review.worker_cases import case_of, decide_on, undo_decisions
from annotation.work.grading import accepted_unreviewed_at
from annotation.work.worker_records import record_of
from console.fields import text_field
from console.kept_figures import kept_if_slow
from console.permissions import StaffRequest, members_only, reviewers_only
from console.places import show
from console.refusals import refusals_as_messages, refusals_in
from console.review.bench import REASONS, exhibits_of, followed_by, in_evidence, reasons_of
from console.review.inbox import DECIDED, decided_by
from console.review.review_acts import assignment_or_404
from core.text import counted
from crowd.posting.platform_postings import shortest_reason
from dataset.secret_controls import refuse_secret_pairs

DECISIONS = {"count": (True, True), "exclude": (False, True), "refuse": (False, False)}
"""Whether the votes count, and whether the work is paid."""
USUAL_REASONS = {
    "count": "The answers were looked at and count.",
    "exclude": "The answers were looked at and do not count.",
}
optional_text = partial(text_field, rows=2, required=False)


class DecisionForm(forms.Form):
    """What to decide, on which sets (``scope``: this one, all of the worker's or those of one reason), and why.

    Refusing to pay needs a reason, grounds and evidence.
    """

    decision = forms.ChoiceField(choices=[(name, name) for name in DECISIONS])
    scope = forms.ChoiceField(choices=[("", ""), ("worker", ""), *REASONS.items()], required=False)
    reason = optional_text("Reason", at_most=LONGEST["reason"], help_text="The worker reads it only if you do not pay.")
    grounds = forms.ChoiceField(
        choices=[("", "choose…"), *Rejection.Grounds.choices],
        required=False,
        help_text="A failed control alone is not enough.",
    )
    evidence = optional_text(
        "Evidence", at_most=LONGEST["evidence"], help_text="Shown to reviewers, also when the worker appeals."
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("decision") == "refuse":
            for name in ("reason", "grounds", "evidence"):
                if not cleaned.get(name):
                    self.add_error(name, "Required if you do not pay.")
        elif "decision" in cleaned:
            cleaned["reason"] = cleaned.get("reason") or USUAL_REASONS[cleaned["decision"]]
        return cleaned


@members_only.reads("review/<int:assignment_id>/")
def assignment(request: HttpRequest, assignment_id: int) -> HttpResponse:
    found = assignment_or_404(assignment_id)
    refuse_secret_pairs(found.hit.round, request.user)
    return _page(request, found, DecisionForm(auto_id="%s"))


@reviewers_only.acts("review/<int:assignment_id>/decide/")
def assignment_decide(request: StaffRequest, assignment_id: int) -> HttpResponse:
    """Decide, then go to the next flagged set: of the same worker, else the one that waits longest."""
    found = assignment_or_404(assignment_id)
    form = DecisionForm(request.POST, auto_id="%s")
    if form.is_valid():
        chosen = form.cleaned_data
        scope = chosen["scope"]
        sets = [found] if not scope else case_of(found.worker, signal="" if scope == "worker" else scope)
        with refusals_in(form):
            words = {name: chosen[name] for name in ("reason", "grounds", "evidence")}
            counts, paid = DECISIONS[chosen["decision"]]
            made = decide_on(sets, votes_count=counts, paid=paid, **words, by=request.user)
            request.session[DECIDED] = [one.pk for one in made]
            if len(made) < len(sets):
                messages.info(request, f"{counted(len(sets) - len(made), 'rejection')} wait for a second person.")
            following = _next_flagged(found)
            return redirect("assignment", following.pk) if following else redirect("inbox")
    return _page(request, found, form)


@reviewers_only.acts("review/<int:assignment_id>/undo/")
def assignment_undo(request: StaffRequest, assignment_id: int) -> HttpResponse:
    """Undo the person's last decisions, all or none."""
    with refusals_as_messages(request):
        undone = undo_decisions(decided_by(request), by=request.user)
        request.session.pop(DECIDED, None)
        messages.success(request, f"Undone. {counted(undone, 'HIT waits', 'HITs wait')} again.")
    return redirect("assignment", assignment_id)


def _next_flagged(passed: Assignment) -> Assignment | None:
    """Return the set to look at next: the longest waiting of the same worker, else of all."""
    others = work_to_review().exclude(pk=passed.pk).order_by("submitted_at", "pk")
    return case_of(passed.worker).exclude(pk=passed.pk).first() or others.first()


def _page(request: HttpRequest, assignment: Assignment, form: DecisionForm) -> HttpResponse:
    exhibits = exhibits_of(assignment) if assignment.has_hit else []
    followed = followed_by(assignment)
    waiting = [*case_of(assignment.worker).select_related("hit__round")]
    shown = waiting if assignment in waiting else [assignment, *waiting]
    round = assignment.hit.round
    rejections = assignment.rejections.select_related("by", "seconded_by", "appeal__answered_by", "assignment__hit")
    visit = assignment.visit if assignment.is_outside else None
    alone = {key: case_of(assignment.worker, signal=key).count() for key in reasons_of(assignment)}
    context = {
        "round": round,
        "exhibits": exhibits,
        "pairs": exhibits if "shown" in request.GET else in_evidence(exhibits, followed),
        "followed": followed,
        "n_alone": sum(one.is_alone for one in exhibits),
        "n_compared": sum(bool(one.others and one.judgment) for one in exhibits),
        "n_controls": sum(bool(one.item.control) for one in exhibits),
        "waiting": [(one, [REASONS[key] for key in reasons_of(one)]) for one in shown],
        "scopes": [(key, REASONS[key], n) for key, n in alone.items() if n and len(waiting) > 1],
        "record": record_of(assignment.worker),
        "braked": permit_of(round, assignment.worker).waits,
        "timing": kept_if_slow(f"timing-of-round:{round.pk}", partial(timing_of, round, at_least=1)).figures,
        "rejections": [(row, appealable_until(row)) for row in rejections.order_by("-pk")],
        "reversible_until": platforms.postings.reversible_until(assignment),
        "asked": assignment.appeals.filter(rejection=None).select_related("answered_by").first(),
        "accepted_at": accepted_unreviewed_at(assignment),
        "problem": mask_workers([assignment.problem])[0],
        "decisions": assignment.decisions.select_related("by"),
        "form": form,
        "decidable": assignment.state in DECIDABLE,
        "following": _next_flagged(assignment),
        "decided": decided_by(request),
        "least_reason": shortest_reason(visit) if visit else 1,
        "visit": visit,
    }
    return show(request, "console/review/case.html", assignment, context, status=422 if form.errors else 200)
