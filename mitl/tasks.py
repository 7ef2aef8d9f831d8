"""Celery tasks: the jobs of a search that several workers share. Ids in; the work stands in ``mitl.sharding``."""

from config.celery import app
from mitl import sharding


@app.task(name=sharding.TASK)
def share_retrieval(job_id: str) -> None:
    """Encode, and later join, a shared search; a job that was lost on the way is sent here again."""
    sharding.advance(job_id)


@app.task(name=sharding.SHARD_TASK)
def search_shard(job_id: str) -> None:
    """Search one shard of it."""
    sharding.search_shard(job_id)
