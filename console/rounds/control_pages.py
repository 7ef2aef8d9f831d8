"""Controls of a round: how workers answer them, and rulings that retire or reinstate one."""

from functools import partial

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.work.control_records import ANSWERED_RIGHT, ControlPolicy, records_of
from annotation.work.judgments import answers_to
from annotation.work.retirement import reinstate, retire
from console.kept_figures import kept_if_slow
from console.pagination import page_of
from console.permissions import StaffRequest, members_only, reviewers_only
from console.review.answer_sheets import right_answers
from core.errors import CounterpartError
from core.text import counted
from dataset.secret_controls import refuse_secret_pairs
from hits.models import Control, Item, Round
from hits.task_types import task_type_of


@members_only.reads
def controls(request: HttpRequest, name: str) -> HttpResponse:
    """A round's controls, the most often failed first; ``?state=`` shows only controls in that state."""
    round = get_object_or_404(Round, name=name)
    refuse_secret_pairs(round, request.user)
    state = request.GET.get("state", "")
    rows = round.controls.filter(state=state) if state in Control.State.values else round.controls.all()
    failed = kept_if_slow(f"failures-of-round:{round.pk}", partial(_failures, round)).figures
    keys = sorted(rows.order_by("pk").values_list("pk", flat=True), key=lambda key: -failed.get(key, 0))
    page = page_of(request, keys)
    shown = Control.objects.select_related("image", "caption").in_bulk(list(page))
    records = records_of(shown[key] for key in page)
    placed = dict(Item.objects.filter(control__in=shown).order_by().values_list("control").annotate(Count("pk")))
    counts = dict(round.controls.order_by().values_list("state").annotate(Count("pk")))
    context = {
        "round": round,
        "rows": page,
        "things": "controls",
        "lines": [(record, placed[record.control.pk]) for record in records],
        "state": state,
        "states": [(value, counts.get(value, 0)) for value in Control.State.values],
    }
    return render(request, "console/rounds/controls.html", context)


@members_only.reads
def control(request: HttpRequest, name: str, control_id: int) -> HttpResponse:
    rows = Control.objects.select_related("round", "image", "caption")
    return _page(request, get_object_or_404(rows, pk=control_id, round__name=name))


@reviewers_only.acts
def control_rule(request: StaffRequest, name: str, control_id: int) -> HttpResponse:
    """Retire or reinstate a control, as ``retired`` says."""
    control = get_object_or_404(Control, pk=control_id, round__name=name)
    reason = request.POST.get("reason", "")
    actor = request.user.get_username()
    try:
        if request.POST.get("retired") == "yes":
            accepted = retire(control, reason=reason, actor=actor)
            messages.success(request, f"Control retired; {counted(accepted, 'flagged assignment')} accepted.")
        else:
            reinstate(control, reason=reason, actor=actor)
            messages.success(request, "The control judges work again. Work accepted meanwhile stays accepted.")
    except CounterpartError as error:
        return _page(request, control, trouble=str(error))
    return redirect("control", name, control.pk)


def _page(request: HttpRequest, control: Control, trouble: str = "") -> HttpResponse:
    refuse_secret_pairs(control.round, request.user)
    (record,) = records_of([control])
    context = {
        "control": control,
        "round": control.round,
        "record": record,
        "policy": ControlPolicy(),
        "expected": right_answers(task_type_of(control.round), control.polarity),
        "placed": control.items.count(),
        "rulings": control.rulings.all(),
        "reason": request.POST.get("reason", ""),
        "trouble": trouble,
    }
    return render(request, "console/rounds/control.html", context, status=422 if trouble else 200)


def _failures(round: Round) -> dict[int, int]:
    """Return how many answers to each control are wrong, for those with any."""
    wrong = answers_to(Control.objects.filter(round=round)).filter(~ANSWERED_RIGHT)
    return dict(wrong.values_list("item__control").annotate(Count("pk")))
