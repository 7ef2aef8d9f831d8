"""Rounds: the list, the HITs of one, its captions and judgments from elsewhere, closing it and counting its votes."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render

from annotation.work.leases import end_idle_leases, idle_leases
from annotation.work.standing import standing_of, standings
from annotation.work.written_captions import as_lines, captions_of
from console.acts import Chosen, act
from console.pagination import count_of, page_of
from console.permissions import StaffRequest, members_only, researchers_only
from console.places import follow
from console.platforms.platform_status import is_on_platform
from console.review.answer_sheets import pairs_of
from console.rounds.forms import AggregateForm, JudgmentsForm
from console.rounds.schemas import counted_rounds, round_or_404
from console.upload_jobs import import_judgments
from console.uploads import LARGEST_UPLOAD, start_with_uploads
from core.errors import CounterpartError
from core.models import Job
from core.text import counted
from core.web.middleware import takes_uploads
from core.work.jobs import open_once
from crowd.posting.publication import can_close, close_round
from dataset import jobs
from dataset.outside_judgments import FORMATS
from dataset.releases.release_parameters import AggregateParameters
from dataset.reviews.cases import update_queue
from dataset.secret_controls import refuse_secret_pairs
from hits.models import HIT, Item, Round, Seat
from hits.task_types import task_type_of


@members_only.reads
def rounds(request: HttpRequest) -> HttpResponse:
    rows = page_of(request, counted_rounds())
    shown = list(rows)
    known = standings(shown)
    lines = [(one, known[one.pk]) for one in shown]
    return render(request, "console/rounds/rounds.html", {"rows": rows, "lines": lines, "things": "rounds"})


@members_only.reads
def round_captions(request: HttpRequest, name: str) -> HttpResponseBase:
    """The accepted captions of the round, for ``import_collection``."""
    round = round_or_404(name)
    try:
        captions = captions_of(round)
    except CounterpartError as error:
        messages.error(request, str(error))
        return redirect("round", name)
    answer = StreamingHttpResponse(as_lines(round, captions), content_type="application/jsonl; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}-captions.jsonl"'
    return answer


def _what_closing_means(round: Round) -> list[str]:
    """Return what follows from closing the round, and how many workers still judge."""
    standing = standing_of(round)
    judging = standing.work["leased"]
    sentences = [
        "The draft was judged elsewhere. Once closed, it cannot be published any more."
        if round.state == "draft"
        else "No more HITs are given out, and a closed round cannot be reopened.",
        f"{standing.filled:,} of {counted(standing.wanted, 'seat')} are filled.",
    ]
    if not standing.is_complete:
        sentences.append(
            "Seats that stay empty are missing for good: a version can include the round only as unfinished."
        )
    if judging:
        sentences.append(f"{counted(judging, 'worker is', 'workers are')} judging now and may still submit.")
    if is_on_platform(round):
        sentences.append("Its postings end; accepted HITs may still be submitted, and are stored and paid.")
    return sentences


@act(
    "rounds/<slug:name>/close/",
    round_or_404,
    researchers_only,
    label="Close",
    question="Close {}?",
    button="Close the round",
    asks=_what_closing_means,
    offered=can_close,
    menu=Round,
)
def round_close(round: Round, chosen: Chosen, by: User) -> str | Job:
    """Close a round, as a job if it is on a platform."""
    if is_on_platform(round):
        return open_once(f"Close {round}", jobs.close.name, {"round": round.name}, lock=round, by=by)
    close_round(round, actor=by.get_username())
    update_queue(round)
    return f"Round {round} is closed."


@takes_uploads(LARGEST_UPLOAD)
@researchers_only.fills
def round_judgments(request: StaffRequest, name: str) -> HttpResponse:
    """Upload judgments of the round's pairs from elsewhere; a job checks them, and stores all of them or none."""
    round = round_or_404(name)
    form = JudgmentsForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        params = {"round": name, **form.parameters.as_json()}
        files = {field: form.cleaned_data[field] for field in ("file", "items")}
        title = f"Import judgments into {name}"
        task = import_judgments.name
        return redirect("job", start_with_uploads(title, task, params, files, by=request.user).pk)
    context = {"round": round, "form": form, "formats": FORMATS}
    return render(request, "console/rounds/judgments_import.html", context, status=422 if form.errors else 200)


@researchers_only.fills
def round_idle(request: StaffRequest, name: str) -> HttpResponse:
    """Show how many HITs are held by workers who never submitted one; end their leases once confirmed."""
    round = get_object_or_404(Round, name=name, channel="browser")
    if request.method == "POST":
        ended = end_idle_leases(round, with_answers="with_answers" in request.POST, actor=request.user.get_username())
        messages.success(request, f"{counted(ended, 'lease')} ended; the HITs can be taken again.")
        return redirect("round", name)
    idle = idle_leases(round).count()
    begun = idle - idle_leases(round, with_answers=False).count()
    return render(request, "console/rounds/idle_leases.html", {"round": round, "idle": idle, "begun": begun})


@researchers_only.fills
def round_aggregate(request: StaffRequest, name: str) -> HttpResponse:
    """Choose how the votes become verdicts; a job counts them."""
    round = round_or_404(name)
    form = AggregateForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return follow(jobs.start_aggregation(AggregateParameters(round=name, **form.chosen()), by=request.user))
    context = {"round": round, "form": form, "aggregations": round.aggregations.all()}
    return render(request, "console/rounds/aggregate.html", context, status=422 if form.errors else 200)


@members_only.reads
def hits(request: HttpRequest, name: str) -> HttpResponse:
    """A round's HITs with their seats; ``?state=`` shows only HITs with a seat in that state."""
    round = round_or_404(name)
    state = request.GET.get("state", "")
    rows = round.hits.filter(seats__state=state).distinct() if state in Seat.State.values else round.hits.all()
    page = page_of(request, rows.prefetch_related("seats").annotate(n_items=count_of(Item, "hit")))
    context = {"round": round, "rows": page, "state": state, "states": Seat.State.values}
    return render(request, "console/rounds/hits.html", context)


@members_only.reads
def hit(request: HttpRequest, name: str, number: int) -> HttpResponse:
    hit = get_object_or_404(HIT.objects.select_related("round__pool"), round__name=name, number=number)
    refuse_secret_pairs(hit.round, request.user)
    context = {
        "hit": hit,
        "round": hit.round,
        "task": task_type_of(hit.round),
        "seats": hit.seats.all(),
        "next_hit": hit.round.hits.filter(number__gt=number).values_list("number", flat=True).first(),
        "rows": hit.assignments.without_claims().with_hit().select_related("hit__round", "worker"),
        "answers": pairs_of(hit),
    }
    return render(request, "console/rounds/hit.html", context)
