"""Workers by pseudonym: the list, one with their work and pay, and what staff may do: shut out, write to, forget."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.excluding import exclude, readmit
from annotation.forgetting import forget_worker
from annotation.models import Assignment, Exclusion, Payment, Worker
from console.access import StaffRequest, members_only, payers_only, stewards_only
from console.pages import count_of, page_of
from console.people import messages_to, origins_of, rounds_of, standing_exclusion
from console.quality import record_of
from core.errors import CounterpartError
from crowd.messages import LONGEST, address_of, write_once
from hits.models import Round

MOST_PAYMENTS = 50


@members_only
@require_safe
def workers(request: HttpRequest) -> HttpResponse:
    """Everybody who came, the latest first; ``?show=excluded`` keeps those who get no work."""
    excluded = Exists(Exclusion.objects.filter(worker=OuterRef("pk"), lifted_at=None))
    rows = Worker.objects.annotate(
        excluded=excluded, n_submitted=count_of(Assignment, "worker", submitted_at__isnull=False)
    ).order_by("-pk")
    show = request.GET.get("show", "")
    page = page_of(request, rows.filter(excluded=True) if show == "excluded" else rows)
    return render(request, "console/workers.html", {"rows": page, "show": show})


@members_only
@require_safe
def worker(request: HttpRequest, pseudonym: str) -> HttpResponse:
    """One worker's record, work, pay and messages; ``?round=`` keeps one round's."""
    found = _worker_or_404(pseudonym)
    round = Round.objects.filter(name=request.GET.get("round", "")).first()
    work = Assignment.objects.filter(worker=found).select_related("hit__round", "worker")
    paid = Payment.objects.filter(assignment__worker=found).select_related("round").order_by("-pk")
    context = {
        "worker": found,
        "round": round,
        "record": record_of(found, round),
        "rounds": rounds_of(found),
        "origins": origins_of(found),
        "exclusion": standing_exclusion(found),
        "exclusions": found.exclusions.exclude(lifted_at=None).order_by("-pk"),
        "rows": page_of(request, (work.filter(hit__round=round) if round else work).order_by("-pk"), size=25),
        "payments": (paid.filter(round=round) if round else paid)[:MOST_PAYMENTS],
        "messages_sent": messages_to(found),
        "can_be_written_to": address_of(found) is not None,
    }
    return render(request, "console/worker.html", context)


@stewards_only
@require_http_methods(["GET", "HEAD", "POST"])
def worker_exclude(request: StaffRequest, pseudonym: str) -> HttpResponse:
    """Say what an exclusion means; shut the worker out once a reason is given."""
    found = _worker_or_404(pseudonym)
    reason = request.POST.get("reason", "")
    context = {"origins": origins_of(found), "reason": reason}

    def act() -> str:
        exclude(found, reason=reason, by=request.user.get_username())
        return f"Worker {found} gets no more work from us."

    return _asked(request, found, "console/worker_exclude.html", context, act)


@stewards_only
@require_POST
def worker_readmit(request: StaffRequest, pseudonym: str) -> HttpResponse:
    found = _worker_or_404(pseudonym)
    try:
        readmit(found, by=request.user.get_username())
        messages.success(request, f"Worker {found} may work for us again.")
    except CounterpartError as error:
        messages.info(request, str(error))
    return redirect("worker", pseudonym)


@stewards_only
@require_http_methods(["GET", "HEAD", "POST"])
def worker_write(request: StaffRequest, pseudonym: str) -> HttpResponse:
    """Have the worker's platform send them a message."""
    found = _worker_or_404(pseudonym)
    words = {name: request.POST.get(name, "") for name in ("subject", "text")}
    context = {**words, "longest": LONGEST, "origins": origins_of(found), "reachable": address_of(found) is not None}

    def act() -> str:
        _, is_new = write_once(found, **words, by=request.user.get_username())
        return "The message is on its way." if is_new else "That message was sent a moment ago; it goes out once."

    return _asked(request, found, "console/worker_write.html", context, act)


@payers_only
@require_http_methods(["GET", "HEAD", "POST"])
def worker_forget(request: StaffRequest, pseudonym: str) -> HttpResponse:
    """Say what forgetting means; erase for ever once the pseudonym is typed."""
    found = _worker_or_404(pseudonym)

    def act() -> str:
        if request.POST.get("typed", "").strip() != found.pseudonym:
            raise CounterpartError(f"Type the pseudonym, {found}, to erase what ties this worker to a person.")
        erased = forget_worker(found.pseudonym, actor=request.user.get_username())
        return f"{erased} platform ids of worker {found} are erased."

    return _asked(request, found, "console/worker_forget.html", {"origins": origins_of(found)}, act)


def _asked(
    request: HttpRequest, worker: Worker, template: str, context: dict[str, Any], act: Callable[[], str]
) -> HttpResponse:
    """Show the page that asks; on POST do it and go back to the worker, or say on the page why not."""
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
