"""Searches, pools and trainings by jobs, and searches and pools as commands and calls ask for them, by names."""

from dataclasses import replace
from typing import Any

from django.contrib.auth.models import User

from core.errors import CounterpartError
from core.models import Job
from core.progress import Progress, silent
from core.text import counted
from core.work.jobs import JobProgress, job, open_once
from corpus.models import Collection, Gallery, Sample
from mitl.models import Annotator, Pool, Retrieval
from mitl.pooling import pool_proposals
from mitl.search import by_parts
from mitl.search.gallery import open_gallery
from mitl.search.request import Cascade, Search
from mitl.search.retrieval import retrieve as make_lists
from mitl.search.search_parameters import GallerySearchParameters, PoolingParameters, PoolParameters
from mitl.training import trainer


@job("mitl.tasks.retrieve", needs=("hits.launch_round",))
def retrieve(job: Job, progress: JobProgress) -> str:
    """Make the searches of several annotators; a lost job is sent again and resumes."""
    parameters = GallerySearchParameters.from_json(job.params)
    made = make_search(parameters, actor=job.actor, progress=progress)
    return f"{counted(len(made), 'search', 'searches')}: {'; '.join(f'{one}, depth {one.depth}' for one in made)}."


@job("mitl.tasks.pool", needs=("hits.launch_round",))
def pool(job: Job, progress: JobProgress) -> str:
    """Join lists into a pool, unless an earlier run already has."""
    made = make_pool(PoolParameters.from_json(job.params), actor=job.actor, progress=progress)
    return f"Pool {made} has {counted(made.n_pairs, 'pair')} of {counted(made.n_proposals, 'proposal')}."


@job(by_parts.TASK, needs=("hits.launch_round",))
def retrieve_by_parts(job: Job, progress: JobProgress) -> str:
    """Make a search by parts; a lost job is sent again and resumes."""
    made = by_parts.retrieve_for(job, progress)
    return f"{made}, depth {made.depth}, SHA-256 {made.sha256}."


@job(trainer.TASK, needs=("hits.launch_round",))
def train(job: Job, progress: JobProgress) -> str:
    """Train an annotator; a lost job is sent again and resumes after its last finished epoch."""
    return f"{trainer.train_for(job, progress)} is trained."


def search_of(parameters: GallerySearchParameters) -> Search:
    """Return the search. Raises CounterpartError for unknown names and options that exclude each other."""
    others = [f"--{name}" for name in ("cascade", "rerank", "tune", "estimate") if getattr(parameters, name, False)]
    others += ["--engine faiss"] if parameters.engine == "faiss" else []
    if parameters.by_parts and others:
        raise CounterpartError(
            f"--engine-on, --shards and --gallery are only for plain, exact searches, not with {', '.join(others)};"
            " leave one or the other out."
        )
    collection = Collection.objects.named(parameters.collection)
    sample = Sample.objects.named(parameters.queries) if parameters.queries else None
    annotators = Annotator.objects.all_named(parameters.annotators)
    first = Annotator.objects.named(parameters.cascade) if parameters.cascade else None
    listed = Gallery.objects.named(parameters.gallery) if parameters.gallery else None
    return Search(
        gallery=open_gallery(collection, sample, listed),
        annotators=annotators,
        depth=parameters.depth,
        engine=parameters.engine,
        device=parameters.device,
        cascade=Cascade(first, parameters.cascade_depth) if first else None,
        rerank=parameters.steps,
    )


def open_search(parameters: GallerySearchParameters, *, by: User) -> Job:
    """Open the job of a search, or return the unfinished one of the same. Raises CounterpartError as ``search_of``, and
    where the search is impossible."""
    search = replace(search_of(parameters), device="cpu").checked()  # that of the worker, not of this process
    title = f"Retrieve {', '.join(parameters.annotators)} over {search.gallery.listed or parameters.collection}"
    return open_once(title[:200], retrieve.name, parameters.as_json(), lock=search.annotators[0], by=by)


def make_search(parameters: GallerySearchParameters, *, actor: str, progress: Progress = silent) -> list[Retrieval]:
    """Make a search in this process; what was made before is returned as it is.

    Raises CounterpartError as ``search_of``, ``retrieve`` and ``retrieve_by_parts`` do.
    """
    search = search_of(parameters)
    if not parameters.by_parts:
        return make_lists(search, actor=actor, progress=progress)
    return [
        by_parts.retrieve_by_parts(
            search, annotator, engine="local", shards=parameters.shards, actor=actor, progress=progress
        )
        for annotator in search.annotators
    ]


def open_pooling(parameters: PoolParameters, *, by: User) -> Job:
    """Open the job that makes a pool, or return the unfinished one of the same. Raises CounterpartError for unknown
    names."""
    sample = _named(parameters)["sample"]
    return open_once(f"Make pool {parameters.name}", pool.name, parameters.as_json(), lock=sample, by=by)


def make_pool(parameters: PoolParameters, *, actor: str, progress: Progress = silent) -> Pool:
    """Make the pool in this process. Raises CounterpartError as ``pool_proposals`` does, and for unknown names."""
    return pool_proposals(
        parameters.name,
        **_named(parameters),
        **parameters.part(PoolingParameters).as_json(),
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
