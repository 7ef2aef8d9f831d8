"""The link from a job to the row that it made or changed, and how long such a job takes."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from itertools import count
from statistics import median
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db.models import F, Model
from django.urls import reverse

from console.charts.chart_jobs import chart
from console.charts.views import PLACES
from console.jobs import trust
from console.leaderboard.benchmark_boards import measure_rankings
from console.places import page_of
from console.upload_jobs import add_annotator, import_collection, look_at_import
from core.models import Job
from corpus.models import Collection
from crowd.jobs import audit, repair
from dataset.jobs import clean_up, export
from dataset.models import Version
from evaluation.jobs import register, verify
from evaluation.models import Run
from hits.jobs import pack
from hits.models import Round
from hits.rounds.pipeline import TASK as PLANNING
from hits.rounds.round_parameters import RoundParameters
from mitl import jobs
from mitl.models import Annotator, Pool


class JobLink(NamedTuple):
    """A link from a job to what it is about."""

    label: str
    url: str


LOADING = "demo.tasks.load"  # of an app above this one
SEARCHING = {LOADING, PLANNING, jobs.retrieve.name, jobs.pool.name}
PACKED = ("task", "replication", "top_up", "reasons", "reward", "ceiling")
REMEMBERED = 5  # jobs of the same task

Leading = Callable[[Job], JobLink | None]


def outcome_of(job: Job) -> JobLink | None:
    """Return a link to the row that the job made or is about, or to the form of a failed job; None without either."""
    leading = _BY_STATE.get((job.task, job.state)) or _BY_TASK.get(job.task) or _to_thing
    return leading(job)


def usual_time(job: Job) -> timedelta | None:
    """Return the median time of the last jobs of the same task; None without any."""
    ended = Job.objects.filter(task=job.task, state=Job.State.DONE).order_by("-finished_at")[:REMEMBERED]
    times = ended.annotate(took=F("finished_at") - F("created_at")).values_list("took", flat=True)
    return timedelta(seconds=median(took.total_seconds() for took in times)) if times else None


def planned_for(pool: Pool) -> dict[str, object]:
    """Return the fields of the form that packs a pool: those of its latest round, or of its plan. The name of the
    round is a free one."""
    name = pool.name.removesuffix("-pool")
    plans = Job.objects.filter(task=PLANNING, params__collection=pool.collection.name, params__round=name)
    plan = plans.order_by("-created_at").first()
    fields = _fields_of(plan.params) if plan else {}
    if latest := pool.rounds.order_by("-created_at").first():
        fields |= {field: getattr(latest, field) for field in PACKED} | {"design": latest.design["name"]}
    names = (name if number == 1 else f"{name}-{number}" for number in count(1))
    free = next(one for one in names if not Round.objects.filter(name=one).exists())
    return {field: value for field, value in fields.items() if value not in (0, False, "")} | {"round": free}


def _fields_of(params: Mapping[str, Any]) -> dict[str, object]:
    """Return the parameters of a plan or of a packing as the fields of its form."""
    values = {**params, "design": (params["design"] or {}).get("name")}
    return {name: value for name, value in values.items() if value not in (None, False, "")}


NAMED: Mapping[str, tuple[type[Model], str]] = {
    "version": (Version, "name"),
    "round": (Round, "name"),
    "run": (Run, "pk"),
    "collection": (Collection, "name"),
}
"""Parameter of a job → what it names, and by which field. The first that a job has counts."""


def _to_thing(job: Job) -> JobLink | None:
    for param, (model, field) in NAMED.items():
        if param in job.params:
            return _link(model, page_of, **{field: job.params[param]})
    return None


def _to(model: type[Model], *, param: str = "name", page: str = "") -> Leading:
    """Lead to the row that the parameter ``param`` names, or to a ``page`` of it."""

    def leading(job: Job) -> JobLink | None:
        address = (lambda row: reverse(page, args=[row.name])) if page else page_of
        return _link(model, address, name=job.params.get(param, ""))

    return leading


def _link(model: type[Model], address: Callable[[Any], str], **named: Any) -> JobLink | None:
    row = model._default_manager.filter(**named).first()
    return JobLink(f"{model.__name__} {row}", address(row)) if row else None


def _to_plan(job: Job) -> JobLink | None:
    """Lead to the planned round, or to the pool if the plan ended there."""
    if not job.params.get("pool_only"):
        return _link(Round, page_of, name=job.params["round"])
    return _link(Pool, page_of, name=RoundParameters.from_json(job.params).pool_name)


def _to_charts(job: Job) -> JobLink:
    return JobLink(f"Charts of {job.params['name']}", reverse(PLACES[job.params["kind"]], args=[job.params["name"]]))


def _to_export(job: Job) -> JobLink:
    page = reverse("version_files", args=[job.params["version"]])
    return JobLink(f"Download {job.params['what']}", f"{page}#{job.params['what']}")


def _back_to_plan(job: Job) -> JobLink:
    fields = _fields_of(job.params) | {"step": "pay"}
    return JobLink("Change the plan", f"{reverse('round_plan')}?{urlencode(fields, doseq=True)}")


def _back_to_import(job: Job) -> JobLink:
    names = ("collection", "language", "append", "skip_missing")
    chosen = {name: job.params[name] for name in names if job.params.get(name)}
    return JobLink("Choose the files again", f"{reverse('collection_import')}?{urlencode(chosen)}")


def _back_to_pack(job: Job) -> JobLink:
    fields = _fields_of(job.params["parameters"]) | {"round": job.params["round"], "step": "pay"}
    return JobLink("Change HITs and pay", f"{reverse('pool_pack', args=[job.params['pool']])}?{urlencode(fields)}")


_BY_STATE: Mapping[tuple[str, str], Leading] = {
    (PLANNING, Job.State.FAILED): _back_to_plan,
    (import_collection.name, Job.State.FAILED): _back_to_import,
    (look_at_import.name, Job.State.FAILED): _back_to_import,
    (look_at_import.name, Job.State.DONE): lambda job: JobLink("Look", reverse("import_look", args=[job.pk])),
    (pack.name, Job.State.FAILED): _back_to_pack,
    (measure_rankings.name, Job.State.DONE): lambda job: JobLink("Figures", reverse("benchmark", args=[job.pk])),
    (audit.name, Job.State.DONE): _to(Round, param="round", page="round_money"),
    (repair.name, Job.State.DONE): _to(Round, param="round", page="round_money"),
}
_BY_TASK: Mapping[str, Leading] = {
    LOADING: lambda job: JobLink("Home", reverse("home")),
    PLANNING: _to_plan,
    add_annotator.name: _to(Annotator),
    jobs.train.name: _to(Annotator),
    jobs.pool.name: _to(Pool),
    trust.name: _to(Version, param="version", page="version_trust"),
    verify.name: _to(Version, param="version", page="version_files"),
    export.name: _to_export,
    clean_up.name: _to(Collection, param="collection", page="queue"),
    register.name: _to(Collection, param="collection", page="leaderboard"),
    chart.name: _to_charts,
}
