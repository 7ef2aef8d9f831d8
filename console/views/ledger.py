"""A round's ledger: accounts and payments, earnings by worker, worth of the time, top-ups, and the ceiling."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.ceilings import set_ceiling
from annotation.ledger import accounts_of, earners_of, payments_as_csv
from annotation.models import Payment
from annotation.topping_up import shortfall_of
from annotation.wages import fair_reward, timing_of
from console import tasks
from console.access import StaffRequest, members_only, researchers_only
from console.pages import page_of
from console.starting import start_once
from core.errors import CounterpartError
from hits.models import Round


@members_only
@require_safe
def ledger(request: HttpRequest, name: str) -> HttpResponse:
    found = _round_or_404(name)
    timing, payments = timing_of(found), Payment.objects.filter(round=found)
    context = {
        "round": found,
        "accounts": accounts_of(found),
        "earners": earners_of(found),
        "timing": timing,
        "fair": fair_reward(timing.active, found.wage_floor) if timing else None,
        "rows": page_of(request, payments.select_related("assignment__worker").order_by("-id")),
    }
    return render(request, "console/ledger.html", context)


@members_only
@require_safe
def ledger_csv(request: HttpRequest, name: str) -> HttpResponseBase:
    found = _round_or_404(name)
    answer = StreamingHttpResponse(payments_as_csv(found), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="ledger-{found.name}.csv"'
    return answer


@researchers_only
@require_http_methods(["GET", "HEAD", "POST"])
def round_top_up(request: StaffRequest, name: str) -> HttpResponse:
    """Say what the reward falls short of and what making up for it takes; owe it as a job once that is confirmed."""
    found = _round_or_404(name)
    try:
        short = shortfall_of(found)
    except CounterpartError as error:
        messages.error(request, str(error))
        return redirect("ledger", name)
    if request.method == "POST" and short.assignments:
        return redirect("job", start_once(f"Top up {found}", tasks.top_up.name, found, by=request.user).pk)
    return render(request, "console/top_up.html", {"round": found, "short": short})


@researchers_only
@require_POST
def round_ceiling(request: StaffRequest, name: str) -> HttpResponse:
    found = _round_or_404(name)
    try:
        changed = set_ceiling(found, request.POST.get("ceiling", ""), actor=request.user.get_username())
        messages.success(request, f"The ceiling of round {found} is ${changed.ceiling}.")
    except CounterpartError as error:
        messages.error(request, str(error))
    return redirect("ledger", name)


def _round_or_404(name: str) -> Round:
    return get_object_or_404(Round, name=name)
