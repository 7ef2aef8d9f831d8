"""The leaderboard of a collection: models on a version, how their ranks and scores move, and registering rankings. And
the named benchmarks: measuring rankings or a search on them, and the figures."""

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import Any
from uuid import UUID

from django import forms
from django.contrib.auth.models import User
from django.db.models import Count, Max, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from console.acts import Chosen, Landing, act
from console.collections.views import collection_act, collection_or_404
from console.fields import UploadField, asking
from console.leaderboard.benchmark_boards import measure_rankings, stored_boards
from console.leaderboard.round_boards import estimates_of_run
from console.pagination import page_of
from console.permissions import StaffRequest, members_only, researchers_only
from console.uploads import LARGEST_UPLOAD, start_with_uploads, store_upload
from core.models import Job
from core.web.middleware import takes_uploads
from corpus.models import Collection
from counterpart_metrics import SCORED
from dataset.models import Version
from evaluation.auditing.estimate_boards import audits_of
from evaluation.jobs import start_registration, start_scoring_run
from evaluation.models import Run
from evaluation.ranking_files import FORMS
from evaluation.scores.benchmark_scores import ORDER
from evaluation.scores.boards import interval_text, notes_of
from evaluation.scores.evaluate_parameters import EvaluateParameters
from evaluation.scores.leaderboard import board_of, board_of_run, caution_of
from evaluation.scores.moves import Figures, averages_of, history_of, ranks_of, values_of
from evaluation.scores.runs import check_model
from mitl.charts.bars import interval_chart
from mitl.charts.drawing import Chart
from mitl.charts.lines import rank_chart
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


MEASURED_SHOWN = 20


@members_only.reads("collections/<slug:name>/leaderboard/")
def leaderboard(request: HttpRequest, name: str) -> HttpResponse:
    """Models on ``?version=`` (default: the newest with scores), and how their ranks and scores change between metrics
    and, in ``?metric=``, between versions."""
    collection = collection_or_404(name)
    versions = collection.versions.all()
    wanted = request.GET.get("version")
    newest = versions.filter(scores__isnull=False).distinct().first()
    shown = get_object_or_404(versions, name=wanted) if wanted else newest
    metric = request.GET.get("metric", SCORED[0])
    if metric not in SCORED:
        raise Http404(f"Unknown metric. Choose one of {', '.join(SCORED)}.")
    board = board_of(shown) if shown else None
    figures = history_of(collection, metric)
    measured = {version for of_model in figures.values() for version in of_model}
    scored = versions.filter(name__in=measured).order_by("released_at")
    names = [one.name for one in scored]
    context: dict[str, object] = {
        "collection": collection,
        "versions": versions,
        "shown": shown,
        "audits": audits_of(collection),
        "board": board,
        "scores": _scores(board.metrics, averages_of(board)) if board and len(board.rows) > 1 else None,
        "notes": notes_of(board) if board else [],
        "caution": caution_of(shown) if shown else "",
        "metric": metric,
        "metrics": SCORED,
        "partly": [one for one in scored if caution_of(one)],
        "history": _history(names, figures) if names else None,
        "ranking": rank_chart(names, ranks_of(values_of(figures)), "") if len(names) > 1 else None,
        "runs": page_of(request, collection.runs.order_by("-created_at").select_related("registered_by")),
    }
    return render(request, "console/leaderboard/leaderboard.html", context)


def _history(versions: Sequence[str], figures: Figures) -> Chart:
    """Draw the scores in a metric on each version, all on one scale, the best of the newest first (figure 5)."""
    newest = {model: one[versions[-1]].value for model, one in figures.items() if versions[-1] in one}
    order = sorted(figures, key=lambda model: (-newest.get(model, -1.0), model))
    return _scores(versions, {model: figures[model] for model in order}, one_scale=True)


def _scores(columns: Sequence[str], figures: Figures, *, one_scale: bool = False) -> Chart:
    """Draw a panel a metric or a version, with the models in the order of ``figures`` behind their ranks, in
    percent."""
    ranks = ranks_of(values_of(figures))
    panels = {
        column: [
            {
                "name": f"{ranks[model][column]}  {model}",
                "value": 100 * one[column].value,
                "low": 100 * one[column].low,
                "high": 100 * one[column].high,
                "figure": " ".join(filter(None, [f"{100 * one[column].value:.1f}", interval_text(one[column])])),
            }
            for model, one in figures.items()
            if column in one and not isnan(one[column].value)
        ]
        for column in columns
    }
    return interval_chart("Scores", "", panels, "percent", one_scale=one_scale)


@members_only.reads("results/")
def results_list(request: HttpRequest) -> HttpResponse:
    """All that has a figure: released versions, the leaderboards of collections, and measured benchmarks."""
    versions = Version.objects.select_related("collection", "released_by", "publication")
    boards = Collection.objects.annotate(n_models=Count("runs__model", distinct=True)).filter(n_models__gt=0)
    context = {
        "rows": page_of(request, versions),
        "things": "versions",
        "boards": boards.order_by("name"),
        "benchmarks": Job.objects.filter(task=measure_rankings.name, state=Job.State.DONE)[:MEASURED_SHOWN],
    }
    return render(request, "console/leaderboard/results_list.html", context)


@collection_act(
    "leaderboard/register",
    "Register rankings of {}",
    label="Register rankings",
    form=asking(file=UploadField(suffixes=tuple(FORMS), label="Rankings", help_text=RANKINGS), model=MEASURED["model"]),
    uploads=LARGEST_UPLOAD,
)
def run_register(collection: Collection, chosen: Chosen, by: User) -> Landing | Job:
    """Ids are those of the collection. A job reads the file and scores it on every version; an invalid file is not
    kept."""
    upload = chosen["file"]
    model = check_model(chosen["model"] or Path(upload.name).stem)
    stored = store_upload(upload, f"runs/{collection}")
    # The same rankings under the same name are one run.
    known = collection.runs.filter(model=model, sha256=stored.sha256).exclude(file="").first()
    if known:
        return Landing("These rankings are registered already.", reverse("run", args=[known.pk]))
    return start_registration(collection, stored, file_name=upload.name, model=model, by=by)


def _run_or_404(run_id: int) -> Run:
    return get_object_or_404(Run.objects.select_related("collection", "retrieval", "registered_by"), pk=run_id)


@members_only.reads("runs/<int:run_id>/")
def run(request: HttpRequest, run_id: int) -> HttpResponse:
    """One run: its marks, and its figures on every version in both directions."""
    found = _run_or_404(run_id)
    boards = [
        (version, board_of_run(found, version), caution_of(version)) for version in found.collection.versions.all()
    ]
    context = {
        "run": found,
        "boards": [one for one in boards if one[1].rows],
        "unscored": [version for version, board, _ in boards if not board.rows],
        "estimates": estimates_of_run(found),
    }
    return render(request, "console/leaderboard/run.html", context)


@act(
    "runs/<int:run_id>/score/",
    _run_or_404,
    researchers_only,
    label="Score again",
    question="Score {} again?",
    offered=lambda run: run.has_lists,
    menu=Run,
)
def run_score(run: Run, chosen: Chosen, by: User) -> Job:
    """Its rankings are scored on every version of their collection, as a job."""
    return start_scoring_run(run, by=by)


@takes_uploads(2 * LARGEST_UPLOAD)
@researchers_only.fills("benchmarks/")
def benchmarks(request: StaffRequest) -> HttpResponse:
    """Upload rankings or choose a search, and the benchmarks; a job measures them."""
    form = BenchmarkForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data
        searched = chosen["retrieval"]
        params = {"retrieval": searched.pk} if searched else {}
        params |= {name: chosen[name] for name in ("benchmarks", "model")}
        files = {name: chosen[name] for name in ("rankings", "categories")}
        title = f"Measure on {', '.join(chosen['benchmarks'])}"
        return redirect("job", start_with_uploads(title, measure_rankings.name, params, files, by=request.user).pk)
    return render(request, "console/leaderboard/benchmarks.html", {"form": form}, status=422 if form.errors else 200)


@members_only.reads("benchmarks/<uuid:job_id>/")
def benchmark(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """Show the figures that a job has measured."""
    found = get_object_or_404(Job.objects.select_related("created_by"), pk=job_id, task=measure_rankings.name)
    boards = stored_boards(found)
    notes = next(iter(boards.values())).rows[0].notes if boards else []
    return render(request, "console/leaderboard/benchmark.html", {"job": found, "boards": boards, "notes": notes})
