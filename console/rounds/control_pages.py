"""Controls of a round: how workers answer them, and rulings that retire or reinstate one."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from annotation.work.control_records import ANSWERED_RIGHT, ControlPolicy, records_of
from annotation.work.judgments import answers_to
from annotation.work.retirement import reinstate, retire
from console.kept_figures import kept_if_slow
from console.pagination import page_of
from console.permissions import StaffRequest, members_only, reviewers_only
from console.places import show
from console.refusals import refusals_as_messages
from console.review.answer_sheets import right_answers
from core.text import counted
from dataset.secret_controls import refuse_secret_pairs
from hits.models import Control, Item, Round
from hits.task_types import task_type_of


def listed_controls(request: StaffRequest, round: Round, state: str) -> dict[str, Any]:
    """Return a page of the round's controls, the most often failed first; with a ``state`` only those in it."""
    refuse_secret_pairs(round, request.user)
    rows = round.controls.filter(state=state) if state in Control.State.values else round.controls.all()
    failed = kept_if_slow(f"failures-of-round:{round.pk}", partial(_failures, round)).figures
    keys = sorted(rows.order_by("pk").values_list("pk", flat=True), key=lambda key: -failed.get(key, 0))
    page = page_of(request, keys)
    shown = Control.objects.select_related("image", "caption").in_bulk(list(page))
    placed = dict(Item.objects.filter(control__in=shown).order_by().values_list("control").annotate(Count("pk")))
    return {
        "rows": page,
        "lines": [(record, placed[record.control.pk]) for record in records_of(shown[key] for key in page)],
        "state": state,
        "states": Control.State.values,
    }


def _failures(round: Round) -> dict[int, int]:
    """Return how many answers to each control are wrong, for those with any."""
    wrong = answers_to(Control.objects.filter(round=round)).filter(~ANSWERED_RIGHT)
    return dict(wrong.values_list("item__control").annotate(Count("pk")))


def control_or_404(name: str, control_id: int) -> Control:
    """Return a control of the round."""
    rows = Control.objects.select_related("round", "image", "caption")
    return get_object_or_404(rows, pk=control_id, round__name=name)


@members_only.reads
def control(request: HttpRequest, name: str, control_id: int) -> HttpResponse:
    """A control, large, with the answers to it and the rulings on it."""
    found = control_or_404(name, control_id)
    refuse_secret_pairs(found.round, request.user)
    (record,) = records_of([found])
    context = {
        "control": found,
        "tab": "round_pairs",
        "record": record,
        "policy": ControlPolicy(),
        "expected": right_answers(task_type_of(found.round), found.polarity),
        "placed": found.items.count(),
        "rulings": found.rulings.all(),
    }
    return show(request, "console/rounds/control.html", found.round, context)


@reviewers_only.acts
def control_rule(request: StaffRequest, name: str, control_id: int) -> HttpResponse:
    """Retire or reinstate a control, as ``retired`` says."""
    found = control_or_404(name, control_id)
    ruling = {"reason": request.POST.get("reason", ""), "actor": request.user.get_username()}
    with refusals_as_messages(request):
        if request.POST.get("retired") == "yes":
            accepted = retire(found, **ruling)
            messages.success(request, f"Control retired; {counted(accepted, 'flagged assignment')} accepted.")
        else:
            reinstate(found, **ruling)
            messages.success(request, "The control judges work again. Work accepted meanwhile stays accepted.")
    return redirect("control", name, control_id)
