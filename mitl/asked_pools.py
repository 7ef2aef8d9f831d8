"""Pools as the command and calls ask for them, by names; made now, or by a job."""

from typing import Any

from django.contrib.auth.models import User

from core.models import Job
from core.progress import Progress, silent
from core.work.jobs import open_once
from corpus.models import Collection, Gallery, Sample
from mitl.models import Annotator, Pool
from mitl.pooling import pool_proposals
from mitl.search.search_parameters import PoolParameters

TASK = "mitl.tasks.pool"


def open_pooling(parameters: PoolParameters, *, by: User) -> Job:
    """Open the job that makes a pool, or return the unfinished one of the same. Raises CounterpartError for unknown
    names."""
    sample = _named(parameters)["sample"]
    return open_once(f"Make pool {parameters.name}", TASK, parameters.as_json(), lock=sample, by=by)


def make_pool(parameters: PoolParameters, *, actor: str, progress: Progress = silent) -> Pool:
    """Make the pool in this process. Raises CounterpartError as ``pool_proposals`` does, and for unknown names."""
    return pool_proposals(
        parameters.name,
        **_named(parameters),
        top_k=parameters.top_k,
        control_depth=parameters.control_depth,
        direction=parameters.direction,
        beyond=parameters.beyond,
        seed=parameters.seed,
        actor=actor,
        progress=progress,
    )


def _named(parameters: PoolParameters) -> dict[str, Any]:
    """Return the rows that a pool is made of, as ``pool_proposals`` takes them."""
    return {
        "collection": Collection.objects.named(parameters.collection),
        "annotators": Annotator.objects.all_named(parameters.annotators),
        "sample": Sample.objects.named(parameters.queries),
        "listed": Gallery.objects.named(parameters.gallery) if parameters.gallery else None,
    }
