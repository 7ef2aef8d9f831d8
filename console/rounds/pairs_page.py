"""The tab Pairs of a round: its HITs, controls and imports; a HIT or a control, large; captions that workers wrote."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect

from annotation.work.control_records import ANSWERED_RIGHT, ControlPolicy, records_of
from annotation.work.judgments import answers_to
from annotation.work.retirement import reinstate, retire
from annotation.work.written_captions import as_lines, captions_of
from console.kept_figures import kept_if_slow
from console.pagination import page_of
from console.permissions import StaffRequest, members_only, researchers_only, reviewers_only
from console.places import follow, show
from console.refusals import refusals_as_messages
from console.review.answer_sheets import pairs_of, right_answers
from console.rounds.forms import JudgmentsForm
from console.rounds.schemas import round_or_404
from console.upload_jobs import import_judgments
from console.uploads import LARGEST_UPLOAD, start_with_uploads
from core.text import counted
from core.web.middleware import takes_uploads
from dataset.outside_judgments import FORMATS
from dataset.outside_judgments.judgment_parameters import JudgmentParameters
from dataset.secret_controls import are_pairs_secret, refuse_secret_pairs
from hits.models import HIT, Control, Item, Round, Seat
from hits.task_types import task_type_of

FEW = 8


@members_only.reads("rounds/<slug:name>/hits/")
def round_pairs(request: StaffRequest, name: str) -> HttpResponse:
    """A round's HITs with their seats, or ``?show=controls``; ``?state=`` keeps those in that state."""
    found = round_or_404(name)
    state = request.GET.get("state", "")
    if request.GET.get("show") == "controls" or state in Control.State.values:
        return _tab(request, found, "controls", listed_controls(request, found, state))
    hits = found.hits.filter(seats__state=state).distinct() if state in Seat.State.values else found.hits.all()
    rows = page_of(request, hits.prefetch_related("seats"), size=200)
    return _tab(request, found, "hits", {"rows": rows, "state": state, "states": Seat.State.values})


@takes_uploads(LARGEST_UPLOAD)
@researchers_only.fills("rounds/<slug:name>/judgments/")
def round_judgments(request: StaffRequest, name: str) -> HttpResponse:
    """Upload judgments of the round's pairs from elsewhere; a job checks them, and stores all of them or none."""
    found = round_or_404(name)
    form = JudgmentsForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        chosen = JudgmentParameters(**{field: value for field, value in form.chosen().items() if value})
        params = {"round": name, **chosen.as_json()}
        files = {field: form.cleaned_data[field] for field in ("file", "items")}
        title = f"Import judgments into {name}"
        return follow(start_with_uploads(title, import_judgments.name, params, files, by=request.user))
    return _tab(request, found, "import", {"form": form, "formats": FORMATS}, status=422 if form.errors else 200)


def _tab(request: StaffRequest, found: Round, part: str, context: Mapping[str, Any], status: int = 200) -> HttpResponse:
    is_secret = are_pairs_secret(found, request.user)
    first = found.hits.order_by("number").values("pk")[:FEW]
    candidates = Item.objects.filter(hit__in=first, control=None, image__isnull=False, caption__isnull=False)
    shown = [] if is_secret else candidates.select_related("image", "caption").order_by("hit_id", "place")[:FEW]
    context = {"part": part, "task": task_type_of(found), "is_secret": is_secret, "shown": shown, **context}
    return show(request, "console/rounds/pairs.html", found, context | {"tab": "round_pairs"}, status=status)


@members_only.reads("rounds/<slug:name>/hits/<int:number>/")
def hit(request: StaffRequest, name: str, number: int) -> HttpResponse:
    """A HIT's pairs, large, and the work on it."""
    hit = get_object_or_404(HIT.objects.select_related("round__pool"), round__name=name, number=number)
    refuse_secret_pairs(hit.round, request.user)
    context = {
        "hit": hit,
        "tab": "round_pairs",
        "task": task_type_of(hit.round),
        "next_hit": hit.round.hits.filter(number__gt=number).values_list("number", flat=True).first(),
        "rows": hit.assignments.without_claims().with_hit().select_related("hit__round", "worker"),
        "answers": pairs_of(hit),
    }
    return show(request, "console/rounds/hit.html", hit.round, context)


@members_only.reads("rounds/<slug:name>/captions/")
def round_captions(request: HttpRequest, name: str) -> HttpResponseBase:
    """The accepted captions of the round, for ``import_collection``."""
    found = round_or_404(name)
    with refusals_as_messages(request):
        lines = as_lines(found, captions_of(found))
        attached = {"Content-Disposition": f'attachment; filename="{name}-captions.jsonl"'}
        return StreamingHttpResponse(lines, content_type="application/jsonl; charset=utf-8", headers=attached)
    return redirect("round_pairs", name)


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


@members_only.reads("rounds/<slug:name>/controls/<int:control_id>/")
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
    }
    return show(request, "console/rounds/control.html", found.round, context)


@reviewers_only.acts("rounds/<slug:name>/controls/<int:control_id>/rule/")
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
