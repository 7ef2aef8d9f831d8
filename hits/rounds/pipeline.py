"""From queries to a packed round: sample, retrieve, pool and pack, in one call or as a job of one task a step."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from core import clock
from core.errors import CounterpartError
from core.events import record
from core.files.stored_files import remove_file
from core.models import Job
from core.progress import Progress, silent
from core.work.jobs import open_job
from corpus.models import Collection, Sample
from corpus.samples import sample_queries
from hits.models import Round
from hits.rounds.packed_rounds import pack_round
from hits.rounds.plan_estimates import estimate_plan
from hits.rounds.round_parameters import RoundParameters
from mitl.annotators import is_cross_encoder
from mitl.models import Annotator, Pool, Retrieval
from mitl.pooling import pool_proposals
from mitl.search.gallery import open_gallery
from mitl.search.request import Cascade, Search, check_cascade, check_rerank
from mitl.search.retrieval import retrieve
from mitl.search.search_parameters import PoolingParameters
from mitl.search.store import delete_retrieval

TASK = "hits.tasks.plan_round"
Step = Callable[..., Any]


def start_pipeline(parameters: RoundParameters, *, by: User | None = None) -> Job:
    """Open the job that plans a round. Raises CounterpartError if ``check_parameters`` does."""
    check_parameters(parameters)
    title = f"Make pool {parameters.pool_name}" if parameters.pool_only else f"Plan round {parameters.round}"
    return open_job(title, TASK, parameters.as_json(), by=by)


def run_pipeline(parameters: RoundParameters, *, actor: str, progress: Progress = silent) -> Round | Pool:
    """Run all steps now and return the packed round, or the pool if no more is wanted. Steps that were completed before
    only look up their result.

    Raises CounterpartError if a step does, and undoes the steps before it as ``undone_if_refused`` says. After an
    interruption their results remain and are used by the next call.
    """
    check_parameters(parameters)
    with undone_if_refused(parameters, since=clock.now(), actor=actor):
        for step in steps_of(parameters):
            outcome = step(actor=actor, progress=progress)
    return outcome


@contextmanager
def undone_if_refused(parameters: RoundParameters, *, since: datetime, actor: str) -> Iterator[None]:
    """If a step refuses, remove the pool, the sample and its searches that the steps have made ``since`` then, so that
    the names are free for a corrected plan.

    A search that scored pair by pair may have taken hours: it stays for the next plan, with its sample.
    """
    try:
        yield
    except CounterpartError:
        _remove_results(parameters, since, actor)
        raise


@transaction.atomic
def remove_unused(pools: QuerySet[Pool], *, actor: str) -> None:
    """Remove pools that no round is packed of."""
    for pool in pools.filter(rounds=None):
        record("removed", pool, actor=actor, name=pool.name)
        pool.delete()


@transaction.atomic
def _remove_results(parameters: RoundParameters, since: datetime, actor: str) -> None:
    remove_unused(Pool.objects.filter(name=parameters.pool_name, created_at__gte=since), actor=actor)
    if parameters.queries:
        return
    for sample in Sample.objects.filter(name=parameters.sample_name, pools=None, created_at__gte=since):
        searches = list(Retrieval.objects.filter(sample=sample).select_related("annotator"))
        if any(is_cross_encoder(search.annotator) for search in searches):
            return
        for file in chain.from_iterable(map(delete_retrieval, searches)):
            transaction.on_commit(partial(remove_file, file))
        record("removed", sample, actor=actor, name=sample.name)
        sample.delete()


def check_parameters(parameters: RoundParameters) -> None:
    """Raise CounterpartError for what ``estimate_plan`` refuses, an impossible cascade or re-ranking, and a sample of
    another collection."""
    estimate_plan(parameters)
    collection = Collection.objects.named(parameters.collection)
    annotators = Annotator.objects.all_named(parameters.annotators)
    if cascade := _cascade(parameters):
        check_cascade(cascade, annotators, parameters.control_depth)
    if steps := parameters.steps:
        check_rerank(steps, annotators, engine=parameters.engine, device="cpu")
    if parameters.queries:
        sample = Sample.objects.select_related("collection").named(parameters.queries)
        if sample.collection != collection:
            raise CounterpartError(f"Sample {sample} belongs to collection {sample.collection}, not {collection}.")


def steps_of(parameters: RoundParameters) -> list[Step]:
    """Return the steps as functions of ``actor`` and ``progress``.

    A step that was completed before returns the existing result, so any step may be repeated.
    """
    searches = [partial(_retrieve, parameters, name) for name in parameters.annotators]
    pooling: list[Step] = [partial(_sample, parameters), *searches, partial(_pool, parameters)]
    return pooling if parameters.pool_only else [*pooling, partial(_pack, parameters)]


def _sample(parameters: RoundParameters, *, actor: str, progress: Progress) -> Sample:
    progress("sampling queries", 0, None)
    if parameters.queries:
        return Sample.objects.named(parameters.queries)
    return sample_queries(
        parameters.sample_name,
        collection=Collection.objects.named(parameters.collection),
        images=parameters.images,
        captions=parameters.captions,
        seed=parameters.seed or 0,
        actor=actor,
    )


def _retrieve(parameters: RoundParameters, annotator: str, *, actor: str, progress: Progress) -> None:
    progress(f"{annotator}: retrieving", 0, None)
    searching = Annotator.objects.named(annotator)
    collection = Collection.objects.named(parameters.collection)
    search = Search(
        open_gallery(collection, Sample.objects.named(parameters.sample_name)),
        [searching],
        depth=parameters.control_depth,
        engine=parameters.engine,
        cascade=_cascade(parameters) if is_cross_encoder(searching) else None,
        rerank=parameters.steps,
    )
    retrieve(search, actor=actor, progress=progress)


def _cascade(parameters: RoundParameters) -> Cascade | None:
    if not parameters.cascade:
        return None
    return Cascade(Annotator.objects.named(parameters.cascade), parameters.cascade_depth)


def _pool(parameters: RoundParameters, *, actor: str, progress: Progress) -> Pool:
    progress("pooling", 0, None)
    return pool_proposals(
        parameters.pool_name,
        collection=Collection.objects.named(parameters.collection),
        annotators=Annotator.objects.all_named(parameters.annotators),
        sample=Sample.objects.named(parameters.sample_name),
        **parameters.part(PoolingParameters).as_json(),
        seed=parameters.seed or 0,
        actor=actor,
        progress=progress,
    )


def _pack(parameters: RoundParameters, *, actor: str, progress: Progress) -> Round:
    return pack_round(
        parameters.round, Pool.objects.named(parameters.pool_name), parameters, actor=actor, progress=progress
    )
