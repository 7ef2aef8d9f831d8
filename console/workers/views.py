"""Workers by pseudonym: the list, a worker's work and payments, pausing, excluding, messaging and forgetting a
worker, and giving them a new link."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from annotation.judging.links import worker_token
from annotation.models import Assignment, Exclusion, Payment, Worker
from annotation.people.erasure import forget_worker
from annotation.people.workers import exclude, mask_workers, pause_worker, readmit, renew_links, resume_worker
from annotation.work.worker_records import current_exclusion, record_of, rounds_of
from console.charts.plots import stored_rows
from console.kept_figures import kept_if_slow
from console.pagination import count_of, page_of
from console.permissions import StaffRequest, members_only, payers_only, stewards_only
from console.refusals import refusals_as_messages
from core.errors import CounterpartError
from core.text import counted
from crowd.channels import CHANNELS, market_of
from crowd.messages import LONGEST, address_of, write_once
from crowd.models import Message
from dataset.secret_controls import has_role
from evaluation.analyses.mimicry_analysis import FLAGGED
from hits.models import Round

MOST_PAYMENTS = 50
SORTS = {
    "worker": F("pseudonym").asc(),
    "submitted": F("n_submitted").desc(),
    "flagged": F("n_flagged").desc(),
    "excluded": F("n_excluded").desc(),
    "last": F("last_at").desc(nulls_last=True),
    "first": F("created_at").desc(),
}
"""Orders of the list of workers: the most, or the latest, first."""


@members_only.reads
def workers(request: HttpRequest) -> HttpResponse:
    """All workers, newest first or as ``?sort=`` says; ``?show=excluded`` shows only the excluded ones."""
    submitted = Assignment.objects.filter(worker=OuterRef("pk"), submitted_at__isnull=False)
    rows = Worker.objects.annotate(
        excluded=Exists(Exclusion.objects.filter(worker=OuterRef("pk"), lifted_at=None)),
        n_submitted=count_of(Assignment, "worker", submitted_at__isnull=False, has_hit=True),
        n_flagged=count_of(Assignment, "worker", state=Assignment.State.FLAGGED),
        n_excluded=count_of(Assignment, "worker", state=Assignment.State.EXCLUDED, has_hit=True),
        last_at=Subquery(submitted.order_by("-submitted_at").values("submitted_at")[:1]),
    )
    asked = request.GET.get("sort", "")
    show = request.GET.get("show", "")
    sort = asked if asked in SORTS else "first"
    shown = rows.filter(excluded=True) if show == "excluded" else rows
    context = {
        "rows": page_of(request, shown.order_by(SORTS[sort], "-pk")),
        "totals": kept_if_slow(f"totals-of-workers:{show}", partial(_totals, shown)).figures,
        "show": show,
        "sort": sort,
    }
    return render(request, "console/workers/workers.html", context)


def _totals(workers: QuerySet[Worker]) -> dict[str, Any]:
    """Return the sums over all ``workers``, as their rows count."""
    state = Assignment.State
    work = Assignment.objects.filter(worker__in=workers.order_by().values("pk"))
    return work.aggregate(
        submitted=Count("pk", filter=Q(submitted_at__isnull=False, has_hit=True)),
        flagged=Count("pk", filter=Q(state=state.FLAGGED)),
        excluded=Count("pk", filter=Q(state=state.EXCLUDED, has_hit=True)),
        last=Max("submitted_at"),
    )


@members_only.reads
def worker(request: StaffRequest, pseudonym: str) -> HttpResponse:
    """One worker's record, work, payments and messages; ``?round=`` shows only one round."""
    found = _worker_or_404(pseudonym)
    round = Round.objects.filter(name=request.GET.get("round", "")).first()
    work = Assignment.objects.without_claims().filter(worker=found).select_related("hit__round", "worker")
    paid = Payment.objects.filter(assignment__worker=found).select_related("round").order_by("-pk")
    context = {
        "worker": found,
        "round": round,
        "record": record_of(found, round),
        "rounds": rounds_of(found),
        "signalled": signalled_of(found, round),
        "flags": flags_of(found),
        "may_pause": has_role(request.user),
        "origins": origins_of(found),
        "exclusion": current_exclusion(found),
        "exclusions": found.exclusions.exclude(lifted_at=None).order_by("-pk"),
        "rows": page_of(request, (work.filter(hit__round=round) if round else work).order_by("-pk"), size=25),
        "payments": (paid.filter(round=round) if round else paid)[:MOST_PAYMENTS],
        "messages_sent": messages_to(found),
        "can_be_written_to": address_of(found) is not None,
    }
    return render(request, "console/workers/worker.html", context)


@stewards_only.fills
def worker_exclude(request: StaffRequest, pseudonym: str) -> HttpResponse:
    """Explain what an exclusion does; exclude the worker once a reason is given."""
    found = _worker_or_404(pseudonym)
    reason = request.POST.get("reason", "")
    context = {"origins": origins_of(found), "reason": reason}

    def act() -> str:
        exclude(found, reason=reason, by=request.user.get_username())
        return f"Worker {found} is excluded and gets no more HITs."

    return _asked(request, found, "console/workers/worker_exclude.html", context, act)


@stewards_only.acts
def worker_readmit(request: StaffRequest, pseudonym: str) -> HttpResponse:
    found = _worker_or_404(pseudonym)
    with refusals_as_messages(request, messages.INFO):
        readmit(found, by=request.user.get_username())
        messages.success(request, f"Worker {found} can take HITs again.")
    return redirect("worker", pseudonym)


@stewards_only.fills
def worker_pause(request: StaffRequest, pseudonym: str, name: str) -> HttpResponse:
    """Explain what a pause in a round does; pause the worker once a reason is given."""
    found = _worker_or_404(pseudonym)
    round = get_object_or_404(Round, name=name)
    reason = request.POST.get("reason", "")

    def act() -> str:
        pause_worker(found, round=round, reason=reason, by=request.user.get_username())
        return f"Worker {found} is paused and gets no more HITs of {round}."

    return _asked(request, found, "console/workers/worker_pause.html", {"round": round, "reason": reason}, act)


@stewards_only.acts
def worker_resume(request: StaffRequest, pseudonym: str, name: str) -> HttpResponse:
    found = _worker_or_404(pseudonym)
    round = get_object_or_404(Round, name=name)
    with refusals_as_messages(request, messages.INFO):
        resume_worker(found, round=round, by=request.user.get_username())
        messages.success(request, f"Worker {found} can take HITs of {round} again.")
    return redirect("worker", pseudonym)


@stewards_only.fills
def worker_write(request: StaffRequest, pseudonym: str) -> HttpResponse:
    """Send the worker a message through their platform."""
    found = _worker_or_404(pseudonym)
    words = {name: request.POST.get(name, "") for name in ("subject", "text")}
    context = {**words, "longest": LONGEST, "origins": origins_of(found), "reachable": address_of(found) is not None}

    def act() -> str:
        _, is_new = write_once(found, **words, by=request.user.get_username())
        return "The message is being sent." if is_new else "This message was sent a moment ago; it is sent only once."

    return _asked(request, found, "console/workers/worker_write.html", context, act)


@stewards_only.fills
@never_cache
def worker_link(request: StaffRequest, pseudonym: str) -> HttpResponse:
    """Explain what a new link does; on POST make it, and show it this once."""
    found = _worker_or_404(pseudonym)
    context: dict[str, Any] = {"worker": found, "origins": origins_of(found)}
    if request.method == "POST":
        renew_links(found, by=request.user.get_username())
        joined = Round.objects.filter(participants__worker=found).order_by("-pk")
        context["links"] = {
            round.name: settings.SITE_URL + reverse("judging:home", args=[worker_token(found, round)])
            for round in joined
        }
    return render(request, "console/workers/worker_link.html", context)


@payers_only.fills
def worker_forget(request: StaffRequest, pseudonym: str) -> HttpResponse:
    """Explain what forgetting does; erase permanently once the pseudonym is typed."""
    found = _worker_or_404(pseudonym)

    def act() -> str:
        if request.POST.get("typed", "").strip() != found.pseudonym:
            raise CounterpartError(f"Type the pseudonym {found} to erase this worker's identity.")
        erased = forget_worker(found.pseudonym, actor=request.user.get_username())
        return f"{counted(erased, 'platform id')} of worker {found} erased."

    return _asked(request, found, "console/workers/worker_forget.html", {"origins": origins_of(found)}, act)


def _asked(
    request: HttpRequest, worker: Worker, template: str, context: dict[str, Any], act: Callable[[], str]
) -> HttpResponse:
    """Show the confirmation page; on POST, act and return to the worker, or show the error on the page."""
    trouble = ""
    if request.method == "POST":
        try:
            messages.success(request, act())
            return redirect("worker", worker.pseudonym)
        except CounterpartError as error:
            trouble = str(error)
    context |= {"worker": worker, "trouble": trouble}
    return render(request, template, context, status=422 if trouble else 200)


def _worker_or_404(pseudonym: str) -> Worker:
    return get_object_or_404(Worker, pseudonym=pseudonym)


@dataclass(frozen=True)
class SentMessage:
    """A message to a worker, and why it was not delivered (empty if it was)."""

    message: Message
    failure: str


def origins_of(worker: Worker) -> list[str]:
    """Name the environments that a worker came from; for simulated workers, the name of their channel."""
    known = worker.identities.order_by("pk").values_list("channel", "environment")
    return [str(market_of(*place)) if place[0] in CHANNELS else place[0] for place in dict.fromkeys(known)]


def messages_to(worker: Worker) -> list[SentMessage]:
    """Return the messages to a worker, newest first."""
    rows = list(worker.messages.order_by("-pk")[:50])
    failures = mask_workers([row.failure for row in rows])
    return [SentMessage(row, failure) for row, failure in zip(rows, failures, strict=True)]


def signalled_of(worker: Worker, round_: Round | None) -> list[Assignment]:
    """Return the worker's latest assignments, in one round or all, that signals asked a person to look at."""
    theirs = Assignment.objects.filter(worker=worker).exclude(signals=[]).select_related("hit__round")
    return list((theirs.filter(hit__round=round_) if round_ else theirs).order_by("-pk")[:20])


def flags_of(worker: Worker) -> list[dict[str, Any]]:
    """Return the worker's row and its ``round`` of each chart of mimicry that flags them, as jobs made it last."""
    rounds = Round.objects.filter(hits__assignments__worker=worker).distinct().order_by("name")
    return [
        {**row, "round": round_}
        for round_ in rounds
        for row in stored_rows(round_, "mimicry")
        if row["worker"] == worker.pseudonym and row["result"] == FLAGGED
    ]
