"""Rounds: the list, a round's progress and HITs, closing and counting votes."""

from functools import partial
from typing import Any

import numpy as np
from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache

from annotation.models import Judgment
from annotation.money.ledger import commitment_of, owed_to_simulated
from annotation.work.forecasts import forecast_of
from annotation.work.leases import end_idle_leases, idle_leases
from annotation.work.pair_status import unfinished_pairs
from annotation.work.standing import standing_of, standings
from annotation.work.worker_records import SORTS, workers_of
from annotation.work.written_captions import as_lines, captions_of
from console.home.needs import needs_of
from console.inventory import remove
from console.kept_figures import kept_if_slow
from console.pagination import count_of, page_of
from console.permissions import StaffRequest, members_only, researchers_only
from console.platforms.platform_status import is_on_platform, on_platform
from console.review.answer_sheets import pairs_of
from console.rounds.figures import level_bar, verdict_count
from console.rounds.forms import JudgmentsForm
from console.upload_jobs import import_judgments
from console.uploads import LARGEST_UPLOAD, start_with_uploads
from core.errors import CounterpartError
from core.jobs import open_once
from core.middleware import takes_uploads
from core.text import counted
from crowd.channels import market_of, usable_markets
from crowd.publication import close_round, join_link, quote
from dataset import jobs
from dataset.cases import update_queue
from dataset.turns import turn_of
from dataset.verdicts import aggregate_round, rejections_so_far
from evaluation.asking.greedy_rounds import why_stopped
from evaluation.round_quality import quality_of
from hits.judge_designs import queries_of
from hits.models import HIT, Item, Round, Seat
from hits.task_types import task_type_of
from hits.top_ups import design_of


@members_only.reads
def rounds(request: HttpRequest) -> HttpResponse:
    rows = page_of(request, Round.objects.select_related("pool__collection").annotate(n_hits=count_of(HIT, "round")))
    shown = list(rows)
    known = standings(shown)
    lines = [(one, known[one.pk]) for one in shown]
    return render(request, "console/rounds/rounds.html", {"rows": rows, "lines": lines})


@members_only.reads
def round(request: StaffRequest, name: str) -> HttpResponse:
    """A round; ``?sort=`` orders its workers. What changes while people work is fetched again by live.js."""
    found = _round_or_404(name)
    environment = market_of(found.channel, found.environment) if found.channel else usable_markets()[0]
    workers = _workers(request, found)
    aggregation = found.aggregations.first()
    only_simulated = all(line.simulated for line in workers["workers"].paginator.object_list)
    may_simulate = task_type_of(found).on_pairs and (found.rehearsal or (only_simulated and not found.settles))
    context = (
        _live(found, request.user)
        | workers
        | {
            "environment": environment,
            "n_hits": found.hits.count(),
            "cost": quote(found, environment.channel).total,
            "platform": on_platform(found),
            "has_link": found.state == "open" and not environment.has_postings,
            "link": join_link(found),
            "versions": found.versions.all(),
            "aggregation": aggregation,
            "verdict_count": verdict_count(aggregation) if aggregation else 0,
            "n_added": found.hits.filter(top_up__in=found.top_ups.for_disputes()).count() if found.top_up else 0,
            "added_for": _added_for(found),
            **_stops(found),
            "turn": turn_of(found.pool),
            "rejections": kept_if_slow(f"rejections-of-round:{found.pk}", partial(rejections_so_far, found)).figures,
            "simulate": f"python manage.py simulate {found} --workers 50" if may_simulate else "",
            "pause": f"python manage.py set_ceiling {found} {commitment_of(found).bound}",
        }
    )
    return render(request, "console/rounds/round.html", context)


def _stops(found: Round) -> dict[str, str]:
    """Return when a greedy round stops, why it has, and whether few queries guard its scores."""
    design = design_of(found)
    if not design.greedy:
        return {}
    note = design.guard_note(queries_of(found.pool))
    return {"stops_at": design.stop_text, "why_stopped": why_stopped(found), "guard_note": note}


def _added_for(found: Round) -> list[tuple[str, int]]:
    """Return for what new pairs the round was topped up, and the HITs of each top-up."""
    return [(one.purpose, one.n_hits) for one in found.top_ups.of_new_pairs().annotate(n_hits=Count("hits"))]


@members_only.reads
@never_cache
def round_live(request: StaffRequest, name: str) -> JsonResponse:
    """Polled by live.js: whether the round is open, and the part of its page that changes while people work."""
    found = _round_or_404(name)
    html = render_to_string("console/rounds/_round_live.html", _live(found, request.user), request)
    return JsonResponse({"live": found.state == "open", "html": html})


@members_only.reads
@never_cache
def round_workers(request: StaffRequest, name: str) -> JsonResponse:
    """Polled by live.js: whether the round is open, and the table of its workers as ``?sort=`` and ``?page=`` say."""
    found = _round_or_404(name)
    context = {"round": found, "platform": is_on_platform(found)} | _workers(request, found)
    html = render_to_string("console/rounds/_round_workers.html", context, request)
    return JsonResponse({"live": found.state == "open", "html": html})


def _workers(request: HttpRequest, found: Round) -> dict[str, Any]:
    asked = request.GET.get("sort", "")
    sort = asked if asked in SORTS else "submitted"
    workers = kept_if_slow(f"workers-of-round:{found.pk}:{sort}", partial(workers_of, found, sort=sort))
    return {"sort": sort, "workers": page_of(request, workers.figures), "workers_old_since": workers.old_since}


def _live(found: Round, user: User) -> dict[str, object]:
    """What the live part shows, with a constant number of queries."""
    standing = standing_of(found)
    judgments = kept_if_slow(f"judgments-of-round:{found.pk}", lambda: _judgments_of(found))
    return {
        "round": found,
        "task": task_type_of(found),
        "standing": standing,
        "forecast": forecast_of(found, standing),
        "needs": needs_of(found, user),
        "n_joined": found.participants.count(),
        "has_idle": found.state == "open" and found.channel == "browser",
        **judgments.figures,
        "old_since": judgments.old_since,
    }


def _judgments_of(found: Round) -> dict[str, object]:
    """What is counted over all judgments and items."""
    quality = quality_of(found)
    judgments = Judgment.objects.counted().of_candidates().filter(assignment__hit__round=found)
    task = task_type_of(found)
    votes = np.array(list(quality.levels.values()))
    simulated = judgments.simulated().count()
    return {
        "quality": quality,
        "levels": level_bar(quality.levels, task.labels),
        "score": task.score(votes / votes.sum()) if task.score_label and votes.any() else None,
        "simulated": simulated,
        "owed_to_simulated": owed_to_simulated(found) if simulated else None,
        "unfinished": unfinished_pairs(found),
    }


@members_only.reads
def round_captions(request: HttpRequest, name: str) -> HttpResponseBase:
    """The accepted captions of the round, for ``import_collection``."""
    found = _round_or_404(name)
    try:
        captions = captions_of(found)
    except CounterpartError as error:
        messages.error(request, str(error))
        return redirect("round", name)
    answer = StreamingHttpResponse(as_lines(found, captions), content_type="application/jsonl; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}-captions.jsonl"'
    return answer


@researchers_only.fills
def round_close(request: StaffRequest, name: str) -> HttpResponse:
    """Show who is still working; close the round once confirmed, as a job if it is on a platform."""
    found = _round_or_404(name)
    trouble = ""
    if request.method == "POST" and is_on_platform(found):
        job = open_once(f"Close {found}", jobs.close.name, {"round": found.name}, lock=found, by=request.user)
        return redirect("job", job.pk)
    if request.method == "POST":
        try:
            close_round(found, actor=request.user.get_username())
            update_queue(found)
            messages.success(request, f"Round {found} is closed.")
            return redirect("round", name)
        except CounterpartError as error:
            trouble = str(error)
    context = {
        "round": found,
        "standing": standing_of(found),
        "has_postings": is_on_platform(found),
        "trouble": trouble,
    }
    return render(request, "console/rounds/close.html", context, status=409 if trouble else 200)


@researchers_only.fills
def round_discard(request: StaffRequest, name: str) -> HttpResponse:
    """Remove a draft round once confirmed."""
    found = get_object_or_404(Round, name=name)
    trouble = ""
    if request.method == "POST":
        try:
            remove("round", name, actor=request.user.get_username())
            messages.success(request, f"The draft {name} is discarded.")
            return redirect("pool", found.pool.name)
        except CounterpartError as error:
            trouble = str(error)
    return render(
        request,
        "console/rounds/round_discard.html",
        {"round": found, "trouble": trouble},
        status=409 if trouble else 200,
    )


@takes_uploads(LARGEST_UPLOAD)
@researchers_only.fills
def round_judgments(request: StaffRequest, name: str) -> HttpResponse:
    """Upload judgments of the round's pairs that were given elsewhere; a job checks and stores all of them or none."""
    found = _round_or_404(name)
    form = JudgmentsForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        params = {"round": name, "from_round": form.cleaned_data["from_round"]}
        files = {"file": form.cleaned_data["file"]}
        title = f"Import judgments into {name}"
        task = import_judgments.name
        return redirect("job", start_with_uploads(title, task, params, files, by=request.user).pk)
    context = {"round": found, "form": form}
    return render(request, "console/rounds/judgments_import.html", context, status=422 if form.errors else 200)


@researchers_only.fills
def round_idle(request: StaffRequest, name: str) -> HttpResponse:
    """Show who holds a HIT and has never submitted one; end their leases once confirmed."""
    found = get_object_or_404(Round, name=name, channel="browser")
    if request.method == "POST":
        ended = end_idle_leases(found, with_answers="with_answers" in request.POST, actor=request.user.get_username())
        messages.success(request, f"{counted(ended, 'lease')} ended; the HITs can be taken again.")
        return redirect("round", name)
    idle = idle_leases(found).count()
    begun = idle - idle_leases(found, with_answers=False).count()
    return render(request, "console/rounds/idle_leases.html", {"round": found, "idle": idle, "begun": begun})


@researchers_only.acts
def round_aggregate(request: StaffRequest, name: str) -> HttpResponse:
    """Aggregate the votes into verdicts by majority."""
    found = _round_or_404(name)
    try:
        counts = aggregate_round(found, actor=request.user.get_username())
        messages.success(
            request, f"{counted(counts['judgments'], 'vote')} counted: {counted(counts['pairs'], 'verdict')}."
        )
        update_queue(found)
    except CounterpartError as error:
        messages.error(request, str(error))
    return redirect("round", name)


@members_only.reads
def hits(request: HttpRequest, name: str) -> HttpResponse:
    """A round's HITs with their seats; ``?state=`` shows only HITs with a seat in that state."""
    found = _round_or_404(name)
    state = request.GET.get("state", "")
    rows = found.hits.filter(seats__state=state).distinct() if state in Seat.State.values else found.hits.all()
    page = page_of(request, rows.prefetch_related("seats").annotate(n_items=count_of(Item, "hit")))
    context = {"round": found, "rows": page, "state": state, "states": Seat.State.values}
    return render(request, "console/rounds/hits.html", context)


@members_only.reads
def hit(request: HttpRequest, name: str, number: int) -> HttpResponse:
    found = get_object_or_404(HIT.objects.select_related("round"), round__name=name, number=number)
    context = {
        "hit": found,
        "round": found.round,
        "task": task_type_of(found.round),
        "seats": found.seats.all(),
        "rows": found.assignments.without_claims().with_hit().select_related("hit__round", "worker"),
        "answers": pairs_of(found),
    }
    return render(request, "console/rounds/hit.html", context)


def _round_or_404(name: str) -> Round:
    return get_object_or_404(Round.objects.select_related("pool__collection", "pool__sample"), name=name)
