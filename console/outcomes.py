"""Where a job's outcome stands: the page of the round, version or machine that it was started for, once that exists."""

from dataclasses import dataclass

from django.urls import reverse

from console import tasks
from core.models import Job
from dataset.models import Version
from hits.models import Round
from mitl.models import Annotator
from mitl.training.trainer import TASK as TRAINING


@dataclass(frozen=True)
class Outcome:
    label: str
    url: str


def outcome_of(job: Job) -> Outcome | None:
    """Return the way to what the job made, or None while there is nothing."""
    version = Version.objects.filter(name=job.params.get("version", "")).first()
    if version:
        return Outcome(f"Version {version}", reverse("version", args=[version.name]))
    if audited := _audited(job):
        return audited
    made = Round.objects.filter(name=job.params.get("round", "")).first()
    if made:
        return Outcome(f"Round {made}", reverse("round", args=[made.name]))
    trained = Annotator.objects.filter(name=job.params.get("name", "")).first() if job.task == TRAINING else None
    return Outcome(f"Machine {trained}", reverse("machine", args=[trained.name])) if trained else None


def _audited(job: Job) -> Outcome | None:
    """An audit's outcome stands on a page of its own, once it has one."""
    if job.task not in (tasks.audit.name, tasks.repair.name) or job.state != Job.State.DONE:
        return None
    name = job.params["round"]
    return Outcome(f"What differs in {name}", reverse("audit", args=[name]))
