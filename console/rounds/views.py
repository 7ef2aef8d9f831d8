"""Rounds: the list, the HITs of one, its captions and judgments from elsewhere, closing it and counting its votes."""

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.work.standing import standing_of, standings
from console.acts import Chosen, act
from console.money.platform_status import is_on_platform
from console.pagination import page_of
from console.permissions import StaffRequest, members_only, researchers_only
from console.places import follow
from console.rounds.forms import AggregateForm
from console.rounds.schemas import counted_rounds, round_or_404
from core.models import Job
from core.text import counted
from core.work.jobs import open_once
from crowd.posting.publication import can_close, close_round
from dataset import jobs
from dataset.releases.release_parameters import AggregateParameters
from dataset.reviews.cases import update_queue
from hits.models import Round


@members_only.reads
def rounds(request: HttpRequest) -> HttpResponse:
    rows = page_of(request, counted_rounds())
    shown = list(rows)
    known = standings(shown)
    lines = [(one, known[one.pk]) for one in shown]
    return render(request, "console/rounds/rounds.html", {"rows": rows, "lines": lines, "things": "rounds"})


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


@researchers_only.fills
def round_aggregate(request: StaffRequest, name: str) -> HttpResponse:
    """Choose how the votes become verdicts; a job counts them."""
    round = round_or_404(name)
    form = AggregateForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return follow(jobs.start_aggregation(AggregateParameters(round=name, **form.chosen()), by=request.user))
    context = {"round": round, "form": form, "aggregations": round.aggregations.all()}
    return render(request, "console/rounds/aggregate.html", context, status=422 if form.errors else 200)
