"""Celery tasks: the jobs of a search that several workers share, and the training of a machine. Ids in; the work
stands in ``mitl.sharding`` and ``mitl.training.trainer``."""

from config.celery import app
from core.jobs import finish, running
from core.models import Job
from mitl import sharding
from mitl.training import trainer


@app.task(name=sharding.TASK)
def share_retrieval(job_id: str) -> None:
    """Encode, and later join, a shared search; a job that was lost on the way is sent here again."""
    sharding.advance(job_id)


@app.task(name=sharding.SHARD_TASK)
def search_shard(job_id: str) -> None:
    """Search one shard of it."""
    sharding.search_shard(job_id)


@app.task(name=trainer.TASK)
def train(job_id: str) -> None:
    """Train a machine; a job that was lost on the way goes on after its last finished epoch."""
    with running(job_id) as progress:
        if progress is None:
            return
        annotator = trainer.train_for(Job.objects.get(pk=job_id), progress)
        finish(job_id, f"{annotator} is trained.")
