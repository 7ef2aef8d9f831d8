"""The jobs of a shared search, and of training an annotator."""

from celery import shared_task

from core.jobs import JobProgress, job
from core.models import Job
from mitl.search import shards
from mitl.training import trainer


@shared_task(name=shards.TASK)
def share_retrieval(job_id: str) -> None:
    """Encode, and later join, a shared search; a lost job is sent again."""
    shards.advance(job_id)


@shared_task(name=shards.SHARD_TASK)
def search_shard(job_id: str) -> None:
    """Search one shard of it."""
    shards.search_shard(job_id)


@job(trainer.TASK)
def train(job: Job, progress: JobProgress) -> str:
    """Train an annotator; a lost job is sent again and resumes after its last finished epoch."""
    return f"{trainer.train_for(job, progress)} is trained."
