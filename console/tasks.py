"""Work that staff start from a page and may leave: releasing a version, and what takes calls to a platform."""

from annotation.topping_up import top_up as give_top_up
from config.celery import app
from console.platform_work import (
    audit_round,
    close_on_platform,
    publish_on_platform,
    repair_round,
    sync_on_platform,
)
from core.jobs import JobProgress, finish, running
from core.models import Job
from corpus.models import Sample
from crowd.models import Audit
from dataset.models import Version
from dataset.release import release_version
from dataset.verdicts import aggregate_round
from hits.models import Round


@app.task(name="console.tasks.release")
def release(job_id: str) -> None:
    """Release the version that the job's params describe; one that was released by a lost run is done."""
    with running(job_id) as progress:
        if progress is None:
            return
        job = _job(job_id)
        name = job.params["version"]
        if not Version.objects.filter(name=name).exists():
            _release(job, progress)
        finish(job_id, f"Version {name} is released.")


@app.task(name="console.tasks.publish")
def publish(job_id: str) -> None:
    """Publish a round on a platform, as the job's params say."""
    with running(job_id) as progress:
        if progress is not None:
            job = _job(job_id)
            finish(job_id, publish_on_platform(job.params, actor=_actor(job), progress=progress))


@app.task(name="console.tasks.sync")
def sync(job_id: str) -> None:
    """Bring the round in the job's params together with its platform."""
    with running(job_id) as progress:
        if progress is not None:
            finish(job_id, sync_on_platform(Round.objects.named(_job(job_id).params["round"]), progress=progress))


@app.task(name="console.tasks.close")
def close(job_id: str) -> None:
    """Close the round in the job's params and take it off its market."""
    with running(job_id) as progress:
        if progress is not None:
            job = _job(job_id)
            round = Round.objects.named(job.params["round"])
            finish(job_id, close_on_platform(round, actor=_actor(job), progress=progress))


@app.task(name="console.tasks.audit")
def audit(job_id: str) -> None:
    """Hold the round in the job's params against its platform."""
    with running(job_id) as progress:
        if progress is not None:
            job = _job(job_id)
            round = Round.objects.named(job.params["round"])
            finish(job_id, audit_round(round, actor=_actor(job), progress=progress))


@app.task(name="console.tasks.repair")
def repair(job_id: str) -> None:
    """Repair what the audit in the job's parameters lists."""
    with running(job_id) as progress:
        if progress is not None:
            job = _job(job_id)
            audit = Audit.objects.select_related("round").get(pk=job.params["audit"])
            finish(job_id, repair_round(audit, actor=_actor(job), progress=progress))


@app.task(name="console.tasks.top_up")
def top_up(job_id: str) -> None:
    """Owe everybody in the round what its reward fell short of; who had that gets nothing more."""
    with running(job_id) as progress:
        if progress is not None:
            job = _job(job_id)
            given = give_top_up(Round.objects.named(job.params["round"]), actor=_actor(job), progress=progress)
            told = f"{given.assignments:,} assignments are owed ${given.bonus} more each, ${given.total} in all."
            finish(job_id, told if given.assignments else "Nobody falls short any more.")


def _job(job_id: str) -> Job:
    return Job.objects.select_related("created_by").get(pk=job_id)


def _actor(job: Job) -> str:
    return str(job.created_by or "command")


def _release(job: Job, progress: JobProgress) -> None:
    params = job.params
    sample = Sample.objects.select_related("collection").get(name=params["sample"])
    rounds = list(Round.objects.filter(name__in=params["rounds"]))
    for one in rounds:
        aggregate_round(one, progress=progress)
    release_version(
        params["version"],
        collection=sample.collection,
        sample=sample,
        rounds=rounds,
        merge=params["merge"],
        positive_levels=params["positive_levels"],
        released_by=job.created_by,
        progress=progress,
    )
