"""What a person does with a round on its platform: sync, keep its postings, compare and repair its books, make failed
calls again, and pay for lost submissions."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from annotation.models import Assignment
from annotation.people.workers import mask_workers
from console.acts import Chosen, Landing, Shown, act
from console.fields import asking
from console.money.platform_status import calls_of, is_on_platform
from console.permissions import StaffRequest, researchers_only, reviewers_only
from console.places import follow
from console.refusals import refusals_as_messages
from console.rounds.schemas import round_or_404
from core.errors import CounterpartError
from core.text import counted
from core.work.jobs import open_once
from crowd import jobs
from crowd.calls.outbox import send_again
from crowd.calls.single_payments import settle
from crowd.models import Outbox, Visit
from crowd.offers import Offer
from crowd.posting.postings import prolong_postings
from crowd.visits.intake import pay_for_outage
from hits.models import Round


def on_platform_or_404(name: str) -> Round:
    """Return a round that is published on a platform."""
    found = round_or_404(name)
    if not is_on_platform(found):
        raise Http404(f"Round {name} is not published on a platform.")
    return found


@researchers_only.acts
def round_sync(request: StaffRequest, name: str) -> HttpResponse:
    found = on_platform_or_404(name)
    return follow(open_once(f"Sync {found}", jobs.sync.name, {"round": name}, lock=found, by=request.user))


@researchers_only.acts
def audit_start(request: StaffRequest, name: str) -> HttpResponse:
    """Start to compare the books with the platform, which changes nothing."""
    found = on_platform_or_404(name)
    title = f"Compare {found} with its platform"
    return follow(open_once(title, jobs.audit.name, {"round": name}, lock=found, by=request.user))


@researchers_only.acts
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


@act(
    "rounds/<slug:name>/prolong/",
    on_platform_or_404,
    researchers_only,
    label="Keep the postings",
    question="Keep the postings of {} for longer?",
    button="Show the effect",
    form=asking(days=forms.IntegerField(initial=Offer.lifetime_days, label="Days from now until they expire")),
    asks=lambda round: ["Expired postings are posted again while they have open answer sets; this extends them."],
    shows=_longer,
    offered=lambda round: round.state == "open" and is_on_platform(round),
    menu=Round,
)
def round_prolong(round: Round, chosen: Chosen, by: User) -> str:
    """Have the platform keep the round's postings."""
    done = prolong_postings(round, days=chosen["days"], actor=by.get_username())
    stay = counted(done.postings, "posting stays", "postings stay")
    return f"{stay} until {done.until:%-d %b %Y, %H:%M} UTC."


@researchers_only.acts
def round_calls_send(request: StaffRequest, name: str) -> HttpResponse:
    """Retry the failed calls that the page of the round shows."""
    failed = calls_of(on_platform_or_404(name)).filter(state=Outbox.State.FAILED)
    sent = sum(send_again(row, actor=request.user.get_username()) for row in failed)
    messages.success(request, f"{counted(sent, 'call')} being retried." if sent else "No call has failed.")
    return redirect("round_money", name)


@researchers_only.acts
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
