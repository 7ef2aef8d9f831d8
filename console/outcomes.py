"""Where a job leads: a link to what it made or changed."""

from dataclasses import dataclass

from django.db.models import Model
from django.urls import reverse

from console import tasks
from core.models import Job
from corpus.models import Collection
from dataset.models import Version
from evaluation.models import Run
from evaluation.tasks import register, score_run
from hits.models import Round
from mitl.models import Annotator
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


def outcome_of(job: Job) -> Outcome | None:
    """Return a link to the version, round, collection, annotator or run of the job, or None if it does not exist."""
    lead = _BY_TASK.get(job.task) or (_WHEN_DONE.get(job.task) if job.state == Job.State.DONE else None)
    lead = lead or (_VERSION if "version" in job.params else _ROUND)
    row = lead.model._default_manager.filter(**{lead.key: job.params.get(lead.param, "")}).first()
    return Outcome(f"{lead.label} {row}", reverse(lead.page, args=[getattr(row, lead.key)])) if row else None
