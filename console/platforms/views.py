"""A round on its platform: sync, costs, books and their repair, the calls to it, and payment for lost submissions."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.models import Assignment
from annotation.people.workers import mask_workers
from console.pagination import page_of
from console.permissions import StaffRequest, members_only, researchers_only, reviewers_only
from console.platforms.platform_status import calls_of, is_on_platform
from console.refusals import refusals_as_messages, refusals_in
from console.rounds.publishing_forms import ProlongForm
from core.errors import CounterpartError
from core.models import Job
from core.text import counted
from core.work.jobs import open_once
from crowd import jobs
from crowd.calls.funds import costs_of
from crowd.calls.outbox import send_again, send_failed_again
from crowd.calls.single_payments import settle
from crowd.channels import market_of
from crowd.models import Audit, Outbox, Visit
from crowd.posting.postings import prolong_postings
from crowd.visits.intake import pay_for_outage
from hits.models import Round


@researchers_only.acts
def round_sync(request: StaffRequest, name: str) -> HttpResponse:
    found = _round_or_404(name)
    job = open_once(f"Sync {found}", jobs.sync.name, {"round": found.name}, lock=found, by=request.user)
    return redirect("job", job.pk)


@researchers_only.reads
def round_costs(request: StaffRequest, name: str) -> HttpResponse:
    """The cost of the round by the platform's own calculator. The platform is only asked; nothing changes."""
    found = _round_or_404(name)
    context = {"round": found, "environment": _environment(found), "costs": costs_of(found)}
    return render(request, "console/platforms/costs.html", context)


@researchers_only.fills
def round_prolong(request: StaffRequest, name: str) -> HttpResponse:
    """Ask for a number of days and show what it means; once confirmed, have the platform keep the postings."""
    found = _round_or_404(name)
    extension = None
    is_sent = request.method == "POST"
    form = ProlongForm(request.POST if is_sent else request.GET or None)
    if form.is_valid():
        actor = request.user.get_username()
        with refusals_in(form):
            extension = prolong_postings(found, days=form.cleaned_data["days"], actor=actor, dry=not is_sent)
    if is_sent and extension and extension.postings:
        stay = counted(extension.postings, "posting stays", "postings stay")
        messages.success(request, f"{stay} until {extension.until:%-d %b %Y, %H:%M} UTC.")
        return redirect("round", name)
    context = {"round": found, "environment": _environment(found), "form": form, "extension": extension}
    return render(request, "console/platforms/prolong.html", context, status=422 if form.errors else 200)


@members_only.reads
def audit(request: HttpRequest, name: str) -> HttpResponse:
    """The differences between the books and the platform, as found last."""
    found = _round_or_404(name)
    context = {"round": found, "environment": _environment(found), **_latest(found), "job": _live_audit(found)}
    return render(request, "console/platforms/audit.html", context)


@researchers_only.acts
def audit_start(request: StaffRequest, name: str) -> HttpResponse:
    """Start to compare the books with the platform, which changes nothing."""
    found = _round_or_404(name)
    job = open_once(
        f"Compare {found} with its platform", jobs.audit.name, {"round": found.name}, lock=found, by=request.user
    )
    return redirect("job", job.pk)


@researchers_only.fills
def audit_repair(request: StaffRequest, name: str) -> HttpResponse:
    """Show what a repair will do; once confirmed, start exactly that."""
    found = _round_or_404(name)
    latest = _latest(found)
    if not latest["repairable"]:
        messages.info(request, "There is nothing to repair.")
        return redirect("audit", name)
    if request.method != "POST":
        return render(
            request, "console/platforms/repair.html", {"round": found, "environment": _environment(found), **latest}
        )
    audit = latest["audit"]
    if request.POST.get("audit") != str(audit.pk):
        messages.error(request, "The books were compared again. Check the differences, then repair them.")
        return redirect("audit", name)
    params = {"round": found.name, "audit": audit.pk}
    job = open_once(f"Repair {found}", jobs.repair.name, params, lock=found, same=["round"], by=request.user)
    return redirect("job", job.pk)


@members_only.reads
def calls(request: HttpRequest) -> HttpResponse:
    """Failed and waiting platform calls, failed ones first; ``?round=`` shows only one round's."""
    chosen = request.GET.get("round", "")
    if chosen:
        get_object_or_404(Round, name=chosen)
    rows = Outbox.objects.exclude(state=Outbox.State.DONE).select_related("round").order_by("state", "created_at")
    page = page_of(request, rows.filter(round__name=chosen) if chosen else rows)
    context = {"rows": page, "lines": calls_of(page), "things": "calls", "round": chosen}
    return render(request, "console/platforms/calls.html", context)


@researchers_only.acts
def call_send(request: StaffRequest, call_id: UUID) -> HttpResponse:
    """Retry one failed call."""
    row = get_object_or_404(Outbox, pk=call_id)
    if send_again(row, actor=request.user.get_username()):
        messages.success(request, "The call is being retried.")
    else:
        messages.info(request, "This call has not failed any more. Nothing was changed.")
    return redirect("calls")


@researchers_only.acts
def call_settle(request: StaffRequest, call_id: UUID) -> HttpResponse:
    """Settle an unclear payment as a person has found it on the platform: it was paid, or it was not."""
    row = get_object_or_404(Outbox, pk=call_id)
    answer = request.POST.get("was_paid")
    was_paid = answer == "yes"
    if answer not in ("yes", "no"):
        messages.error(request, "Choose whether it was paid.")
        return redirect("calls")
    with refusals_as_messages(request):
        settle(row, was_paid=was_paid, by=request.user.get_username())
        messages.success(request, "It is marked as paid." if was_paid else "It is being paid again.")
    return redirect("calls")


@researchers_only.acts
def round_calls_send(request: StaffRequest, name: str) -> HttpResponse:
    """Retry all failed calls of a round."""
    found = _round_or_404(name)
    sent = send_failed_again(found, actor=request.user.get_username())
    messages.success(request, f"{counted(sent, 'call')} being retried." if sent else "No call has failed.")
    return redirect("round", name)


@reviewers_only.fills
def submission_pay(request: StaffRequest, assignment_id: int) -> HttpResponse:
    """Pay for a submission that the platform confirms but that was not stored, once a reason is given."""
    rows = Assignment.objects.filter(visit__in=Visit.objects.listed()).select_related("hit__round", "worker")
    submission = get_object_or_404(rows, pk=assignment_id)
    round_ = submission.hit.round
    reason = request.POST.get("reason", "")
    trouble = ""
    if request.method == "POST":
        try:
            payment = pay_for_outage(submission, reason=reason, by=request.user)
            messages.success(request, f"Worker {submission.worker}: ${payment.amount} {payment.state}.")
            return redirect("round", round_.name)
        except CounterpartError as error:
            trouble = str(error)
    context = {
        "submission": submission,
        "round": round_,
        "reason": reason,
        "trouble": trouble,
        "problem": mask_workers([submission.problem])[0],
    }
    return render(request, "console/platforms/submission_pay.html", context, status=422 if trouble else 200)


def _latest(round_: Round) -> dict[str, Any]:
    """Return the latest comparison with its differences: those that can be repaired, and those left to a person."""
    audit: Audit | None = round_.audits.first()
    rows = audit.differences if audit else []
    return {
        "audit": audit,
        "repairable": [row for row in rows if row["repairable"]],
        "left": [row for row in rows if not row["repairable"]],
    }


def _live_audit(round_: Round) -> Job | None:
    names = (jobs.audit.name, jobs.repair.name)
    live = (Job.State.QUEUED, Job.State.RUNNING)
    return Job.objects.filter(task__in=names, params__round=round_.name, state__in=live).first()


def _round_or_404(name: str) -> Round:
    """Return a round that is published on a platform."""
    found = get_object_or_404(Round, name=name)
    if not is_on_platform(found):
        raise Http404(f"Round {name} is not published on a platform.")
    return found


def _environment(round_: Round) -> Any:
    return market_of(round_.channel, round_.environment)
