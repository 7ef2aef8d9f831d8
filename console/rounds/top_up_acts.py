"""Acts that add HITs to a round, each with its pairs and its cost first: first items of registered models, more of an
audit, and further votes on doubtful pairs or on pairs drawn at random."""

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any, cast

from django import forms
from django.contrib.auth.models import User
from django.http import QueryDict

from annotation.money.ledger import balance_of
from console.acts import Chosen, Landing, Shown
from console.places import page_of
from console.rounds.figures import worth_of
from console.rounds.round_acts import is_judged, round_act
from console.templatetags.console import dollars
from core.text import counted
from evaluation.asking.judging_again import FurtherVotes, FurtherVotesAct, JudgeAgain, JudgeTwice
from evaluation.asking.planned_top_ups import PlannedTopUp, add_planned
from evaluation.asking.round_top_ups import AskLikely, AskModels, ContinueAudit, RejectUnlikely, chosen_act
from evaluation.scores.model_rankings import registered_runs
from hits.models import Round
from hits.rounds.top_ups import design_of
from hits.task_types import task_type_of


class TopUpForm(forms.Form):
    """The parameters of the acts that ask new pairs; the models to choose from are those registered for the pool."""

    def __init__(self, data: QueryDict | None, round: Round) -> None:
        super().__init__(data)
        declared = AskModels.form_fields()["models"]
        offered = [(name, name) for name in registered_runs(round.pool)]
        self.fields["models"] = forms.MultipleChoiceField(
            choices=offered,
            required=False,
            widget=forms.CheckboxSelectMultiple,
            label=declared.label,
            help_text=declared.help_text if offered else "No rankings are registered for the pool.",
        )
        if design_of(round).judge == "audit":
            for one in (ContinueAudit, AskLikely, RejectUnlikely):
                self.fields |= one.form_fields()
        for field in self.fields.values():
            field.required = False


def takes_hits(round: Round) -> bool:
    """Whether HITs can be added to the round."""
    task = task_type_of(round)
    return round.state != "closed" and task.on_pairs and task.group == 1


def _shown_top_up(round: Round, chosen: Chosen) -> Shown:
    planned = chosen_act(chosen).plan(round)
    n_hits = counted(planned.plan.n_hits, "HIT")
    facts = [("For", f"{planned.top_up.purpose}{planned.note}"), *_costs(round, planned)]
    return Shown(planned.plan.hash, f"Add {n_hits} for {dollars(planned.cost)}", planned, {"facts": facts})


def _costs(round: Round, planned: PlannedTopUp) -> list[tuple[str, str]]:
    seats = f", {planned.seats} seats each" if planned.seats > 1 else ""
    fees = ", platform fees come on top" if round.state == "draft" else ""
    left = f"{dollars(planned.cost)}{fees}; the round has {dollars(max(balance_of(round).free, Decimal(0)))} left"
    return [("Pairs", f"{planned.pairs:,}"), ("HITs", f"{planned.plan.n_hits:,}{seats}"), ("Cost", left)]


@round_act(
    "add",
    "Add HITs to {}",
    label="Add HITs",
    button="Show the cost",
    form=TopUpForm,
    shows=_shown_top_up,
    offered=takes_hits,
    template="console/rounds/top_up.html",
)
def round_add(round: Round, chosen: Chosen, by: User) -> Landing:
    """A model is scored too low if its own first items were not judged: items that no annotator of the pool found count
    as no match. Registered models can be asked about those that the design of the round judges. An audit can judge more
    queries, or likely matches of the others, which finds most matches for a part of the money."""
    planned = chosen["plan"]
    add_planned(planned, actor=by.get_username())
    return Landing(f"{counted(planned.plan.n_hits, 'HIT')} added to round {round}.", page_of(round))


def _form_of(parameters: type[FurtherVotesAct]) -> Callable[[QueryDict | None, Round], forms.Form]:
    def form(data: QueryDict | None, round: Round) -> forms.Form:
        made = forms.Form(data)
        made.fields = parameters.form_fields()
        for field in made.fields.values():
            field.help_text = ""
        if "again" in made.fields:
            made.fields["again"].label = "Budget in US dollars, fees included"
        if "twice" in made.fields and (aggregation := round.aggregations.first()):
            made.fields["twice"].initial = worth_of(aggregation)["twice"] or None
        return made

    return form


def _shown_votes(round: Round, chosen: Chosen) -> Shown:
    planned = cast("FurtherVotes", chosen_act(chosen).plan(round))
    again = planned.again
    facts: list[tuple[str, Any]] = []
    if again.left:
        facts.append(("Wrong verdicts", f"about {again.wrong}, about {again.left} after"))
    elif again.certainty.get("silent"):
        facts.append(("Wrong verdicts", again.certainty["silent"]))
    if again.drawn:
        facts.append(("Drawn at random", f"{len(again.drawn):,} of the pairs"))
    n_votes = counted(planned.pairs * planned.seats, "vote")
    button = f"Order {n_votes} for {dollars(planned.cost)}"
    return Shown(f"{planned.plan.hash}-{planned.seats}", button, planned, {"facts": [*facts, *_costs(round, planned)]})


votes_act = partial(
    round_act,
    button="Show the order",
    shows=_shown_votes,
    offered=lambda round: takes_hits(round) and is_judged(round),
    template="console/rounds/top_up.html",
)


def _order(round: Round, chosen: Chosen, by: User) -> Landing:
    planned = chosen["plan"]
    add_planned(planned, actor=by.get_username())
    n_votes = counted(planned.pairs * planned.seats, "vote")
    return Landing(f"{n_votes} ordered for round {round}. Count its votes again once they are in.", page_of(round))


@votes_act("again", "Judge pairs of {} again", label="Judge again", form=_form_of(JudgeAgain))
def round_again(round: Round, chosen: Chosen, by: User) -> Landing:
    """Doubtful pairs get further votes, from workers who have not judged them, in HITs with controls of their own:
    those whose verdicts the votes are expected to correct for the budget."""
    return _order(round, chosen, by)


@votes_act("twice", "Judge a sample of {} twice", label="Judge a sample twice", form=_form_of(JudgeTwice))
def round_twice(round: Round, chosen: Chosen, by: User) -> Landing:
    """Pairs with one vote, drawn at random, get a second vote from other workers: they measure how sure the verdicts of
    one vote are."""
    return _order(round, chosen, by)
