"""The tab Pairs of a round: its HITs, controls and imports; a HIT, large; and captions that workers wrote."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect

from annotation.work.written_captions import as_lines, captions_of
from console.pagination import page_of
from console.permissions import StaffRequest, members_only, researchers_only
from console.places import follow, show
from console.review.answer_sheets import pairs_of
from console.rounds.control_pages import listed_controls
from console.rounds.forms import JudgmentsForm
from console.rounds.schemas import round_or_404
from console.upload_jobs import import_judgments
from console.uploads import LARGEST_UPLOAD, start_with_uploads
from core.errors import CounterpartError
from core.web.middleware import takes_uploads
from dataset.outside_judgments import FORMATS
from dataset.secret_controls import are_pairs_secret, refuse_secret_pairs
from hits.models import HIT, Control, Item, Round, Seat
from hits.task_types import task_type_of

FEW = 8


@members_only.reads
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
@researchers_only.fills
def round_judgments(request: StaffRequest, name: str) -> HttpResponse:
    """Upload judgments of the round's pairs from elsewhere; a job checks them, and stores all of them or none."""
    found = round_or_404(name)
    form = JudgmentsForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        params = {"round": name, **form.parameters.as_json()}
        files = {field: form.cleaned_data[field] for field in ("file", "items")}
        title = f"Import judgments into {name}"
        return follow(start_with_uploads(title, import_judgments.name, params, files, by=request.user))
    return _tab(request, found, "import", {"form": form, "formats": FORMATS}, status=422 if form.errors else 200)


def _tab(request: StaffRequest, found: Round, part: str, context: Mapping[str, Any], status: int = 200) -> HttpResponse:
    is_secret = are_pairs_secret(found, request.user)
    candidates = Item.objects.filter(hit__round=found, control=None, image__isnull=False, caption__isnull=False)
    shown = [] if is_secret else candidates.select_related("image", "caption").order_by("hit", "place")[:FEW]
    context = {"part": part, "task": task_type_of(found), "is_secret": is_secret, "shown": shown, **context}
    return show(request, "console/rounds/pairs.html", found, context | {"tab": "round_pairs"}, status=status)


@members_only.reads
def hit(request: StaffRequest, name: str, number: int) -> HttpResponse:
    """A HIT's pairs, large, and the work on it."""
    hit = get_object_or_404(HIT.objects.select_related("round__pool"), round__name=name, number=number)
    refuse_secret_pairs(hit.round, request.user)
    context = {
        "hit": hit,
        "tab": "round_pairs",
        "task": task_type_of(hit.round),
        "seats": hit.seats.all(),
        "next_hit": hit.round.hits.filter(number__gt=number).values_list("number", flat=True).first(),
        "rows": hit.assignments.without_claims().with_hit().select_related("hit__round", "worker"),
        "answers": pairs_of(hit),
    }
    return show(request, "console/rounds/hit.html", hit.round, context)


@members_only.reads
def round_captions(request: HttpRequest, name: str) -> HttpResponseBase:
    """The accepted captions of the round, for ``import_collection``."""
    found = round_or_404(name)
    try:
        captions = captions_of(found)
    except CounterpartError as error:
        messages.error(request, str(error))
        return redirect("round_pairs", name)
    answer = StreamingHttpResponse(as_lines(found, captions), content_type="application/jsonl; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}-captions.jsonl"'
    return answer
