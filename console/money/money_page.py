"""The tab Money of a round: its accounts, time and pay, earnings and payments due; on a platform also costs, books and
calls. And the lists of payments as files, marking them as paid, and the check of a worker's code."""

from contextlib import suppress
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Count, Sum
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render

from annotation import jobs
from annotation.models import Payment
from annotation.money.budget import set_ceiling
from annotation.money.ledger import accounts_of, earners_of, owed_to_simulated, payments_as_csv, total_of
from annotation.money.payroll import MAX_BYTES, mark_wages, write_wages
from annotation.money.wages import shortfall_of, timing_of
from annotation.people.receipts import Proof, verify_code
from console.acts import Chosen, act
from console.fields import asking
from console.kept_figures import kept_if_slow
from console.money.platform_status import is_on_platform, on_platform
from console.pagination import page_of
from console.permissions import StaffRequest, members_only, payers_only, researchers_only
from console.places import follow, show
from console.refusals import refusals_as_messages
from console.rounds.schemas import round_or_404
from console.uploads import local_upload
from core.errors import CounterpartError
from core.events import record
from core.text import counted
from core.web.middleware import takes_uploads
from core.work.jobs import open_once
from crowd.calls.funds import costs_of
from hits.models import Round
from hits.prices import fair_reward

ROWS = 40  # workers on a page, below the accounts


@members_only.reads
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


@members_only.reads
def ledger_csv(request: HttpRequest, name: str) -> HttpResponseBase:
    found = round_or_404(name)
    answer = StreamingHttpResponse(payments_as_csv(found), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="ledger-{found.name}.csv"'
    return answer


@payers_only.reads
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


@takes_uploads(MAX_BYTES)
@payers_only.acts
def payments_mark(request: StaffRequest, name: str) -> HttpResponse:
    """Mark the payments in the uploaded list as paid, all or none."""
    found = round_or_404(name)
    with refusals_as_messages(request):
        messages.success(request, _mark(request, found))
    return redirect("round_money", name)


def _mark(request: StaffRequest, found: Round) -> str:
    uploaded = request.FILES.get("list")
    if uploaded is None:
        raise CounterpartError("No file selected. Choose the list that you downloaded here.")
    with local_upload(uploaded) as file:
        marked = mark_wages(found, file, actor=request.user.get_username())
    before = f" {marked.before:,} were already marked." if marked.before else ""
    return f"{counted(marked.payments, 'payment')} marked as paid, ${marked.amount:,} in total.{before}"


@act(
    "rounds/<slug:name>/ceiling/",
    round_or_404,
    researchers_only,
    label="Set the ceiling",
    question="How much may {} cost at most?",
    form=asking(ceiling=forms.CharField(label="US dollars, fees included", max_length=20)),
    offered=lambda round: round.state != "closed",
    menu=Round,
)
def round_ceiling(round: Round, chosen: Chosen, by: User) -> str:
    """Set the most that the round may cost."""
    changed = set_ceiling(round, chosen["ceiling"], actor=by.get_username())
    return f"The ceiling of round {round} is now ${changed.ceiling}."


@researchers_only.acts
def round_top_up(request: StaffRequest, name: str) -> HttpResponse:
    """Owe each paid assignment what the reward falls short of the wage floor, as a job, at the cost that was shown."""
    found = round_or_404(name)
    with refusals_as_messages(request):
        agreed = str(shortfall_of(found).total)
        if request.POST.get("shown") != agreed:
            raise CounterpartError("The cost has changed since it was shown. Check it again.")
        params = {"round": name, "agreed": agreed}
        title = f"Pay {found} up to the wage floor"
        return follow(open_once(title, jobs.top_up.name, params, lock=found, same=["round"], by=request.user))
    return redirect("round_money", name)


@members_only.reads
def codes(request: HttpRequest) -> HttpResponse:
    """Check a worker's receipt or completion code."""
    code = request.GET.get("code", "")
    proof: Proof | None = None
    trouble = ""
    try:
        proof = verify_code(code) if code.strip() else None
    except CounterpartError as error:
        trouble = str(error)
    return render(request, "console/money/codes.html", {"code": code, "proof": proof, "trouble": trouble})
