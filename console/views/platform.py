"""A round on its platform: bringing the two together, holding them against each other, and the calls between them."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.masking import mask_workers
from annotation.outages import pay_for_outage
from console import tasks
from console.access import StaffRequest, members_only, researchers_only, reviewers_only
from console.on_platform import is_on_platform
from console.outgoing import outgoing
from console.pages import page_of
from console.starting import start_once
from core.errors import CounterpartError
from core.models import Job
from crowd.channels.markets import market_of
from crowd.models import Audit, Outbox, PlatformAssignment
from crowd.outbox import send_again, send_failed_again
from hits.models import Round


@researchers_only
@require_POST
def round_sync(request: StaffRequest, name: str) -> HttpResponse:
    found = _round_or_404(name)
    return redirect("job", start_once(f"Sync {found}", tasks.sync.name, found, by=request.user).pk)


@members_only
@require_safe
def audit(request: HttpRequest, name: str) -> HttpResponse:
    """What the latest audit found, and what it leaves to a person."""
    found = _round_or_404(name)
    context = {"round": found, "market": _market(found), **_latest(found), "job": _under_way(found)}
    return render(request, "console/audit.html", context)


@researchers_only
@require_POST
def audit_start(request: StaffRequest, name: str) -> HttpResponse:
    """Look; nothing is changed by it."""
    found = _round_or_404(name)
    return redirect("job", start_once(f"Audit {found}", tasks.audit.name, found, by=request.user).pk)


@researchers_only
@require_http_methods(["GET", "HEAD", "POST"])
def audit_repair(request: StaffRequest, name: str) -> HttpResponse:
    """Name what mending will do; do it once that is confirmed, and nothing that was not named."""
    found = _round_or_404(name)
    latest = _latest(found)
    if not latest["mendable"]:
        messages.info(request, "There is nothing that can be mended from here.")
        return redirect("audit", name)
    if request.method != "POST":
        return render(request, "console/repair.html", {"round": found, "market": _market(found), **latest})
    audit = latest["audit"]
    if request.POST.get("audit") != str(audit.pk):
        messages.error(request, "Somebody has looked again meanwhile. Read what is different now, then repair it.")
        return redirect("audit", name)
    job = start_once(f"Repair {found}", tasks.repair.name, found, by=request.user, audit=audit.pk)
    return redirect("job", job.pk)


@members_only
@require_safe
def calls(request: HttpRequest) -> HttpResponse:
    """Calls to platforms that failed or wait, the failed ones first; ``?round=`` keeps one round's."""
    chosen = request.GET.get("round", "")
    rows = Outbox.objects.exclude(state=Outbox.State.DONE).select_related("round").order_by("state", "created_at")
    page = page_of(request, rows.filter(round__name=chosen) if chosen else rows)
    return render(request, "console/calls.html", {"rows": page, "lines": outgoing(page), "round": chosen})


@researchers_only
@require_POST
def call_send(request: StaffRequest, call_id: UUID) -> HttpResponse:
    """Give one failed call another chance."""
    row = get_object_or_404(Outbox, pk=call_id)
    if send_again(row, actor=request.user.get_username()):
        messages.success(request, "The call is being made again.")
    else:
        messages.info(request, "That call has not failed any more.")
    return redirect("calls")


@researchers_only
@require_POST
def round_calls_send(request: StaffRequest, name: str) -> HttpResponse:
    """Give every failed call of a round another chance."""
    found = _round_or_404(name)
    sent = send_failed_again(found, actor=request.user.get_username())
    messages.success(request, f"{sent:,} failed calls are being made again." if sent else "No call has failed.")
    return redirect("round", name)


@reviewers_only
@require_http_methods(["GET", "HEAD", "POST"])
def turn_pay(request: StaffRequest, turn_id: int) -> HttpResponse:
    """Pay for a submission that its platform confirms and that could not be taken in, once a reason is given."""
    rows = PlatformAssignment.objects.select_related("posting__hit__round", "worker").exclude(status="")
    turn = get_object_or_404(rows, pk=turn_id)
    round, reason, trouble = turn.posting.hit.round, request.POST.get("reason", ""), ""
    if request.method == "POST":
        try:
            payment = pay_for_outage(turn, reason=reason, by=request.user)
            messages.success(request, f"${payment.amount} are {payment.state} to worker {turn.worker}.")
            return redirect("round", round.name)
        except CounterpartError as error:
            trouble = str(error)
    told = {"reason": reason, "trouble": trouble, "problem": mask_workers([turn.problem])[0]}
    context = {"turn": turn, "round": round, **told}
    return render(request, "console/turn_pay.html", context, status=422 if trouble else 200)


def _latest(round: Round) -> dict[str, Any]:
    """The latest audit, and its differences by who can repair them."""
    audit: Audit | None = round.audits.first()
    rows = audit.differences if audit else []
    return {
        "audit": audit,
        "mendable": [row for row in rows if row["mends"]],
        "left": [row for row in rows if not row["mends"]],
    }


def _under_way(round: Round) -> Job | None:
    names = (tasks.audit.name, tasks.repair.name)
    live = (Job.State.QUEUED, Job.State.RUNNING)
    return Job.objects.filter(task__in=names, params__round=round.name, state__in=live).first()


def _round_or_404(name: str) -> Round:
    """Return a round that stands on a platform."""
    found = get_object_or_404(Round, name=name)
    if not is_on_platform(found):
        raise Http404(f"Round {name} is on no platform.")
    return found


def _market(round: Round) -> Any:
    return market_of(round.channel, round.environment)
