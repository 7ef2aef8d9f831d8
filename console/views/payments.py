"""Paying the browser pool: whom a round owes how much, the list to pay from and back, and what a code stands for."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.codes import Proof, verify_code
from annotation.marking import as_text, mark_wages
from annotation.payroll import wages_of, write_wages
from console.access import StaffRequest, members_only, payers_only
from core.errors import CounterpartError
from core.events import record
from crowd import channels
from hits.models import Round


@payers_only
@require_http_methods(["GET", "HEAD", "POST"])
def payments(request: StaffRequest, name: str) -> HttpResponse:
    """Show who is owed how much; take back the list of those who were paid."""
    found = get_object_or_404(Round, name=name)
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
        "is_ours": not (found.channel and channels.get(found.channel).is_remote),
        "trouble": trouble,
    }
    return render(request, "console/payments.html", context, status=422 if trouble else 200)


@payers_only
@require_safe
def payments_csv(request: StaffRequest, name: str) -> HttpResponse:
    """Hand out the list to pay from; that platform ids left the house stands in the journal."""
    found = get_object_or_404(Round, name=name)
    response = HttpResponse(write_wages(found), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{found.name}-payments.csv"'
    response["Cache-Control"] = "private, no-store"
    record("payments listed", found, actor=request.user.get_username())
    return response


@members_only
@require_safe
def codes(request: HttpRequest) -> HttpResponse:
    """Tell what a worker's receipt or completion code stands for."""
    code = request.GET.get("code", "")
    proof: Proof | None = None
    trouble = ""
    try:
        proof = verify_code(code) if code.strip() else None
    except CounterpartError as error:
        trouble = str(error)
    return render(request, "console/codes.html", {"code": code, "proof": proof, "trouble": trouble})


def _mark(request: StaffRequest, round: Round) -> str:
    """Mark what the uploaded list names; returns what was done, in a sentence."""
    uploaded = request.FILES.get("list")
    if uploaded is None:
        raise CounterpartError("No file was chosen; choose the list that was downloaded here.")
    marked = mark_wages(round, as_text(uploaded.read()), actor=request.user.get_username())
    before = f" {marked.before:,} were marked before." if marked.before else ""
    return f"{marked.payments:,} payments, ${marked.amount:,} in all, are marked as paid.{before}"
