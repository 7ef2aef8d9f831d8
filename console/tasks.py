"""Work that staff start from a page and may leave: counting votes and releasing a version."""

from annotation.concluding import aggregate_round
from annotation.models import Version
from annotation.release import release_version
from config.celery import app
from corpus.models import Sample
from hits.models import Round
from journal.jobs import JobProgress, finish, running
from journal.models import Job


@app.task(name="console.tasks.release")
def release(job_id: str) -> None:
    """Release the version that the job's params describe; one that was released by a lost run is done."""
    with running(job_id) as progress:
        if progress is None:
            return
        job = Job.objects.select_related("created_by").get(pk=job_id)
        name = job.params["version"]
        if not Version.objects.filter(name=name).exists():
            _release(job, progress)
        finish(job_id, f"Version {name} is released.")


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
