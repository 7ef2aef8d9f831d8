"""How far to trust results of a round: its effect on models, and estimated scores."""

from django.http import HttpResponse
from django.shortcuts import render

from console.jobs import jobs_of_part, start_part
from console.permissions import StaffRequest, members_only
from console.rounds.schemas import round_or_404
from console.trust.round_parts import PARTS, state_of_part, stored_part
from core.models import Job


@members_only.reads
def round_effect(request: StaffRequest, name: str) -> HttpResponse:
    """The effect of a round's judgments so far on the models, and whether their ranking is settled."""
    return _part(request, name, "effect")


@members_only.reads
def round_estimates(request: StaffRequest, name: str) -> HttpResponse:
    """The scores of a round's models with their intervals, an audit's at looks that were fixed in advance: for these
    queries, or with ``?queries=like`` for queries drawn like them."""
    return _part(request, name, "estimates-like" if request.GET.get("queries") == "like" else "estimates")


def _part(request: StaffRequest, name: str, part: str) -> HttpResponse:
    """Show a part as a job counted it last. Where the round's data changed since, a visit starts a job that counts
    again, unless one failed on the same data; live.js leads on to the first count."""
    found = round_or_404(name)
    state = state_of_part(found)
    kept = stored_part(found, part)
    job = jobs_of_part(found, part).first()
    stopped = job is not None and job.state in (Job.State.FAILED, Job.State.CANCELLED) and job.params["state"] == state
    if not stopped and (kept is None or kept.state != state):
        job = start_part(found, part, by=request.user)
    context = {
        "round": found,
        "title": PARTS[part].title,
        "html": kept and kept.html(request.user),
        "at": kept and kept.at,
        "job": job,
        "stopped": stopped,
    }
    return render(request, "console/trust/round_part.html", context)
