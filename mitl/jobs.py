"""The jobs of a search by parts, and of training an annotator."""

from celery import shared_task

from core.jobs import JobProgress, job
from core.models import Job
from mitl.search import by_parts
from mitl.search.engines import on_celery
from mitl.training import trainer


@job(by_parts.TASK)
def retrieve_by_parts(job: Job, progress: JobProgress) -> str:
    """Make a search by parts; a lost job is sent again and goes on where it was."""
    made = by_parts.retrieve_for(job, progress)
    return f"{made}, depth {made.depth}, SHA-256 {made.sha256}."


@shared_task(name=on_celery.TASK)
def help_with_plan(folder: str) -> None:
    """Help the driver of a search by parts."""
    on_celery.help_with(folder)


@job(trainer.TASK)
def train(job: Job, progress: JobProgress) -> str:
    """Train an annotator; a lost job is sent again and resumes after its last finished epoch."""
    return f"{trainer.train_for(job, progress)} is trained."
