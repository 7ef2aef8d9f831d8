"""From queries to a packed round: sample, retrieve, pool, pack; in one call, or as a job of one task a step."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib.auth.models import User

from core.jobs import open_job
from core.models import Job
from core.progress import Progress, silent
from corpus.models import Collection, Sample
from corpus.samples import sample_queries
from hits.models import Round
from hits.ordering import RoundOrder, parse_order
from hits.packed_rounds import pack_round
from mitl.annotators import is_cross_encoder
from mitl.cascading import Cascade, check_cascade
from mitl.naming import find_annotators, find_pool
from mitl.pooling import pool_proposals
from mitl.reranking import Steps, parse_steps
from mitl.retrieval import check_rerank, retrieve

TASK = "hits.tasks.plan_round"
Step = Callable[..., Any]


def start_pipeline(params: dict[str, Any], *, by: User | None = None) -> Job:
    """Open the job that plans a round; ``params`` as ``hits.ordering.parse_order`` takes them.

    Raises CounterpartError for an impossible order, before anything is written.
    """
    order = parse_order(params)
    check_order(order)
    return open_job(f"Plan round {order.round}", TASK, order.as_json(), by=by)


def run_pipeline(order: RoundOrder, *, actor: str = "command", progress: Progress = silent) -> Round:
    """Take all steps here and now; those whose product is there already are quick. Returns the packed round.

    Raises CounterpartError as the steps do; what the steps before made stays, and serves the next try.
    """
    check_order(order)
    for step in steps_of(order):
        outcome = step(actor=actor, progress=progress)
    return outcome


def check_order(order: RoundOrder) -> None:
    """Raise CounterpartError if the order names rows that are not there, or an impossible cascade or re-ranking."""
    Collection.objects.named(order.collection)
    annotators = find_annotators(order.annotators)
    if cascade := _cascade(order):
        check_cascade(cascade, annotators, order.control_depth)
    if steps := _rerank(order):
        check_rerank(steps, annotators, engine=order.engine, device="cpu")
    if order.sample:
        Sample.objects.named(order.sample)


def steps_of(order: RoundOrder) -> list[Step]:
    """Return the steps, each a call that takes ``actor`` and ``progress``. Every step is an act that returns what
    is there if it was done before, so that a step may be repeated whatever became of the first try."""
    searches = [partial(_retrieve, order, name) for name in order.annotators]
    return [partial(_sample, order), *searches, partial(_pool, order), partial(_pack, order)]


def _sample(order: RoundOrder, *, actor: str, progress: Progress) -> Sample:
    progress("sampling queries", 0, None)
    if order.sample:
        return Sample.objects.named(order.sample)
    return sample_queries(
        order.sample_name,
        collection=Collection.objects.named(order.collection),
        images=order.images,
        captions=order.captions,
        seed=order.seed,
    )


def _retrieve(order: RoundOrder, annotator: str, *, actor: str, progress: Progress) -> None:
    progress(f"{annotator}: retrieving", 0, None)
    annotators = find_annotators([annotator])
    retrieve(
        Collection.objects.named(order.collection),
        annotators=annotators,
        sample=Sample.objects.named(order.sample_name),
        depth=order.control_depth,
        engine=order.engine,
        cascade=_cascade(order) if is_cross_encoder(annotators[0]) else None,
        rerank=_rerank(order),
        progress=progress,
    )


def _cascade(order: RoundOrder) -> Cascade | None:
    return Cascade(find_annotators([order.cascade])[0], order.cascade_depth) if order.cascade else None


def _rerank(order: RoundOrder) -> Steps:
    return parse_steps(order.rerank) if order.rerank else ()


def _pool(order: RoundOrder, *, actor: str, progress: Progress) -> None:
    progress("pooling", 0, None)
    pool_proposals(
        order.pool_name,
        collection=Collection.objects.named(order.collection),
        annotators=find_annotators(order.annotators),
        sample=Sample.objects.named(order.sample_name),
        top_k=order.top_k,
        control_depth=order.control_depth,
        direction=order.direction,
        seed=order.seed,
        progress=progress,
    )


def _pack(order: RoundOrder, *, actor: str, progress: Progress) -> Round:
    pool = find_pool(order.pool_name)
    return pack_round(
        order.round,
        pool=pool,
        design=order.design,
        sharing=order.sharing,
        seed=order.seed,
        actor=actor,
        progress=progress,
        **order.terms.as_fields(),
    )
