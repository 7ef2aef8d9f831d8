"""What staff fill in: a plan of a round, a decision, a release. A form types and checks its fields, and no more."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.db.models import Model, QuerySet

from annotation.admission import Admission
from annotation.models import QualificationTest, Rejection
from core.errors import CounterpartError, some_of
from corpus.models import Collection, Match, Sample
from dataset.models import Version
from hits.models import Round
from hits.parameters import RoundParameters
from hits.question import Level
from mitl.models import Annotator
from mitl.training.examples import Validation


class PlanForm(forms.Form):
    """The parameters of a round, with the existing collections, samples and annotators to choose from."""

    parameters: RoundParameters

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields = RoundParameters.form_fields()
        annotators = Annotator.objects.all()
        self._choose("collection", forms.ModelChoiceField(Collection.objects.all(), empty_label=None))
        self._choose("annotators", forms.ModelMultipleChoiceField(annotators, widget=forms.CheckboxSelectMultiple))
        self._choose(
            "queries", forms.ModelChoiceField(Sample.objects.all(), required=False, empty_label="draw a new sample")
        )
        self._choose("cascade", forms.ModelChoiceField(annotators, required=False, empty_label="none"))
        self.fields["images"].initial = self.fields["captions"].initial = 60

    def _choose(self, name: str, field: forms.ModelChoiceField) -> None:
        """Let people choose existing rows by name."""
        declared = self.fields[name]
        field.to_field_name, field.label, field.help_text = "name", declared.label, declared.help_text
        self.fields[name] = field

    def clean_round(self) -> str:
        name: str = self.cleaned_data["round"]
        if Round.objects.filter(name=name).exists():
            raise forms.ValidationError(f"Round {name} already exists. Choose another name.")
        return name

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            try:
                self.parameters = RoundParameters(**{name: _names(chosen) for name, chosen in cleaned.items()})
            except CounterpartError as error:
                self.add_error(None, str(error))
        return cleaned


def _names(chosen: Any) -> Any:
    """Return chosen rows by their names, and other values as they are."""
    if isinstance(chosen, QuerySet):
        return list(map(str, chosen))
    return str(chosen) if isinstance(chosen, Model) else chosen


class AdmissionForm(forms.Form):
    """Whom a round of the browser pool lets in, and how far."""

    capacity = forms.IntegerField(
        min_value=1, required=False, label="Workers who may join", help_text="Empty: any number."
    )
    per_worker = forms.IntegerField(
        min_value=1, required=False, label="HITs that one worker may take", help_text="Empty: any number."
    )
    test = forms.ModelChoiceField(
        QualificationTest.objects.all(),
        required=False,
        empty_label="none",
        label="Test before the first HIT",
        help_text="Tests are made with make_test.",
    )

    def admission(self) -> Admission:
        """Return what was chosen. Raises CounterpartError for numbers that are none."""
        if self.errors:
            named = [str(self.fields[name].label) for name in self.errors]
            raise CounterpartError(f"{some_of(named)}: choose again, or leave it empty.")
        return Admission(**self.cleaned_data)


class TrainForm(forms.Form):
    """What a machine learns from, and how; the losses are those that it knows."""

    collection = forms.ModelChoiceField(Collection.objects.all(), empty_label=None)
    matches = forms.CharField(initial=Match.ORIGINAL, max_length=80, label="Matches of the source")
    loss = forms.ChoiceField()
    validation = forms.ChoiceField(
        choices=[
            (Validation.SPLIT, "the split val, where there is one"),
            (Validation.HELD_OUT, "a tenth of the training images, by lot"),
            (Validation.NONE, "nothing: train to the last epoch"),
        ],
        label="The best epoch is chosen on",
    )
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, initial=0)

    def __init__(self, *args: Any, losses: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["loss"].choices = [(loss, loss) for loss in losses]  # type: ignore[attr-defined]
        self.fields["loss"].required = bool(losses)


def _yes_or_no(question: str, yes: str, no: str) -> forms.TypedChoiceField:
    """Two radio buttons, neither chosen for the person; cleaned to a bool."""
    return forms.TypedChoiceField(
        label=question,
        choices=[("yes", yes), ("no", no)],
        coerce=lambda value: value == "yes",
        widget=forms.RadioSelect,
    )


class DecisionForm(forms.Form):
    """Two separate answers, and the reason for them; not to pay needs grounds and evidence as well."""

    votes_count = _yes_or_no("Do the votes count?", "Count them", "Exclude them")
    paid = _yes_or_no("Is the work paid?", "Pay the worker", "Do not pay")
    reason = forms.CharField(
        max_length=1024, widget=forms.Textarea(attrs={"rows": 2}), help_text="The worker reads it where you do not pay."
    )
    grounds = forms.ChoiceField(
        choices=[("", "choose where you do not pay"), *Rejection.Grounds.choices],
        required=False,
        label="Grounds not to pay",
        help_text="A failed control alone is none.",
    )
    evidence = forms.CharField(
        max_length=10_000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What shows it, where you do not pay; for reviewers and objections.",
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("paid") is False:
            if cleaned.get("votes_count"):
                self.add_error("paid", "Work that counts is paid. Pay it, or exclude its votes.")
            for name in ("grounds", "evidence"):
                if not cleaned.get(name):
                    self.add_error(name, "This is needed not to pay.")
        return cleaned


class ReleaseForm(forms.Form):
    """What a version is made of: the queries, the rounds whose votes enter, the sources merged in."""

    name = forms.SlugField(label="Name of the version", max_length=80)
    sample = forms.ModelChoiceField(Sample.objects.select_related("collection"), empty_label=None, label="Queries")
    rounds = forms.ModelMultipleChoiceField(
        Round.objects.exclude(published_at=None), required=False, widget=forms.CheckboxSelectMultiple
    )
    merge = forms.CharField(
        initial="original", required=False, help_text="Match sources to join in, such as cxc>=3,original"
    )
    positive_levels = forms.TypedMultipleChoiceField(
        choices=Level.choices, coerce=int, initial=[1, 2], widget=forms.CheckboxSelectMultiple, label="Positive levels"
    )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Version.objects.filter(name=name).exists():
            raise forms.ValidationError(f"Version {name} is released and never changes. Choose another name.")
        return name

    def params(self) -> dict[str, Any]:
        """Return what the job needs, as JSON has it."""
        chosen = self.cleaned_data
        return {
            "version": chosen["name"],
            "sample": chosen["sample"].name,
            "rounds": [one.name for one in chosen["rounds"]],
            "merge": chosen["merge"],
            "positive_levels": chosen["positive_levels"],
        }
