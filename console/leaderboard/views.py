"""The leaderboard of a collection: models on a version, how their ranks and scores move, and registering rankings. And
the named benchmarks: measuring rankings or a search on them, and the figures."""

from collections.abc import Sequence
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from console.acts import Chosen, act
from console.charts.score_charts import score_chart
from console.leaderboard.benchmark_boards import measure_rankings, stored_boards
from console.leaderboard.round_boards import estimates_of_run
from console.pagination import page_of
from console.permissions import StaffRequest, members_only, researchers_only
from console.uploads import LARGEST_UPLOAD, start_with_uploads, store_upload
from console.versions.forms import BenchmarkForm, RankingsForm
from core.models import Job
from core.web.middleware import takes_uploads
from corpus.models import Collection
from counterpart_metrics import SCORED
from dataset.models import Version
from evaluation.auditing.estimate_boards import audits_of
from evaluation.jobs import start_registration, start_scoring_run
from evaluation.models import Run
from evaluation.scores.boards import notes_of
from evaluation.scores.leaderboard import board_of, board_of_run, caution_of
from evaluation.scores.moves import Figures, averages_of, history_of, ranks_of, values_of
from mitl.charts.drawing import Chart
from mitl.charts.lines import rank_chart

MEASURED_SHOWN = 20


@members_only.reads
def leaderboard(request: HttpRequest, name: str) -> HttpResponse:
    """Models on ``?version=`` (default: the newest with scores), and how their ranks and scores change between metrics
    and versions."""
    return _page(request, get_object_or_404(Collection, name=name), RankingsForm())


@members_only.reads
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


@takes_uploads(LARGEST_UPLOAD)
@researchers_only.acts
def run_register(request: StaffRequest, name: str) -> HttpResponse:
    """Store an uploaded file and start the job that reads it. The same rankings under the same name are one run."""
    collection = get_object_or_404(Collection, name=name)
    form = RankingsForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, collection, form)
    upload = form.cleaned_data["file"]
    model = form.cleaned_data["model"]
    stored = store_upload(upload, f"runs/{collection.name}")
    known = Run.objects.filter(collection=collection, model=model, sha256=stored.sha256).exclude(file="").first()
    if known:
        return redirect("run", known.pk)
    job = start_registration(collection, stored, file_name=upload.name, model=model, by=request.user)
    return redirect("job", job.pk)


def _run_or_404(run_id: int) -> Run:
    return get_object_or_404(Run.objects.select_related("collection", "retrieval", "registered_by"), pk=run_id)


@members_only.reads
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
    asks=lambda run: ["Its rankings are scored on every version of their collection, as a job."],
    offered=lambda run: run.has_lists,
    menu=Run,
)
def run_score(run: Run, chosen: Chosen, by: User) -> Job:
    return start_scoring_run(run, by=by)


@takes_uploads(2 * LARGEST_UPLOAD)
@researchers_only.fills
def benchmarks(request: StaffRequest) -> HttpResponse:
    """Upload rankings or choose a search, and the benchmarks; a job measures them."""
    form = BenchmarkForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        title = f"Measure on {', '.join(form.cleaned_data['benchmarks'])}"
        task = measure_rankings.name
        return redirect("job", start_with_uploads(title, task, form.params(), form.uploads(), by=request.user).pk)
    return render(request, "console/leaderboard/benchmarks.html", {"form": form}, status=422 if form.errors else 200)


@members_only.reads
def benchmark(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """Show the figures that a job has measured."""
    found = get_object_or_404(Job.objects.select_related("created_by"), pk=job_id, task=measure_rankings.name)
    boards = stored_boards(found)
    notes = next(iter(boards.values())).rows[0].notes if boards else []
    return render(request, "console/leaderboard/benchmark.html", {"job": found, "boards": boards, "notes": notes})


def _page(request: HttpRequest, collection: Collection, form: RankingsForm) -> HttpResponse:
    version = _shown(request, collection)
    metric = _metric(request, "metric", SCORED)
    board = board_of(version) if version else None
    figures = history_of(collection, metric)
    names = _versions_in(collection, figures)
    context: dict[str, object] = {
        "collection": collection,
        "versions": collection.versions.all(),
        "shown": version,
        "audits": audits_of(collection),
        "board": board,
        "scores": score_chart(board.metrics, averages_of(board)) if board and len(board.rows) > 1 else None,
        "notes": notes_of(board) if board else [],
        "caution": caution_of(version) if version else "",
        "metric": metric,
        "metrics": SCORED,
        "partly": [one for one in collection.versions.all() if one.name in names and caution_of(one)],
        "history": _history(names, figures) if names else None,
        "ranking": rank_chart(names, ranks_of(values_of(figures)), "") if len(names) > 1 else None,
        "runs": page_of(request, collection.runs.order_by("-created_at").select_related("registered_by")),
        "form": form,
    }
    return render(request, "console/leaderboard/leaderboard.html", context, status=422 if form.errors else 200)


def _shown(request: HttpRequest, collection: Collection) -> Version | None:
    """Return the version ``?version=``, else the newest with scores."""
    if wanted := request.GET.get("version"):
        return get_object_or_404(collection.versions, name=wanted)
    return collection.versions.filter(scores__isnull=False).distinct().first()


def _metric(request: HttpRequest, name: str, metrics: Sequence[str]) -> str:
    """Return the metric that a parameter of the address names, or the first."""
    metric = request.GET.get(name, metrics[0])
    if metric not in metrics:
        raise Http404(f"Unknown metric. Choose one of {', '.join(metrics)}.")
    return metric


def _versions_in(collection: Collection, figures: Figures) -> list[str]:
    """Return the names of the versions with values, by date."""
    scored = {version for one in figures.values() for version in one}
    names = collection.versions.order_by("released_at").values_list("name", flat=True)
    return [name for name in names if name in scored]


def _history(versions: Sequence[str], figures: Figures) -> Chart:
    """Draw the scores in a metric on each version, all on one scale, the best of the newest first (figure 5)."""
    newest = {model: one[versions[-1]].value for model, one in figures.items() if versions[-1] in one}
    order = sorted(figures, key=lambda model: (-newest.get(model, -1.0), model))
    return score_chart(versions, {model: figures[model] for model in order}, one_scale=True)
