"""The fields that decide on the positives of a release: rounds, match sources with their conditions, and levels."""

from typing import Any

from django import forms

from console.fields import ParametersForm
from console.refusals import refusals_in
from corpus.matches import sources_of
from corpus.models import Collection, Match, Sample
from crowd.posting.publication import BEGUN
from dataset.releases.release_parameters import MergeParameters, ReleaseParameters
from dataset.versions.merging import MergeTerm, check_sources
from hits.models import Round
from hits.task_types import ON_PAIRS

ROWS = 8
"""The most sources that a page offers; the command takes any number."""
HELP = {
    "rounds": "Published rounds, whose votes are counted together. Without one, a version holds the sources alone.",
    "positive_levels": "The answers that make a pair a match.",
    "partial": "Answers that are missing or wait for a review are left out, and the manifest says so.",
    "mixed_tasks": "The manifest and the card say so.",
}
"""Help texts of a page, where those of the command explain how an option is typed."""
OPERATORS = {
    "": "all",
    ">=": "with at least the score",
    ">": "above the score",
    "<=": "with at most the score",
    "<": "below the score",
    "=": "with exactly the score",
}


class SourceForm(forms.Form):
    """A match source, and which of its pairs are merged."""

    source = forms.ChoiceField(required=False)
    operator = forms.ChoiceField(required=False, label="Pairs", choices=list(OPERATORS.items()))
    score = forms.FloatField(required=False, label="Score")

    def clean(self) -> dict[str, Any]:
        chosen: dict[str, Any] = self.cleaned_data
        conditioned = bool(chosen.get("operator"))
        if not chosen.get("source") and (conditioned or chosen.get("score") is not None):
            self.add_error("source", "Choose the source of these pairs.")
        elif conditioned and "score" in chosen and chosen["score"] is None:
            self.add_error("score", "Enter the score that decides.")
        elif not conditioned and chosen.get("score") is not None:
            self.add_error("operator", "Choose which side of the score is merged.")
        return chosen

    @property
    def term(self) -> MergeTerm | None:
        """The source as ``release --merge`` takes it; None if none is chosen."""
        source, operator, score = (self.cleaned_data.get(name) for name in ("source", "operator", "score"))
        return MergeTerm(source, operator or "", score) if source else None


class MergedForm(ParametersForm):
    """The contents of a release; ``sources`` are the forms of its match sources, in order, ``original`` the first."""

    act = ReleaseParameters

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields = self.offered()
        known = _known_sources()
        rows = range(1, min(len(known), ROWS) + 1)
        data = self.data if self.is_bound else None
        self.sources = [SourceForm(data, prefix=f"merge-{row}") for row in rows]
        for row, form in zip(rows, self.sources, strict=True):
            field = form.fields["source"]
            field.choices = [("", "none"), *known.items()]  # type: ignore[attr-defined]
            field.label = f"Source {row}"
            field.initial = Match.ORIGINAL if row == 1 else ""

    def offered(self) -> dict[str, forms.Field]:
        """Return the fields of a release, with the existing samples and rounds to choose from."""
        found = ReleaseParameters.form_fields()
        found["queries"] = forms.ModelChoiceField(
            Sample.objects.select_related("collection"), to_field_name="name", empty_label=None
        )
        found["rounds"] = forms.ModelMultipleChoiceField(
            Round.objects.filter(BEGUN, task__in=ON_PAIRS),
            to_field_name="name",
            required=False,
            widget=forms.CheckboxSelectMultiple,
        )
        for name, text in HELP.items():
            found[name].help_text = text
        first = ("version", "queries", *MergeParameters.form_fields())
        return {name: found[name] for name in (*first, *found) if name != "merge"}

    def clean(self) -> dict[str, Any]:
        chosen: dict[str, Any] = self.cleaned_data
        terms = dict[str, MergeTerm]()
        for form in self.sources:
            if form.is_valid() and (term := form.term):
                self._check(form, term, terms)
                terms[term.source] = term
            for errors in form.errors.values():
                self.add_error(None, f"{form.fields['source'].label}: {errors[0]}")
        chosen["merge"] = ",".join(map(str, terms.values()))
        return chosen

    def _check(self, form: SourceForm, term: MergeTerm, earlier: dict[str, MergeTerm]) -> None:
        if term.source in earlier:
            form.add_error("source", "This source is chosen above. Choose each once.")
        with refusals_in(form, "source"):
            if "queries" in self.cleaned_data:
                check_sources(self.cleaned_data["queries"].collection, [term])


def _known_sources() -> dict[str, str]:
    """Return the match sources as choices, ``original`` first; where there are several collections, their names too."""
    collections = list(Collection.objects.order_by("name"))
    owners = dict[str, list[str]]()
    for collection in collections:
        for source in sources_of(collection):
            owners.setdefault(source, []).append(collection.name)
    ordered = sorted(owners, key=lambda source: (source != Match.ORIGINAL, source))
    if len(collections) < 2:
        return {source: source for source in ordered}
    return {source: f"{source} ({', '.join(owners[source])})" for source in ordered}
