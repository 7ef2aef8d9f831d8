"""The next turn of a released round: which annotators propose pairs beyond its version. A job then plans it."""

from django import forms
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render

from console.fields import ParametersForm, choose
from console.jobs import follow
from console.permissions import StaffRequest, researchers_only
from console.refusals import refuse
from core.errors import CounterpartError
from dataset.jobs import start_turn
from dataset.turns import TurnParameters, next_name, version_of
from hits.models import Round
from mitl.models import Annotator


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
