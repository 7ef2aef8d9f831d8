"""Judging doubtful pairs of a round again: what a budget is expected to correct, and the order."""

from math import ceil

from django import forms
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render

from annotation.money.ledger import balance_of
from console.permissions import StaffRequest, researchers_only
from console.refusals import refusals_in
from core.text import counted
from evaluation.asking.judging_again import judge_again
from evaluation.asking.round_top_ups import TopUpParameters, add_planned, plan_top_up, require_addable
from hits.models import Round


class BudgetForm(forms.Form):
    """The budget of an order, as of ``TopUpParameters``."""

    def __init__(self, data: QueryDict | None) -> None:
        super().__init__(data)
        self.fields = {"again": TopUpParameters.form_fields()["again"]}
        self.fields["again"].required = True
        self.fields["again"].help_text = "Most that the further votes may cost, in US dollars, fees included"


@researchers_only.fills
def round_again(request: StaffRequest, name: str) -> HttpResponse:
    """Show for a budget, in the address or sent, what further votes are expected to correct; order them once the
    ``shown`` plan is confirmed. Only what is sent is packed, which takes seconds."""
    found = get_object_or_404(Round.objects.select_related("pool__collection", "pool__sample"), name=name)
    form = BudgetForm(request.POST or request.GET or None)
    context: dict[str, object] = {"round": found, "form": form, "free": max(balance_of(found).free, 0)}
    if form.is_valid():
        budget = form.cleaned_data["again"]
        with refusals_in(form):
            if request.method == "POST":
                planned = plan_top_up(found, TopUpParameters(again=budget))
                n_votes = planned.pairs * planned.seats
                shown = f"{planned.plan.hash}-{planned.seats}"
                if request.POST.get("shown") == shown:
                    add_planned(planned, actor=request.user.get_username())
                    messages.success(request, f"{counted(n_votes, 'vote')} ordered for round {found}.")
                    return redirect("round", name)
                context |= {"planned": planned, "shown": shown, "n_votes": n_votes}
                context |= {"again": planned.again, "cost": planned.cost}
            else:
                require_addable(found)
                again = judge_again(found, budget)
                hits = ceil(len(again.pairs) / found.design["candidates"])
                context |= {"again": again, "cost": found.seat_cost * hits * again.votes}
    return render(request, "console/rounds/again.html", context, status=422 if form.errors else 200)
