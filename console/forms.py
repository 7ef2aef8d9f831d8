"""The forms of staff pages: planning, publishing, training, deciding and releasing. A form parses and checks
its fields, and no more."""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from django import forms
from django.db.models import Model, QuerySet

from annotation.admission import make_admission
from annotation.models import Admission, QualificationTest, Rejection
from annotation.wages import alike_rounds
from console.uploaded_embeddings import FORMS as EMBEDDING_FORMS
from core.errors import CounterpartError, some_of
from core.seeds import SeedField
from corpus.models import Collection, Match, Sample
from crowd.offers import LIMITS, LONGEST, Offer
from dataset.aggregation import METHODS, TIES
from dataset.exports.downloads import choices
from dataset.models import Version
from dataset.provenance import refuse_unfinished
from evaluation.ranking_files import FORMS
from evaluation.runs import MAX_MODEL, check_model
from hits.models import Round
from hits.question import Level
from hits.round_parameters import RoundParameters
from mitl.models import Annotator
from mitl.training.examples import Validation

LARGEST_UPLOAD = 4 * 1024**3  # bytes of a rankings file


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
        """Offer existing rows by name."""
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
    """Return the names of chosen rows, and other values unchanged."""
    if isinstance(chosen, QuerySet):
        return list(map(str, chosen))
    return str(chosen) if isinstance(chosen, Model) else chosen


class AdmissionForm(forms.Form):
    """Who may join a round in the browser, and how many HITs they may take."""

    capacity = forms.IntegerField(
        min_value=1, required=False, label="Maximum number of workers", help_text="Leave empty for no limit."
    )
    per_worker = forms.IntegerField(
        min_value=1, required=False, label="Maximum HITs per worker", help_text="Leave empty for no limit."
    )
    test = forms.ModelChoiceField(
        QualificationTest.objects.all(),
        required=False,
        empty_label="none",
        label="Test before the first HIT",
        help_text="Create tests with the make_test command.",
    )

    invited = forms.BooleanField(
        required=False,
        label="By invitation only",
        help_text="Without it everybody who has the join link may join. Invitations are made on the round's page.",
    )

    def admission(self) -> Admission:
        """Return the admission. Raises CounterpartError for invalid values."""
        if self.errors:
            named = [str(self.fields[name].label) for name in self.errors]
            raise CounterpartError(f"Invalid value for {some_of(named)}: choose another, or leave it empty.")
        return make_admission(**self.cleaned_data)


class TrainForm(forms.Form):
    """An annotator's training data and settings; ``losses`` are those that its kind supports."""

    collection = forms.ModelChoiceField(Collection.objects.all(), empty_label=None)
    matches = forms.CharField(initial=Match.ORIGINAL, max_length=80, label="Matches from source")
    loss = forms.ChoiceField()
    validation = forms.ChoiceField(
        choices=[
            (Validation.SPLIT, "the val split, if there is one"),
            (Validation.HELD_OUT, "a random tenth of the training images"),
            (Validation.NONE, "nothing: keep the last epoch"),
        ],
        label="Choose the best epoch on",
    )
    seed = SeedField(initial=0)

    def __init__(self, *args: Any, losses: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["loss"].choices = [(loss, loss) for loss in losses]  # type: ignore[attr-defined]
        self.fields["loss"].required = bool(losses)


def _yes_or_no(question: str, yes: str, no: str) -> forms.TypedChoiceField:
    """Two radio buttons without a default; cleaned to a bool."""
    return forms.TypedChoiceField(
        label=question,
        choices=[("yes", yes), ("no", no)],
        coerce=lambda value: value == "yes",
        widget=forms.RadioSelect,
    )


class DecisionForm(forms.Form):
    """Whether the votes count, whether the work is paid, and why; refusing payment also needs grounds and evidence."""

    votes_count = _yes_or_no("Do the votes count?", "Count them", "Exclude them")
    paid = _yes_or_no("Is the work paid?", "Pay the worker", "Do not pay")
    reason = forms.CharField(
        max_length=1024, widget=forms.Textarea(attrs={"rows": 2}), help_text="The worker sees it if you do not pay."
    )
    grounds = forms.ChoiceField(
        choices=[("", "choose if you do not pay"), *Rejection.Grounds.choices],
        required=False,
        label="Grounds for not paying",
        help_text="A failed control alone is not enough.",
    )
    evidence = forms.CharField(
        max_length=10_000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Required if you do not pay. Shown to reviewers, also when the worker appeals.",
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("paid") is False:
            if cleaned.get("votes_count"):
                self.add_error("paid", "Work that counts must be paid. Pay it, or exclude its votes.")
            for name in ("grounds", "evidence"):
                if not cleaned.get(name):
                    self.add_error(name, "Required if you do not pay.")
        return cleaned


class ExportForm(forms.Form):
    """A format of a version, with its labels if it takes any."""

    what = forms.ChoiceField(
        label="Format",
        choices=[
            (what, f"{name} ({labels} labels)" if labels else f"{name}") for what, (name, labels) in choices().items()
        ],
    )


class RankingsForm(forms.Form):
    """An uploaded file of rankings, and the name of its model."""

    file = forms.FileField(
        label="Rankings", max_length=255, help_text="JSON, NumPy (.npz), Parquet, or a TREC run (.run, .trec, .txt)."
    )
    model = forms.CharField(
        required=False, max_length=MAX_MODEL, label="Name of the model", help_text="By default that of the file."
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if Path(file.name).suffix.lower() not in FORMS:
            raise forms.ValidationError(f"Unknown form of rankings. Choose a file that ends in {', '.join(FORMS)}.")
        if file.size > LARGEST_UPLOAD:
            raise forms.ValidationError("The file is larger than 4 GB. Register it with the evaluate command.")
        return file

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "file" in cleaned:
            try:
                cleaned["model"] = check_model(cleaned.get("model") or Path(cleaned["file"].name).stem)
            except CounterpartError as error:
                self.add_error("model", str(error))
        return cleaned


class EmbeddingsForm(forms.Form):
    """An uploaded file of embeddings or lists, and the name of the annotator that it becomes."""

    name = forms.SlugField(label="Name of the annotator", max_length=80)
    file = forms.FileField(label="File", max_length=255, help_text="Embeddings (.npz) or ranked lists (.json).")

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Annotator.objects.filter(name=name).exists():
            raise forms.ValidationError(f"There is an annotator {name} already. Choose another name.")
        return name

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if Path(file.name).suffix.lower() not in EMBEDDING_FORMS:
            raise forms.ValidationError("Choose a file that ends in .npz or .json.")
        if file.size > LARGEST_UPLOAD:
            raise forms.ValidationError("The file is larger than 4 GB. Add it with the add_annotator command.")
        return file


class ReleaseForm(forms.Form):
    """The contents of a version: queries, rounds whose votes count, and sources to merge."""

    name = forms.SlugField(label="Version name", max_length=80)
    sample = forms.ModelChoiceField(Sample.objects.select_related("collection"), empty_label=None, label="Queries")
    rounds = forms.ModelMultipleChoiceField(
        Round.objects.exclude(published_at=None), required=False, widget=forms.CheckboxSelectMultiple
    )
    merge = forms.CharField(
        initial="original", required=False, help_text="Sources of known matches to merge, for example cxc>=3,original"
    )
    positive_levels = forms.TypedMultipleChoiceField(
        choices=Level.choices, coerce=int, initial=[1, 2], widget=forms.CheckboxSelectMultiple, label="Positive levels"
    )
    method = forms.ChoiceField(choices=[(name, name) for name in METHODS], initial="majority", label="Aggregation")
    ties = forms.ChoiceField(
        choices=[(name, name) for name in TIES],
        initial="median",
        label="Tied levels",
        help_text="Of tied levels the one nearest to the median answer, the lower (nearer to yes) or the higher one.",
    )
    precedence = forms.ChoiceField(
        choices=[("union", "keep the match"), ("judged", "drop the match")],
        initial="union",
        label="Where people say no and a merged source yes",
    )
    licence = forms.CharField(required=False, max_length=80, help_text="For example CC-BY-4.0")
    partial = forms.BooleanField(required=False, label="Release unfinished rounds, and record that in the manifest")

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Version.objects.filter(name=name).exists():
            raise forms.ValidationError(f"Version {name} already exists and cannot be changed. Choose another name.")
        return name

    def clean(self) -> dict[str, Any]:
        chosen: dict[str, Any] = self.cleaned_data
        if not chosen.get("partial"):
            try:
                refuse_unfinished(list(chosen.get("rounds", ())))
            except CounterpartError as error:
                self.add_error("rounds", str(error))
        return chosen

    def params(self) -> dict[str, Any]:
        """Return the job's parameters as JSON values."""
        chosen = self.cleaned_data
        same = ("merge", "positive_levels", "method", "ties", "precedence", "licence", "partial")
        return {
            "version": chosen["name"],
            "sample": chosen["sample"].name,
            "rounds": [one.name for one in chosen["rounds"]],
            "options": {name: chosen[name] for name in same},
        }


DEFAULT = Offer()


def _words(name: str, **more: Any) -> forms.CharField:
    return forms.CharField(initial=getattr(DEFAULT, name), max_length=LONGEST[name], **more)


def _number(name: str, label: str, help_text: str = "") -> forms.IntegerField:
    least, most = LIMITS[name]
    return forms.IntegerField(
        initial=getattr(DEFAULT, name), min_value=least, max_value=most, label=label, help_text=help_text
    )


class OfferForm(forms.Form):
    """An Offer, the expected time of a HIT, and whether to publish although pictures are missing."""

    title = _words("title")
    description = _words("description", widget=forms.Textarea(attrs={"rows": 2}))
    keywords = _words("keywords", help_text="Separated by commas.")
    minutes = _number("minutes", "Time limit for a HIT, in minutes", "Choose generously: HITs are returned after it.")
    lifetime_days = _number("lifetime_days", "Days until the postings expire")
    auto_approval_days = _number(
        "auto_approval_days", "Days until automatic approval", "The platform then approves and pays undecided work."
    )
    frame_height = _number("frame_height", "Frame height in pixels", "0 fits the frame to the platform's page.")
    countries = forms.CharField(
        required=False,
        max_length=200,
        label="Countries",
        help_text="For example US,CA,GB. Leave empty for any country.",
    )
    min_approved = _number("min_approved", "Minimum number of approved assignments", "Excludes new workers.")
    min_approval_rate = _number("min_approval_rate", "Minimum approval rate in percent", "0 for any.")
    top_workers = forms.BooleanField(required=False, label="Only the platform's top workers, for a higher fee")
    expected_minutes = forms.DecimalField(
        required=False,
        max_digits=6,
        decimal_places=2,
        label="Expected minutes per HIT",
        help_text="Your own estimate; it is recorded in the event log.",
    )
    pilot = forms.ModelChoiceField(
        Round.objects.none(),
        to_field_name="name",
        required=False,
        empty_label="the newest round with the same question",
    )
    skip_missing = forms.BooleanField(required=False, label="Publish although pictures are missing")

    def __init__(self, *args: Any, round: Round, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        alike = [other.pk for other in alike_rounds(round)]
        self.fields["pilot"].queryset = Round.objects.filter(pk__in=alike)  # type: ignore[attr-defined]

    def clean_countries(self) -> tuple[str, ...]:
        codes = self.cleaned_data["countries"].upper().split(",")
        return tuple(code.strip() for code in codes if code.strip())

    def offer(self) -> Offer:
        """Return the Offer. Raises CounterpartError for invalid values."""
        return Offer(**{one.name: self.cleaned_data[one.name] for one in fields(Offer)})

    def timing(self) -> dict[str, Any]:
        """Return the pilot and the expected minutes, as arguments of ``publish_round``."""
        return {"pilot": self.cleaned_data["pilot"], "expected_minutes": self.cleaned_data["expected_minutes"]}

    def params(self) -> dict[str, Any]:
        """Return the job's parameters, without the round and the environment, as JSON values."""
        minutes, pilot = self.cleaned_data["expected_minutes"], self.cleaned_data["pilot"]
        return {
            "offer": self.offer().as_json(),
            "expected_minutes": None if minutes is None else str(minutes),
            "pilot": pilot.name if pilot else None,
            "skip_missing": self.cleaned_data["skip_missing"],
        }
