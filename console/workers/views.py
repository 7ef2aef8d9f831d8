"""Workers by pseudonym: the list, a worker's work, payments and messages, and a new link for them."""

from typing import Any

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from annotation.judging.links import worker_token
from annotation.models import Assignment, Exclusion, Payment, Worker
from annotation.people.workers import renew_links, with_masked
from annotation.review.worker_cases import case_of
from annotation.work.worker_records import current_exclusion, record_of, rounds_of
from console.charts.plots import stored_rows
from console.pagination import count_of, page_of
from console.permissions import StaffRequest, members_only, stewards_only
from console.places import show
from console.workers.worker_acts import origins_of, worker_or_404
from dataset.secret_controls import has_role
from evaluation.analyses.mimicry_analysis import FLAGGED
from hits.models import Round

MOST = 50


@members_only.reads("workers/")
def workers(request: HttpRequest) -> HttpResponse:
    """All workers: those with flagged work first, then the latest submission. ``?show=excluded`` filters."""
    submitted = Assignment.objects.filter(worker=OuterRef("pk"), submitted_at__isnull=False)
    shown = request.GET.get("show", "")
    rows = Worker.objects.annotate(
        excluded=Exists(Exclusion.objects.filter(worker=OuterRef("pk"), lifted_at=None)),
        n_submitted=count_of(Assignment, "worker", submitted_at__isnull=False, has_hit=True),
        n_accepted=count_of(Assignment, "worker", state=Assignment.State.ACCEPTED, has_hit=True),
        n_flagged=count_of(Assignment, "worker", state=Assignment.State.FLAGGED),
        n_excluded=count_of(Assignment, "worker", state=Assignment.State.EXCLUDED, has_hit=True),
        last_at=Subquery(submitted.order_by("-submitted_at").values("submitted_at")[:1]),
    )
    rows = rows.filter(excluded=True) if shown == "excluded" else rows
    order = (F("n_flagged").desc(), F("last_at").desc(nulls_last=True), "-pk")
    context = {"rows": page_of(request, rows.order_by(*order)), "show": shown}
    return render(request, "console/workers/workers.html", context)


@members_only.reads("workers/<slug:pseudonym>/")
def worker(request: StaffRequest, pseudonym: str) -> HttpResponse:
    """One worker's record, work, payments and messages; ``?round=`` shows only one round."""
    found = worker_or_404(pseudonym)
    round = Round.objects.filter(name=request.GET.get("round", "")).first()
    work = Assignment.objects.without_claims().filter(worker=found).select_related("hit__round", "worker")
    paid = Payment.objects.filter(assignment__worker=found).select_related("round").order_by("-pk")
    context = {
        "in_round": round,
        "record": record_of(found, round),
        "rounds": rounds_of(found),
        "waiting": case_of(found),
        "flags": flags_of(found),
        "may_pause": has_role(request.user),
        "origins": origins_of(found),
        "exclusion": current_exclusion(found),
        "exclusions": found.exclusions.exclude(lifted_at=None).order_by("-pk"),
        "rows": page_of(request, (work.filter(hit__round=round) if round else work).order_by("-pk"), size=25),
        "payments": (paid.filter(round=round) if round else paid)[:MOST],
        "sent": with_masked(found.messages.order_by("-pk")[:MOST], "failure"),
    }
    return show(request, "console/workers/worker.html", found, context)


@stewards_only.fills("workers/<slug:pseudonym>/link/")
@never_cache
def worker_link(request: StaffRequest, pseudonym: str) -> HttpResponse:
    """Explain what a new link does; on POST make it, and show it this once."""
    found = worker_or_404(pseudonym)
    context: dict[str, Any] = {"worker": found, "origins": origins_of(found)}
    if request.method == "POST":
        renew_links(found, by=request.user.get_username())
        joined = Round.objects.filter(participants__worker=found).order_by("-pk")
        context["links"] = {
            round.name: settings.SITE_URL + reverse("judging:home", args=[worker_token(found, round)])
            for round in joined
        }
    return render(request, "console/workers/worker_link.html", context)


def flags_of(worker: Worker) -> list[dict[str, Any]]:
    """Return the worker's row and its ``round`` of each chart of mimicry that flags them, as jobs made it last."""
    rounds = Round.objects.filter(hits__assignments__worker=worker).distinct().order_by("name")
    return [
        {**row, "round": round_}
        for round_ in rounds
        for row in stored_rows(round_, "mimicry")
        if row["worker"] == worker.pseudonym and row["result"] == FLAGGED
    ]
