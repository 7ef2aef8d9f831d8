"""The forms that plan a round, or pack one from a pool."""

from typing import Any, cast

from django import forms
from django.db.models import Model, QuerySet

from annotation.judging.wage_terms import fair_reward_suggested
from console.fields import UploadField, choose, refuse
from core.errors import CounterpartError
from core.text import NameField
from corpus.models import Collection, Sample
from hits.models import Round
from hits.round_parameters import PackParameters, RoundParameters, unused_by
from hits.task_types import LEVELS, TASK_TYPES
from mitl.annotators import is_untrained
from mitl.models import Annotator

QUERIES = 60  # of each kind, that the plan of a round suggests


class PackForm(forms.Form):
    """How a pool is packed into a round, what workers are paid, and what the round may cost."""

    parameters: PackParameters
    round = NameField(label="Name", help_text="Name of the new round")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= PackParameters.form_fields()
        self.fields["reward"].initial = fair_reward_suggested(self.initial)
        self.unused = leave_out_unused(self)

    def clean_round(self) -> str:
        return _unused(self.cleaned_data["round"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            try:
                wanted = {name: value for name, value in cleaned.items() if name != "round"}
                self.parameters = PackParameters(**wanted)
            except CounterpartError as error:
                refuse(self, error)
        return cleaned


def leave_out_unused(form: forms.Form) -> set[str]:
    """Return the parameters that the chosen type of task has no use for, and take their fields out of the form, but
    for those that were sent nevertheless: they are refused."""
    unused = unused_by(TASK_TYPES.get(form["task"].value(), LEVELS))
    form.fields = {name: field for name, field in form.fields.items() if name not in unused or name in form.data}
    return unused


class JudgmentsForm(forms.Form):
    """A file of judgments that were given elsewhere."""

    file = UploadField(suffixes=(".csv", ".gz"), label="Judgments")
    from_round = NameField(
        required=False,
        label="Name of the round in the file",
        help_text="If the file has several rounds, and this one has another name there.",
    )


class AnnotatorsField(forms.ModelMultipleChoiceField):
    """Annotators to choose from; those that have to be trained first are marked."""

    def label_from_instance(self, annotator: Model) -> str:
        return f"{annotator} (not trained yet)" if is_untrained(cast(Annotator, annotator)) else str(annotator)


class PlanForm(forms.Form):
    """The parameters of a round, with the existing collections, samples and annotators to choose from."""

    parameters: RoundParameters

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields = RoundParameters.form_fields()
        annotators = Annotator.objects.all()
        choose(self, "collection", forms.ModelChoiceField(Collection.objects.all(), empty_label=None))
        choose(self, "annotators", AnnotatorsField(annotators, widget=forms.CheckboxSelectMultiple))
        choose(
            self,
            "queries",
            forms.ModelChoiceField(Sample.objects.all(), required=False, empty_label="draw a new sample"),
        )
        choose(self, "cascade", forms.ModelChoiceField(annotators, required=False, empty_label="none"))
        self._suggest_sizes()
        self.fields["reward"].initial = fair_reward_suggested(self.initial)
        self.unused = leave_out_unused(self)

    def _suggest_sizes(self) -> None:
        """Suggest as many queries as the gallery has, at most 60 images and 60 captions."""
        named = self.initial.get("collection")
        collections = Collection.objects.filter(name=named) if named else Collection.objects.all()
        if collection := collections.first():
            self.fields["images"].initial = min(QUERIES, collection.images.gallery().captioned().count())
            self.fields["captions"].initial = min(QUERIES, collection.captions.gallery().count())

    def clean_round(self) -> str:
        return _unused(self.cleaned_data["round"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            try:
                self.parameters = RoundParameters(**{name: _names(chosen) for name, chosen in cleaned.items()})
            except CounterpartError as error:
                refuse(self, error)
        return cleaned


def _unused(name: str) -> str:
    if Round.objects.filter(name=name).exists():
        raise forms.ValidationError(f"Round {name} already exists. Choose another name.")
    return name


def _names(chosen: Any) -> Any:
    """Return the names of chosen rows, and other values unchanged."""
    if isinstance(chosen, QuerySet):
        return list(map(str, chosen))
    return str(chosen) if isinstance(chosen, Model) else chosen
