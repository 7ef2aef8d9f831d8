"""The forms of versions: export, publishing, and rankings to score."""

from pathlib import Path
from typing import Any

from django import forms
from django.db.models import Max, QuerySet

from console.fields import UploadField
from console.refusals import refusals_in
from console.uploads import LARGEST_UPLOAD
from dataset.exports.downloads import choices
from dataset.models import Version
from evaluation.ranking_files import FORMS
from evaluation.scores.benchmark_scores import ORDER
from evaluation.scores.evaluate_parameters import EvaluateParameters
from evaluation.scores.runs import check_model
from mitl.models import Retrieval

MEASURED = EvaluateParameters.form_fields()
RANKINGS = (
    "JSON, NumPy (.npz), Parquet, CSV, TSV, a TREC run (.run, .trec, .txt), or a folder of results as a zip file."
)


class ExportForm(forms.Form):
    """A format of a version, with its labels if it takes any."""

    what = forms.ChoiceField(
        label="Format",
        choices=[
            (what, f"{one.format} ({one.labels} labels)" if one.labels else what.replace("_", " with "))
            for what, one in choices().items()
        ],
    )


class PublishForm(forms.Form):
    """What the public page of a version shows and offers."""

    picture_terms = forms.CharField(
        max_length=300,
        required=False,
        label="Licence or terms of the pictures",
        help_text="Shown under the pictures. Leave it empty to publish the page without pictures.",
    )
    offers_files = forms.BooleanField(
        required=False,
        label="Offer the files for download",
        help_text="The matches, the judged pairs and the gallery; never the judgments of single workers.",
    )


def _benchmarks() -> list[tuple[str, str]]:
    versions = Version.objects.exclude(name__in=ORDER).select_related("collection")
    return [*((name, name) for name in ORDER), *((one.name, f"{one} of {one.collection}") for one in versions)]


def _newest_searches() -> QuerySet[Retrieval]:
    """Return the newest search of each annotator in each collection."""
    newest = Retrieval.objects.values("annotator", "collection").annotate(newest=Max("pk")).values("newest")
    return Retrieval.objects.filter(pk__in=newest).select_related("annotator", "collection").order_by("-pk")


class BenchmarkForm(forms.Form):
    """Rankings to measure, uploaded or of a search, and the benchmarks."""

    benchmarks = forms.MultipleChoiceField(
        choices=_benchmarks,
        initial=[name for name in ORDER if name != "pmrp"],
        widget=forms.CheckboxSelectMultiple,
        help_text="Ids are those of COCO’s test images and captions; of a version, those of its collection, whose "
        "leaderboard gets the figures too.",
    )
    rankings = UploadField(suffixes=tuple(FORMS), required=False, help_text=RANKINGS)
    retrieval = forms.ModelChoiceField(
        _newest_searches(),
        required=False,
        label="or an annotator’s search",
        empty_label="none",
        help_text="Of a collection with COCO’s ids. Entries beyond the end of its lists count as wrong.",
    )
    model = MEASURED["model"]
    categories = UploadField(
        suffixes=(".json",),
        required=False,
        label=MEASURED["categories"].label,
        help_text=MEASURED["categories"].help_text,
    )

    def clean(self) -> dict[str, Any]:
        chosen = super().clean() or {}
        if bool(chosen.get("rankings")) == bool(chosen.get("retrieval")) and "rankings" not in self.errors:
            self.add_error("rankings", "Either upload a file of rankings or choose a search.")
        if "pmrp" in chosen.get("benchmarks", []) and not chosen.get("categories"):
            self.add_error("categories", "pmrp needs the categories of the images.")
        return chosen

    def params(self) -> dict[str, Any]:
        """Return the job's parameters, without the files."""
        searched = self.cleaned_data["retrieval"]
        kept = {name: self.cleaned_data[name] for name in ("benchmarks", "model")}
        return kept | ({"retrieval": searched.pk} if searched else {})

    def uploads(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in ("rankings", "categories")}


class RankingsForm(forms.Form):
    """An uploaded file of rankings, and the name of its model."""

    file = forms.FileField(label="Rankings", max_length=255, help_text=RANKINGS)
    model = MEASURED["model"]

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
            with refusals_in(self, "model"):
                cleaned["model"] = check_model(cleaned.get("model") or Path(cleaned["file"].name).stem)
        return cleaned
