"""Where a job leads: a link to what it made or changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Model
from django.urls import reverse

from console import tasks
from core.models import Job
from corpus.models import Collection
from dataset.models import Version
from evaluation.models import Run
from evaluation.tasks import register, score_run
from hits.models import Round
from hits.pipeline import TASK as PLANNING
from hits.round_parameters import RoundParameters
from mitl.models import Annotator, Pool
from mitl.training.trainer import TASK as TRAINING


@dataclass(frozen=True)
class Outcome:
    """A link from a job to what it is about."""

    label: str
    url: str


@dataclass(frozen=True)
class _Lead:
    """The row that the parameter ``param`` names by its field ``key``, and the page that shows it."""

    label: str
    model: type[Model]
    param: str
    page: str
    key: str = "name"


_COLLECTION = _Lead("Collection", Collection, "collection", "collection")
_ANNOTATOR = _Lead("Annotator", Annotator, "name", "annotator")
_VERSION = _Lead("Version", Version, "version", "version")
_ROUND = _Lead("Round", Round, "round", "round")
_POOL = _Lead("Pool", Pool, "pool", "pool")
_AUDIT = _Lead("Audit of", Round, "round", "audit")
_BY_TASK = {
    tasks.trust.name: _Lead("Trust in", Version, "version", "version_trust"),
    tasks.clean_up.name: _Lead("Pairs to review in", Collection, "collection", "queue"),
    tasks.import_collection.name: _COLLECTION,
    tasks.import_matches.name: _COLLECTION,
    tasks.add_annotator.name: _ANNOTATOR,
    TRAINING: _ANNOTATOR,
    register.name: _Lead("Leaderboard of", Collection, "collection", "leaderboard"),
    score_run.name: _Lead("Run", Run, "run", "run", key="pk"),
}
_WHEN_DONE = {tasks.audit.name: _AUDIT, tasks.repair.name: _AUDIT}


def planned_for(pool: Pool) -> dict[str, object]:
    """Return what was planned for a pool that was made alone, as fields of a form."""
    plans = Job.objects.filter(task=PLANNING, params__pool_only=True, params__collection=pool.collection.name)
    named = plans.filter(params__round=pool.name.removesuffix("-pool")).order_by("-created_at").first()
    return _fields_of(named.params) if named else {}


def _fields_of(params: Mapping[str, Any]) -> dict[str, object]:
    """Return the parameters of a plan or of a packing as the fields of its form."""
    told = {**params, "design": (params["design"] or {}).get("name")}
    return {name: value for name, value in told.items() if value not in (None, False, "")}


def _form_of(job: Job) -> dict[str, object]:
    """Return what was chosen for an import, without the files."""
    return {name: job.params[name] for name in ("collection", "format", "append", "skip_missing") if job.params[name]}


def outcome_of(job: Job) -> Outcome | None:
    """Return a link to the version, round, collection, annotator or run of the job, or None if it does not exist."""
    if job.task == PLANNING and job.state == Job.State.FAILED:
        return Outcome("Change the plan", f"{reverse('round_plan')}?{urlencode(_fields_of(job.params), doseq=True)}")
    if job.task == tasks.import_collection.name and job.state == Job.State.FAILED:
        return Outcome("Choose the files again", f"{reverse('collection_import')}?{urlencode(_form_of(job))}")
    if job.task == tasks.pack.name and job.state == Job.State.FAILED:
        fields = _fields_of(job.params["parameters"]) | {"round": job.params["round"]}
        return Outcome("Change HITs and pay", f"{reverse('pool_pack', args=[job.params['pool']])}?{urlencode(fields)}")
    if job.task == tasks.measure_rankings.name:
        return Outcome("Figures", reverse("benchmark", args=[job.pk])) if job.state == Job.State.DONE else None
    if job.task == tasks.chart.name:
        place = [job.params[name] for name in ("kind", "name", "subject")]
        return Outcome("Chart", f"{reverse('chart', args=place)}?{urlencode({'annotator': job.params['annotator']})}")
    lead = _BY_TASK.get(job.task) or (_WHEN_DONE.get(job.task) if job.state == Job.State.DONE else None)
    lead = lead or (_VERSION if "version" in job.params else _ROUND)
    named = job.params.get(lead.param, "")
    if job.params.get("pool_only"):
        lead, named = _POOL, RoundParameters.from_json(job.params).pool_name
    row = lead.model._default_manager.filter(**{lead.key: named}).first()
    return Outcome(f"{lead.label} {row}", reverse(lead.page, args=[getattr(row, lead.key)])) if row else None
