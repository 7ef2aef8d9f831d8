"""The tab Money of a round: its accounts, time and pay, and earnings; on a platform also costs, books and calls. And
what a person does there."""

from contextlib import suppress
from functools import partial
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Count, Sum
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from annotation.jobs import top_up
from annotation.models import Assignment, Payment
from annotation.money.budget import set_ceiling
from annotation.money.ledger import accounts_of, earners_of, owed_to_simulated, payments_as_csv, total_of
from annotation.money.payroll import MAX_BYTES, mark_wages, write_wages
from annotation.money.wages import shortfall_of, timing_of
from annotation.people.workers import mask_workers
from console.acts import Chosen, Landing, Shown, act
from console.fields import UploadField, asking
from console.kept_figures import kept_if_slow
from console.money.platform_status import calls_of, is_on_platform, on_platform
from console.pagination import page_of
from console.permissions import StaffRequest, members_only, payers_only, researchers_only, reviewers_only
from console.places import follow, show
from console.refusals import refusals_as_messages
from console.rounds.round_acts import round_act
from console.rounds.schemas import round_or_404
from console.uploads import local_upload
from core.errors import CounterpartError
from core.events import record
from core.text import counted
from core.work.jobs import open_once
from crowd import jobs
from crowd.calls.funds import costs_of
from crowd.calls.outbox import send_again
from crowd.calls.single_payments import settle
from crowd.models import Outbox, Visit
from crowd.offers import Offer
from crowd.posting.postings import prolong_postings
from crowd.visits.intake import pay_for_outage
from hits.models import Round
from hits.prices import fair_reward

ROWS = 40  # workers on a page, below the accounts


@members_only.reads("rounds/<slug:name>/money/")
def round_money(request: StaffRequest, name: str) -> HttpResponse:
    """A round's money; ``?costs`` asks its platform what it costs there."""
    found = round_or_404(name)
    timing = kept_if_slow(f"usual-time-of-round:{found.pk}", partial(timing_of, found, elapsed=True)).figures
    earners = kept_if_slow(f"earners-of-round:{found.pk}", partial(earners_of, found))
    fair = fair_reward(timing.active, found.wage_floor) if timing else found.reward
    context: dict[str, Any] = {
        "accounts": [(label, amount) for account, label, amount in accounts_of(found) if account != "outside"],
        "simulated": owed_to_simulated(found),
        "timing": timing,
        "fair": fair,
        "platform": on_platform(found),
        "rows": page_of(request, earners.figures, size=ROWS),
        "totals": total_of(earners.figures),
        "old_since": earners.old_since,
    }
    if fair > found.reward:
        with suppress(CounterpartError):  # not enough work of people
            context["short"] = shortfall_of(found)
    if payers_only.may(request.user):
        owed = found.payments.filter(state=Payment.State.OWED, assignment__worker__simulated=False)
        context["due"] = owed.aggregate(workers=Count("assignment__worker", distinct=True), amount=Sum("amount"))
    if "costs" in request.GET and is_on_platform(found) and researchers_only.may(request.user):
        context["costs"] = costs_of(found)
    return show(request, "console/money/money.html", found, context)


@members_only.reads("rounds/<slug:name>/ledger.csv")
def ledger_csv(request: HttpRequest, name: str) -> HttpResponseBase:
    found = round_or_404(name)
    headers = {"Content-Disposition": f'attachment; filename="ledger-{name}.csv"'}
    return StreamingHttpResponse(payments_as_csv(found), content_type="text/csv; charset=utf-8", headers=headers)


@payers_only.reads("rounds/<slug:name>/payments.csv")
def payments_csv(request: StaffRequest, name: str) -> HttpResponse:
    """Download the payments due. The download is recorded, because the list contains platform ids."""
    found = round_or_404(name)
    with refusals_as_messages(request):
        response = HttpResponse(write_wages(found), content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{found.name}-payments.csv"'
        response["Cache-Control"] = "private, no-store"
        record("payments listed", found, actor=request.user.get_username())
        return response
    return redirect("round_money", name)


@round_act(
    "payments/mark",
    "Which payments of {} were made?",
    guard=payers_only,
    label="Mark as paid",
    form=asking(list=UploadField(label="The list of paid workers (CSV)", suffixes=(".csv",), largest=MAX_BYTES)),
    offered=lambda round: not round.settles and round.payments.filter(state=Payment.State.OWED).exists(),
    menu=None,
    uploads=MAX_BYTES,
)
def payments_mark(round: Round, chosen: Chosen, by: User) -> str:
    """Pay the workers outside this site, delete the rows of the downloaded list that you did not pay, and upload the
    list. If a row is wrong, no payment is marked."""
    with local_upload(chosen["list"]) as file:
        marked = mark_wages(round, file, actor=by.get_username())
    before = f" {marked.before:,} were already marked." if marked.before else ""
    return f"{counted(marked.payments, 'payment')} marked as paid, ${marked.amount:,} in total.{before}"


@round_act(
    "ceiling",
    "How much may {} cost at most?",
    label="Set the ceiling",
    form=asking(ceiling=forms.CharField(label="US dollars, fees included", max_length=20)),
    offered=lambda round: round.state != "closed",
)
def round_ceiling(round: Round, chosen: Chosen, by: User) -> str:
    """Rewards, bonuses and fees together stay below it."""
    changed = set_ceiling(round, chosen["ceiling"], actor=by.get_username())
    return f"The ceiling of round {round} is now ${changed.ceiling}."


@researchers_only.acts("rounds/<slug:name>/top-up/")
def round_top_up(request: StaffRequest, name: str) -> HttpResponse:
    """Owe each paid assignment what the reward falls short of the wage floor, as a job, at the cost that was shown."""
    found = round_or_404(name)
    with refusals_as_messages(request):
        agreed = str(shortfall_of(found).total)
        if request.POST.get("shown") != agreed:
            raise CounterpartError("The cost has changed since it was shown. Check it again.")
        params = {"round": name, "agreed": agreed}
        title = f"Pay {found} up to the wage floor"
        return follow(open_once(title, top_up.name, params, lock=found, same=["round"], by=request.user))
    return redirect("round_money", name)


def on_platform_or_404(name: str) -> Round:
    """Return a round that is published on a platform."""
    found = round_or_404(name)
    if not is_on_platform(found):
        raise Http404(f"Round {name} is not published on a platform.")
    return found


@researchers_only.acts("rounds/<slug:name>/sync/")
def round_sync(request: StaffRequest, name: str) -> HttpResponse:
    found = on_platform_or_404(name)
    return follow(open_once(f"Sync {found}", jobs.sync.name, {"round": name}, lock=found, by=request.user))


@researchers_only.acts("rounds/<slug:name>/audit/start/")
def audit_start(request: StaffRequest, name: str) -> HttpResponse:
    """Start to compare the books with the platform, which changes nothing."""
    found = on_platform_or_404(name)
    title = f"Compare {found} with its platform"
    return follow(open_once(title, jobs.audit.name, {"round": name}, lock=found, by=request.user))


@researchers_only.acts("rounds/<slug:name>/audit/repair/")
def audit_repair(request: StaffRequest, name: str) -> HttpResponse:
    """Start exactly the repairs that the page showed."""
    found = on_platform_or_404(name)
    shown = request.POST.get("shown")
    if shown != str(found.audits.values_list("pk", flat=True).first()):
        messages.error(request, "The books were compared again. Check the differences, then repair them.")
        return redirect("round_money", name)
    params = {"round": name, "audit": int(shown)}
    return follow(open_once(f"Repair {found}", jobs.repair.name, params, lock=found, same=["round"], by=request.user))


def _longer(round: Round, chosen: Chosen) -> Shown:
    means = prolong_postings(round, days=chosen["days"], actor="", dry=True)
    until = f"{means.until:%-d %b %Y, %H:%M} UTC"
    if not means.postings:
        raise CounterpartError(f"No posting with open answer sets expires before {until}. Nothing has to be done.")
    postings = counted(means.postings, "posting")
    says = [
        f"{postings} with {counted(means.open, 'open answer set')} until {until}. {means.reopened:,} of them are "
        f"offered again: ${means.cost:,} set aside, fees included.",
        "The platform cannot end a posting earlier again; closing the round ends all of them.",
    ]
    key = f"{chosen['days']} {means.postings} {means.cost}"
    return Shown(key=key, button=f"Keep {postings}", context={"asks": says})


@round_act(
    "prolong",
    "Keep the postings of {} for longer?",
    label="Keep the postings",
    button="Show the effect",
    form=asking(days=forms.IntegerField(initial=Offer.lifetime_days, label="Days from now until they expire")),
    shows=_longer,
    offered=lambda round: round.state == "open" and is_on_platform(round),
)
def round_prolong(round: Round, chosen: Chosen, by: User) -> str:
    """Expired postings are posted again while they have open answer sets; this extends them."""
    done = prolong_postings(round, days=chosen["days"], actor=by.get_username())
    stay = counted(done.postings, "posting stays", "postings stay")
    return f"{stay} until {done.until:%-d %b %Y, %H:%M} UTC."


@researchers_only.acts("rounds/<slug:name>/calls/send/")
def round_calls_send(request: StaffRequest, name: str) -> HttpResponse:
    """Retry the failed calls that the page of the round shows."""
    failed = calls_of(on_platform_or_404(name)).filter(state=Outbox.State.FAILED)
    sent = sum(send_again(row, actor=request.user.get_username()) for row in failed)
    messages.success(request, f"{counted(sent, 'call')} being retried." if sent else "No call has failed.")
    return redirect("round_money", name)


@researchers_only.acts("calls/<uuid:call_id>/settle/")
def call_settle(request: StaffRequest, call_id: UUID) -> HttpResponse:
    """Settle an unclear payment as a person has found it on the platform: it was paid, or it was not."""
    row = get_object_or_404(Outbox.objects.select_related("round"), pk=call_id)
    answer = request.POST.get("was_paid")
    with refusals_as_messages(request):
        if answer not in ("yes", "no"):
            raise CounterpartError("Choose whether it was paid.")
        settle(row, was_paid=answer == "yes", by=request.user.get_username())
        messages.success(request, "It is marked as paid." if answer == "yes" else "It is being paid again.")
    return redirect("round_money", row.round.name) if row.round else redirect("rounds")


def _lost_or_404(assignment_id: int) -> Assignment:
    rows = Assignment.objects.filter(visit__in=Visit.objects.listed())
    return get_object_or_404(rows.select_related("hit__round", "worker"), pk=assignment_id)


@act(
    "submissions/<int:assignment_id>/pay/",
    _lost_or_404,
    reviewers_only,
    label="Pay for it",
    question="Pay the reward for lost submission {}?",
    form=asking(reason=forms.CharField(label="What went wrong", max_length=2000, help_text="Recorded with your name.")),
    asks=lambda lost: [
        mask_workers([lost.problem])[0] or "This submission was not stored.",
        f"The platform confirms that worker {lost.worker} submitted {lost.hit}, but we have no answers that count. The "
        f"worker is paid ${lost.hit.round.reward}; the seat stays open for another worker.",
    ],
)
def submission_pay(lost: Assignment, chosen: Chosen, by: User) -> Landing:
    """Pay for a submission that the platform confirms but that was not stored."""
    payment = pay_for_outage(lost, reason=chosen["reason"], by=by)
    money = reverse("round_money", args=[lost.hit.round.name])
    return Landing(f"Worker {lost.worker}: ${payment.amount} {payment.state}.", money)
