"""The link from a job to the row that it made or changed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any
from urllib.parse import urlencode

from django.db.models import Model
from django.urls import reverse

from console.jobs import chart, round_part, trust
from console.leaderboard.benchmark_boards import measure_rankings
from console.trust.round_parts import PARTS
from console.upload_jobs import add_annotator, import_collection, import_matches, look_at_import
from core.models import Job
from corpus.models import Collection
from crowd.jobs import audit, repair
from dataset.jobs import clean_up
from dataset.models import Version
from evaluation.jobs import register, score_run
from evaluation.models import Run
from hits.jobs import pack
from hits.models import Round
from hits.rounds.pipeline import TASK as PLANNING
from hits.rounds.round_parameters import RoundParameters
from mitl import jobs
from mitl.models import Annotator, Pool
from simulation.jobs import rehearse


@dataclass(frozen=True)
class JobLink:
    """A link from a job to what it is about."""

    label: str
    url: str


LOADING = "demo.tasks.load"  # of an app above this one
PACKED = ("task", "replication", "top_up", "reasons", "reward", "ceiling")

Leading = Callable[[Job], JobLink | None]


def outcome_of(job: Job) -> JobLink | None:
    """Return a link to the row that the job made or is about, or to the form of a failed job; None without either."""
    leading = _BY_STATE.get((job.task, job.state)) or _BY_TASK.get(job.task) or _to_version_or_round
    return leading(job)


def planned_for(pool: Pool) -> dict[str, object]:
    """Return the fields of the form that packs a pool: those of its latest round, or of its plan. The name of the
    round is a free one."""
    name = pool.name.removesuffix("-pool")
    plans = Job.objects.filter(task=PLANNING, params__collection=pool.collection.name, params__round=name)
    plan = plans.order_by("-created_at").first()
    latest = pool.rounds.order_by("-created_at").first()
    fields = _fields_of(plan.params) if plan else {}
    if latest:
        fields |= {field: getattr(latest, field) for field in PACKED} | {"design": latest.design["name"]}
    names = (name if number == 1 else f"{name}-{number}" for number in count(1))
    free = next(one for one in names if not Round.objects.filter(name=one).exists())
    return {field: value for field, value in fields.items() if value not in (0, False, "")} | {"round": free}


def _fields_of(params: Mapping[str, Any]) -> dict[str, object]:
    """Return the parameters of a plan or of a packing as the fields of its form."""
    values = {**params, "design": (params["design"] or {}).get("name")}
    return {name: value for name, value in values.items() if value not in (None, False, "")}


def _to(label: str, model: type[Model], param: str, page: str, *, key: str = "name") -> Leading:
    """Lead to the page of the row that the parameter ``param`` names by its field ``key``."""

    def leading(job: Job) -> JobLink | None:
        row = model._default_manager.filter(**{key: job.params.get(param, "")}).first()
        return JobLink(f"{label} {row}", reverse(page, args=[getattr(row, key)])) if row else None

    return leading


_to_collection = _to("Collection", Collection, "collection", "collection")
_to_annotator = _to("Annotator", Annotator, "name", "annotator")
_to_version = _to("Version", Version, "version", "version")
_to_round = _to("Round", Round, "round", "round")
_to_audit = _to("Books of", Round, "round", "audit")


def _to_version_or_round(job: Job) -> JobLink | None:
    return _to_version(job) if "version" in job.params else _to_round(job)


def _to_plan(job: Job) -> JobLink | None:
    """Lead to the planned round, or to the pool if the plan ended there."""
    if not job.params.get("pool_only"):
        return _to_launch(job)
    pool = Pool.objects.filter(name=RoundParameters.from_json(job.params).pool_name).first()
    return JobLink(f"Pool {pool}", reverse("pool", args=[pool.name])) if pool else None


def _to_launch(job: Job) -> JobLink | None:
    """Lead on from a packed round to its next step, until it is published."""
    draft = Round.objects.filter(name=job.params["round"], published_at=None, closed_at=None).first()
    if draft is None:
        return _to_round(job)
    return JobLink(f"Go on with round {draft}", reverse("round_consent", args=[draft.name]))


def _to_chart(job: Job) -> JobLink:
    place = [job.params[name] for name in ("kind", "name", "subject")]
    return JobLink("Chart", f"{reverse('chart', args=place)}?{urlencode({'annotator': job.params['annotator']})}")


def _to_part(job: Job) -> JobLink:
    part = job.params["part"]
    page, _, queries = part.partition("-")
    chosen = f"?queries={queries}" if queries else ""
    return JobLink(PARTS[part].title, reverse(f"round_{page}", args=[job.params["round"]]) + chosen)


def _back_to_plan(job: Job) -> JobLink:
    return JobLink(
        "Change the plan", f"{reverse('round_plan')}?{urlencode(_fields_of(job.params) | {'step': 'pay'}, doseq=True)}"
    )


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
    (audit.name, Job.State.DONE): _to_audit,
    (repair.name, Job.State.DONE): _to_audit,
}
_BY_TASK: Mapping[str, Leading] = {
    PLANNING: _to_plan,
    jobs.train.name: _to_annotator,
    pack.name: _to_launch,
    LOADING: lambda job: JobLink("Home", reverse("home")),
    rehearse.name: _to("Rehearsal of", Round, "round", "rehearsals"),
    trust.name: _to("Trust in", Version, "version", "version_trust"),
    clean_up.name: _to("Pairs to review in", Collection, "collection", "queue"),
    import_collection.name: _to_collection,
    look_at_import.name: _to_collection,
    import_matches.name: _to_collection,
    add_annotator.name: _to_annotator,
    jobs.pool.name: _to("Pool", Pool, "name", "pool"),
    jobs.retrieve.name: _to_collection,
    chart.name: _to_chart,
    round_part.name: _to_part,
    register.name: _to("Leaderboard of", Collection, "collection", "leaderboard"),
    score_run.name: _to("Run", Run, "run", "run", key="pk"),
}
