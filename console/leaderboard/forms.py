"""The form of benchmarks, and the fields of rankings."""

from typing import Any

from django import forms
from django.db.models import Max, QuerySet

from console.fields import UploadField
from dataset.models import Version
from evaluation.ranking_files import FORMS
from evaluation.scores.benchmark_scores import ORDER
from evaluation.scores.evaluate_parameters import EvaluateParameters
from mitl.models import Retrieval

MEASURED = EvaluateParameters.form_fields()
RANKINGS = (
    "JSON, NumPy (.npz), Parquet, CSV, TSV, a TREC run (.run, .trec, .txt), or a folder of results as a zip file."
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
