"""More work after a round: HITs added for the first items of registered models or to continue an audit, with the cost
first; and the next turn, planned by a job, for which annotators propose pairs beyond the round's version."""

from django import forms
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render

from console.fields import ParametersForm, choose
from console.permissions import StaffRequest, researchers_only
from console.places import follow
from console.refusals import refusals_in, refuse
from console.rounds.schemas import round_or_404
from core.errors import CounterpartError
from core.text import counted
from dataset.jobs import start_turn
from dataset.turns import TurnParameters, next_name, version_of
from evaluation.asking.planned_top_ups import add_planned
from evaluation.asking.round_top_ups import AskLikely, AskModels, ContinueAudit, RejectUnlikely, chosen_act
from evaluation.scores.model_rankings import registered_runs
from hits.models import Round
from hits.rounds.top_ups import design_of
from mitl.models import Annotator


class TopUpForm(forms.Form):
    """The parameters of the acts that ask new pairs; the models to choose from are those registered for the pool."""

    def __init__(self, data: QueryDict | None, *, round: Round) -> None:
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
            for act in (ContinueAudit, AskLikely, RejectUnlikely):
                self.fields |= act.form_fields()
        for field in self.fields.values():
            field.required = False


@researchers_only.fills
def round_add(request: StaffRequest, name: str) -> HttpResponse:
    """Show the pairs and the cost of a top-up; add it once the ``shown`` plan is confirmed."""
    round = round_or_404(name)
    form = TopUpForm(request.POST or None, round=round)
    context: dict[str, object] = {"round": round, "form": form, "design": design_of(round)}
    if form.is_valid():
        with refusals_in(form):
            planned = chosen_act(form.cleaned_data).plan(round)
            if request.POST.get("shown") == planned.plan.hash:
                add_planned(planned, actor=request.user.get_username())
                messages.success(request, f"{counted(planned.plan.n_hits, 'HIT')} added to round {round}.")
                return redirect("round", name)
            context["planned"] = planned
    return render(request, "console/rounds/add.html", context, status=422 if form.errors else 200)


class TurnForm(ParametersForm):
    """The parameters of a turn, with the versions of the round and all annotators to choose from."""

    act = TurnParameters

    def __init__(self, data: QueryDict | None, *, round: Round) -> None:
        super().__init__(data, initial={"name": next_name(round)})
        versions = round.versions.order_by("-released_at", "-pk")
        newest = forms.ModelChoiceField(versions, required=False, empty_label=f"The newest: {versions.first()}")
        choose(self, "beyond", newest)
        annotators = forms.ModelMultipleChoiceField(
            Annotator.objects.all(), required=False, widget=forms.CheckboxSelectMultiple
        )
        choose(self, "annotators", annotators)


@researchers_only.fills
def round_turn(request: StaffRequest, name: str) -> HttpResponse:
    """Show the form of the next turn; a job then trains annotators, searches, pools and packs."""
    round = get_object_or_404(Round.objects.select_related("pool__sample"), name=name)
    form = TurnForm(request.POST or None, round=round)
    context: dict[str, object] = {"round": round, "form": form}
    try:
        context["version"] = version_of(round)
        if form.is_valid():
            return follow(start_turn(TurnParameters(round=name, **form.chosen()), by=request.user))
    except CounterpartError as error:
        if not form.is_bound:
            context["trouble"] = str(error)
        else:
            refuse(form, error)
    return render(request, "console/rounds/turn.html", context, status=422 if form.errors else 200)
