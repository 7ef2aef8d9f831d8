"""A round's money: ledger, ceiling, wage floor, payments due, and the check of a worker's code."""

from functools import partial

from django.contrib import messages
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache

from annotation import jobs
from annotation.models import Payment
from annotation.money.budget import set_ceiling
from annotation.money.ledger import accounts_of, earners_of, owed_to_simulated, payments_as_csv, total_of
from annotation.money.payroll import MAX_BYTES, mark_wages, wages_of, write_wages
from annotation.money.wages import shortfall_of, timing_of
from annotation.people.receipts import Proof, verify_code
from console.kept_figures import kept_if_slow
from console.pagination import page_of
from console.permissions import StaffRequest, members_only, payers_only, researchers_only
from console.refusals import refusals_as_messages
from console.rounds.schemas import round_or_404
from console.uploads import local_upload
from core.errors import CounterpartError
from core.events import record
from core.text import counted
from core.web.middleware import takes_uploads
from core.work.jobs import open_once
from hits.models import Round
from hits.prices import fair_reward


@takes_uploads(MAX_BYTES)
@never_cache
@payers_only.fills
def payments(request: StaffRequest, name: str) -> HttpResponse:
    """Show what each worker is owed; accept the uploaded list of paid workers."""
    found = round_or_404(name)
    trouble = ""
    if request.method == "POST":
        try:
            messages.success(request, _mark(request, found))
            return redirect("payments", name)
        except CounterpartError as error:
            trouble = str(error)
    wages = wages_of(found)
    context = {
        "round": found,
        "wages": wages,
        "total": sum(wage.amount for wage in wages),
        "simulated": owed_to_simulated(found),
        "is_paid_here": not found.settles,
        "trouble": trouble,
    }
    return render(request, "console/payments/payments.html", context, status=422 if trouble else 200)


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
    return redirect("payments", name)


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
    return render(request, "console/payments/codes.html", {"code": code, "proof": proof, "trouble": trouble})


def _mark(request: StaffRequest, round_: Round) -> str:
    """Mark the payments in the uploaded list as paid; return the outcome in a sentence."""
    uploaded = request.FILES.get("list")
    if uploaded is None:
        raise CounterpartError("No file selected. Choose the list that you downloaded here.")
    with local_upload(uploaded) as file:
        marked = mark_wages(round_, file, actor=request.user.get_username())
    before = f" {marked.before:,} were already marked." if marked.before else ""
    return f"{counted(marked.payments, 'payment')} marked as paid, ${marked.amount:,} in total.{before}"


@members_only.reads
def ledger(request: HttpRequest, name: str) -> HttpResponse:
    """A round's accounts, and what each worker has earned or, with ``?show=payments``, each payment."""
    found = round_or_404(name)
    context: dict[str, object] = {"round": found}
    if request.GET.get("show") == "payments":
        payments = Payment.objects.filter(round=found).select_related("assignment__worker").order_by("-id")
        sums = payments.aggregate(amount=Sum("amount"), fee=Sum("fee"))
        context |= {"rows": page_of(request, payments), "totals": sums, "show_payments": True}
        return render(request, "console/payments/ledger.html", context)
    earners = kept_if_slow(f"earners-of-round:{found.pk}", partial(earners_of, found))
    timing = kept_if_slow(f"usual-time-of-round:{found.pk}", partial(timing_of, found, elapsed=True)).figures
    context |= {
        "accounts": accounts_of(found),
        "simulated": owed_to_simulated(found),
        "timing": timing,
        "fair": fair_reward(timing.active, found.wage_floor) if timing else None,
        "rows": page_of(request, earners.figures),
        "totals": total_of(earners.figures),
        "old_since": earners.old_since,
    }
    return render(request, "console/payments/ledger.html", context)


@members_only.reads
def ledger_csv(request: HttpRequest, name: str) -> HttpResponseBase:
    found = round_or_404(name)
    answer = StreamingHttpResponse(payments_as_csv(found), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="ledger-{found.name}.csv"'
    return answer


@researchers_only.fills
def round_top_up(request: StaffRequest, name: str) -> HttpResponse:
    """Show how much the reward falls short of the wage floor; once confirmed, owe the difference as a job."""
    found = round_or_404(name)
    try:
        short = shortfall_of(found)
    except CounterpartError as error:
        messages.error(request, str(error))
        return redirect("ledger", name)
    if request.method == "POST" and short.assignments:
        if request.POST.get("confirmed", str(short.total)) != str(short.total):
            messages.error(request, "The cost has changed since it was shown. Check it again.")
            return redirect("round_top_up", name)
        params = {"round": found.name, "agreed": str(short.total)}
        job = open_once(
            f"Pay {found} up to the wage floor", jobs.top_up.name, params, lock=found, same=["round"], by=request.user
        )
        return redirect("job", job.pk)
    return render(request, "console/payments/top_up.html", {"round": found, "short": short})


@researchers_only.acts
def round_ceiling(request: StaffRequest, name: str) -> HttpResponse:
    found = round_or_404(name)
    with refusals_as_messages(request):
        changed = set_ceiling(found, request.POST.get("ceiling", ""), actor=request.user.get_username())
        messages.success(request, f"The ceiling of round {found} is now ${changed.ceiling}.")
    return redirect("ledger", name)
