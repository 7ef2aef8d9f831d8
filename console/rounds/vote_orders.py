"""Orders of further votes on doubtful pairs of a round: the page that takes one, and the votes that arrived."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from math import ceil
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count, QuerySet
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render

from annotation.money.ledger import balance_of
from annotation.work.judgments import votes_in
from console.events.event_sentences import who
from console.permissions import StaffRequest, researchers_only
from console.refusals import refusals_in
from console.rounds.schemas import round_or_404
from core.events import subject_of
from core.models import Event
from core.text import counted
from evaluation.asking.judging_again import judge_again
from evaluation.asking.planned_top_ups import add_planned, require_addable
from evaluation.asking.round_top_ups import JudgeAgain
from hits.models import HIT, Item, Round, Seat, TopUp


@dataclass(frozen=True)
class VoteOrder:
    """``votes`` further votes on some pairs; ``arrived`` of them count by now. ``wrong`` and ``left`` are the numbers
    of wrong verdicts expected before and after it; None if an earlier program took the order."""

    top_up: TopUp
    at: datetime
    by: str
    pairs: int
    votes: int
    arrived: int
    cost: Decimal
    wrong: float | None
    left: float | None


def orders_of(round: Round) -> list[VoteOrder]:
    """Return the orders, newest first.

    Orders and further votes on disputed pairs are top-ups alike; the event of an order has ``votes_each``. Earlier
    programs did not record that: their top-ups are orders if the round asks no further votes by itself.
    """
    top_ups = list(round.top_ups.for_disputes().order_by("-number"))
    if not top_ups:
        return []
    events = Event.objects.filter(subject=subject_of(round), verb="topped up")
    recorded: dict[int, dict[str, Any]] = {one.data["number"]: {**one.data, "by": one.actor} for one in events}
    orders = [one for one in top_ups if not round.top_up or "votes_each" in recorded.get(one.number, {})]
    pairs = _counts(Item.objects.filter(control=None, hit__top_up__in=orders), "hit__top_up")
    hits = _counts(HIT.objects.filter(top_up__in=orders), "top_up")
    seats = _counts(Seat.objects.filter(hit__top_up__in=orders), "hit__top_up")
    votes = votes_in(round).filter(assignment__hit__top_up__in=orders)
    arrived = _counts(votes, "assignment__hit__top_up")
    return [
        VoteOrder(
            top_up=one,
            at=one.created_at,
            by=who(recorded.get(one.number, {}).get("by", "")),
            pairs=pairs[one.pk],
            votes=pairs[one.pk] * seats[one.pk] // hits[one.pk],
            arrived=arrived.get(one.pk, 0),
            cost=seats[one.pk] * round.seat_cost,
            wrong=recorded.get(one.number, {}).get("expected_wrong"),
            left=recorded.get(one.number, {}).get("expected_wrong_after"),
        )
        for one in orders
    ]


def _counts(rows: QuerySet[Any], by: str) -> Mapping[int, int]:
    return dict(rows.order_by().values_list(by).annotate(n=Count("pk")))


class BudgetForm(forms.Form):
    """The budget of an order."""

    def __init__(self, data: QueryDict | None) -> None:
        super().__init__(data)
        self.fields = JudgeAgain.form_fields()


@researchers_only.fills
def round_again(request: StaffRequest, name: str) -> HttpResponse:
    """Show the verdicts that further votes for a budget are expected to correct; order them once the ``shown`` plan is
    confirmed. Only a POST packs HITs, which takes seconds."""
    round = round_or_404(name)
    form = BudgetForm(request.POST or request.GET or None)
    context: dict[str, object] = {"round": round, "form": form, "free": max(balance_of(round).free, 0)}
    if form.is_valid():
        budget = form.cleaned_data["again"]
        with refusals_in(form):
            if request.method == "POST":
                planned = JudgeAgain(again=budget).plan(round)
                n_votes = planned.pairs * planned.seats
                shown = f"{planned.plan.hash}-{planned.seats}"
                if request.POST.get("shown") == shown:
                    add_planned(planned, actor=request.user.get_username())
                    messages.success(request, f"{counted(n_votes, 'vote')} ordered for round {round}.")
                    return redirect("round", name)
                context |= {"planned": planned, "shown": shown, "n_votes": n_votes}
                context |= {"again": planned.again, "cost": planned.cost}
            else:
                require_addable(round)
                again = judge_again(round, budget)
                hits = ceil(len(again.pairs) / round.design["candidates"])
                context |= {"again": again, "cost": round.seat_cost * hits * again.votes}
    return render(request, "console/rounds/again.html", context, status=422 if form.errors else 200)
