"""Models for programs: rankings in, scores out, on versions and on the named benchmarks."""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from pathlib import PurePath
from typing import Annotated, Any
from uuid import UUID

from django.http import Http404
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Schema
from pydantic import WithJsonSchema

from console.api.bearer import ApiRequest
from console.api.keysets import Place, part_of
from console.api.operations import Resources
from console.api.row_fields import Named, Username, address
from console.collections.sent_imports import check_suffix
from console.home.resources import JobAnswer
from console.leaderboard.benchmark_boards import measure_rankings, stored_boards
from console.leaderboard.round_boards import estimates_of_run
from console.uploads import start_with_sent, stored_upload
from core.errors import CounterpartError
from core.models import Job
from corpus.models import Collection
from counterpart_metrics import BENCHMARKS
from counterpart_metrics.policies import DEFAULT
from dataset.models import Version
from evaluation.jobs import start_registration, start_scoring_annotators, start_scoring_run
from evaluation.models import Run, Score
from evaluation.ranking_files import FORMS
from evaluation.scores.benchmark_scores import ORDER, check_benchmarks
from evaluation.scores.board_tables import said_by
from evaluation.scores.boards import Kind, Row
from evaluation.scores.leaderboard import board_of, board_of_run, caution_of
from evaluation.scores.runs import check_model
from mitl.models import Retrieval

resources = Resources("Models")
Rankings = Annotated[str, Field(description=f"id of an upload whose name ends in {', '.join(FORMS)}")]
Model = Annotated[str, Field(description="name of the model; empty: that of the file")]


class FigureLine(Schema):
    """A metric's mean over queries, from 0 to 1, with its interval, null where there is none.

    ``direction`` is `i2t` (images ask for captions), `t2i`, or the `average` of both. ``kind`` says whether it
    was counted, or estimated from a part of the judgments. ``estimand`` is the quantity that it is the mean of.
    ``question``: the interval is of `these` queries, of queries drawn `like` them, or `wide`: of these, with the first
    items of models outside the pool; ``level`` is its confidence.
    """

    direction: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    queries: int
    kind: Kind
    estimand: str
    question: str
    level: float
    best: bool
    not_significantly_worse: bool


class RowAnswer(Schema):
    """The figures of a model. ``run`` is null for rankings that are not registered."""

    model: str
    run: int | None
    figures: list[FigureLine]
    notes: list[str]


class Leaderboard(Schema):
    """Models on a version, the best average mAP@R first. ``caution`` says why the scores are biased, if they are.
    ``policies``: how ties, and ranks beyond the end of a list, are counted."""

    version: str
    caution: str
    policies: dict[str, str]
    rows: list[RowAnswer]


class RunLine(Schema):
    """One model's rankings of a collection: a file, or the lists of an annotator's search (`retrieval`)."""

    id: int
    url: Annotated[str, Field(validation_alias="pk"), address("run")]
    collection: Named
    model: str
    file_name: str
    sha256: str
    retrieval: Annotated[int | None, Field(validation_alias="retrieval_id")]
    suspicions: list[str]
    registered_by: Username | None
    created_at: datetime


class ScoresOnVersion(Schema):
    """The scores of a run on a version."""

    version: str
    caution: str
    figures: list[FigureLine]


class EstimatesOnRound(Schema):
    """What an audit says of a run: its scores if all pairs of the pool were judged."""

    round: str
    figures: list[FigureLine]


class RunAnswer(RunLine):
    """A run with its scores on each version, and what audits estimate of it."""

    policies: dict[str, str]
    scores: list[ScoresOnVersion]
    estimates: list[EstimatesOnRound]

    @staticmethod
    def resolve_policies(run: Run) -> dict[str, str]:
        return asdict(DEFAULT)

    @staticmethod
    def resolve_scores(run: Run) -> list[dict[str, Any]]:
        boards = [(version, board_of_run(run, version)) for version in run.collection.versions.all()]
        return [
            {"version": version.name, "caution": caution_of(version), "figures": _figures(board.rows)}
            for version, board in boards
            if board.rows
        ]

    @staticmethod
    def resolve_estimates(run: Run) -> list[dict[str, Any]]:
        return [
            {"round": round.name, "figures": [line for one in boards for line in _figures(one.board.rows)]}
            for round, boards in estimates_of_run(run)
        ]


class RunBody(Schema, extra="forbid"):
    """Rankings of a collection, to be registered as a run."""

    collection: str
    upload: Rankings
    model: Model = ""


class BenchmarkLine(Schema):
    """A named benchmark of COCO's test images. ``needs_categories``: with COCO's instances_val2014.json alone."""

    name: str
    metrics: list[str]
    needs_categories: bool


class Benchmarks(Schema):
    """The named benchmarks."""

    results: list[BenchmarkLine]


class MeasureBody(Schema, extra="forbid"):
    """Rankings with COCO's ids, as an upload or of an annotator's search, and the benchmarks to measure them on."""

    benchmarks: Annotated[
        list[str],
        WithJsonSchema({"type": "array", "items": {"type": "string", "enum": list(ORDER)}, "minItems": 1}),
    ]
    upload: Rankings = ""
    retrieval: int | None = None
    model: Model = ""
    categories: Annotated[str, Field(description="id of an upload, COCO's instances_val2014.json, for pmrp")] = ""


class Measured(Schema):
    """A model's figures on one named benchmark."""

    benchmark: str
    model: str
    figures: list[FigureLine]
    notes: list[str]


class BenchmarkAnswer(Schema):
    """The figures that a job has measured; empty before it is done."""

    job: JobAnswer
    results: list[Measured]


@resources.reads("/versions/{name}/leaderboard", "evaluation:read", Leaderboard)
def leaderboard(request: ApiRequest, name: str) -> dict[str, Any]:
    """Return the scores of all models on a version; of several runs of a model, those of the latest."""
    found = get_object_or_404(Version, name=name)
    rows = [
        {"model": row.model, "run": row.run and row.run.pk, "figures": _figures([row]), "notes": list(row.notes)}
        for row in board_of(found).rows
    ]
    return {"version": found.name, "caution": caution_of(found), "policies": asdict(DEFAULT), "rows": rows}


@resources.acts("/versions/{name}/scores", "evaluation:write", JobAnswer)
def score_annotators(request: ApiRequest, name: str) -> Job:
    """Score the annotators of a version's rounds on it."""
    found = get_object_or_404(Version.objects.select_related("collection"), name=name)
    return start_scoring_annotators(found, by=request.user)


@resources.lists("/runs", "evaluation:read", RunLine, "A part of the list of runs, the latest first.")
def runs(request: ApiRequest, place: Query[Place], collection: str = "", version: str = "") -> dict[str, Any]:
    """List the runs, the latest first; of one collection, or those that are scored on one version."""
    rows = Run.objects.select_related("collection", "registered_by")
    if collection:
        rows = rows.filter(collection__name=collection)
    if version:
        rows = rows.filter(pk__in=Score.objects.filter(version__name=version).values("run"))
    return part_of(rows, place, newest="created_at")


@resources.reads("/runs/{int:id}", "evaluation:read", RunAnswer, url_name="run")
def run(request: ApiRequest, id: int) -> Run:
    """Return the scores of a run on each version of its collection, and its estimates by audits."""
    return get_object_or_404(Run.objects.select_related("collection", "registered_by"), pk=id)


@resources.acts("/runs", "evaluation:write", JobAnswer)
def register_run(request: ApiRequest, body: RunBody) -> Job:
    """Register uploaded rankings, and score them on every version of the collection. The same rankings under the same
    name are one run."""
    collection = get_object_or_404(Collection, name=body.collection)
    check_suffix(body.upload, tuple(FORMS))
    stored = stored_upload(body.upload)
    name = body.upload.partition("-")[2]
    model = check_model(body.model or PurePath(name).stem)
    return start_registration(collection, stored, file_name=name, model=model, by=request.user)


@resources.acts("/runs/{int:id}/scores", "evaluation:write", JobAnswer)
def score_run(request: ApiRequest, id: int) -> Job:
    """Score a run on every version of its collection again."""
    return start_scoring_run(get_object_or_404(Run.objects.select_related("collection"), pk=id), by=request.user)


@resources.reads("/benchmarks", "evaluation:read", Benchmarks)
def benchmarks(request: ApiRequest) -> dict[str, Any]:
    """List the named benchmarks and their metrics."""
    lines = [{"name": one, "metrics": list(BENCHMARKS[one]), "needs_categories": one == "pmrp"} for one in ORDER]
    return {"results": lines}


@resources.acts("/benchmarks", "evaluation:write", JobAnswer)
def measure(request: ApiRequest, body: MeasureBody) -> Job:
    """Measure rankings on named benchmarks. Once the job is done, `/benchmarks/{id}` with its id has the figures."""
    names = list(dict.fromkeys(body.benchmarks))
    check_benchmarks(names, has_categories=bool(body.categories))
    if bool(body.upload) == (body.retrieval is not None):
        raise CounterpartError("Name either an upload of rankings or a retrieval.")
    check_suffix(body.upload, tuple(FORMS))
    check_suffix(body.categories, (".json",))
    params: dict[str, Any] = {"benchmarks": names, "model": body.model and check_model(body.model)}
    if body.retrieval is not None:
        params["retrieval"] = get_object_or_404(Retrieval, pk=body.retrieval).pk
    title = f"Measure on {', '.join(names)}"
    sent = {"rankings": body.upload, "categories": body.categories}
    return start_with_sent(title, measure_rankings.name, params, sent, by=request.user)


@resources.reads("/benchmarks/{uuid:id}", "evaluation:read", BenchmarkAnswer)
def benchmark(request: ApiRequest, id: UUID) -> dict[str, Any]:
    """Return the figures that a job has measured on named benchmarks."""
    found = Job.objects.filter(pk=id, task=measure_rankings.name).first()
    if found is None:
        raise Http404
    results = [
        {"benchmark": name, "model": row.model, "figures": _figures([row]), "notes": list(row.notes)}
        for name, board in stored_boards(found).items()
        for row in board.rows
    ]
    return {"job": found, "results": results}


def _figures(rows: Iterable[Row]) -> list[dict[str, Any]]:
    return [
        {"direction": column.part, "metric": column.metric, **said_by(cell)}
        for row in rows
        for column, cell in row.cells.items()
    ]
