"""Celery tasks: the jobs of a shared search, and the training of an annotator."""

from config.celery import app
from core.jobs import finish, running
from core.models import Job
from mitl.search import shards
from mitl.training import trainer


@app.task(name=shards.TASK)
def share_retrieval(job_id: str) -> None:
    """Encode, and later join, a shared search; a lost job is sent again."""
    shards.advance(job_id)


@app.task(name=shards.SHARD_TASK)
def search_shard(job_id: str) -> None:
    """Search one shard of it."""
    shards.search_shard(job_id)


@app.task(name=trainer.TASK)
def train(job_id: str) -> None:
    """Train an annotator; a lost job is sent again and resumes after its last finished epoch."""
    with running(job_id) as progress:
        if progress is None:
            return
        annotator = trainer.train_for(Job.objects.get(pk=job_id), progress)
        finish(job_id, f"{annotator} is trained.")
