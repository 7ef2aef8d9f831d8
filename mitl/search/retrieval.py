"""Retrieve: every annotator finds the best captions of images and the best images of captions, once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import cast

from core.errors import CounterpartError
from core.progress import Progress, silent
from counterpart_annotators.base import CrossEncoder
from counterpart_annotators.checkpoints import Checkpoints
from mitl import annotators
from mitl.models import Annotator, Retrieval
from mitl.search.estimates import Estimate, estimate
from mitl.search.gallery import BothLists, load_lists, store_lists, with_ids
from mitl.search.pair_scores import Scoring
from mitl.search.request import Search
from mitl.search.rerank import topk_reranked
from mitl.search.store import find_retrieval, open_checkpoints, prefix_of_lists, retrievals_of, store_retrieval
from mitl.search.top_lists import SearchContext, find_top, scoring_of
from mitl.search.tuning import Choice, choose_steps

# Called with the cost of a cross-encoder's search before it starts; stops it by raising.
Confirm = Callable[[Estimate], None]
# Called with what was tried for an annotator's re-ranking, and what was chosen.
ReportChoice = Callable[[Annotator, Choice], None]


def retrieve(
    search: Search,
    *,
    tune: ReportChoice | None = None,
    confirm: Confirm | None = None,
    actor: str = "retrieve",
    progress: Progress = silent,
) -> list[Retrieval]:
    """Store each annotator's top lists, and return one Retrieval an annotator, in their order.

    A search that was made before, by the same weights over the same gallery, is returned as it is. An interrupted
    search resumes, and ends in the same bytes as an uninterrupted one: a cross-encoder from its last finished batches;
    a search of embeddings by all images and captions from its last strip of 8,192 images. The lists that a cascade
    begins with are searched first where they are missing.

    Args:
        tune: choose the settings of the re-ranking, and the number of its steps, for each annotator on the split
            ``val``, and report the choice here. It takes as many passes over that split as there are choices.
        confirm: receives the cost of each cross-encoder's search before it starts, and stops it by raising.
            Estimating takes about a second, or four batches.

    Raises:
        CounterpartError: for an impossible search, or an annotator that cannot search this gallery (no weights, no
            pictures, NaN, ids missing in its files, no scores to re-rank).
    """
    search = search.checked()
    if tune and not search.rerank:
        raise CounterpartError("--tune chooses among the settings of --rerank; pass its steps: --rerank csls,rgm.")
    retrievals = []
    for annotator in search.annotators:
        chosen = _tuned(search, annotator, tune, progress) if tune else search
        retrievals.append(find_retrieval(chosen, annotator) or _retrieved(chosen, annotator, confirm, actor, progress))
    return retrievals


def estimate_retrieval(search: Search) -> list[Estimate]:
    """Return what ``retrieve`` would cost each cross-encoder that has not made this search yet; nothing is searched.

    Where the lists of the cascade are missing, their pairs can only be bounded.

    Raises CounterpartError as ``retrieve`` does.
    """
    search = search.checked()
    costly = filter(annotators.is_cross_encoder, search.annotators)
    return [_estimated(search, annotator) for annotator in costly if not find_retrieval(search, annotator)]


def _tuned(search: Search, annotator: Annotator, report: ReportChoice, progress: Progress) -> Search:
    """Return the search with the steps that are best for this annotator."""
    with errors_of(annotator):
        choice = choose_steps(
            annotators.load(annotator, search.device),
            search.gallery.collection,
            search.rerank,
            progress=_progress_of(annotator, progress),
        )
    report(annotator, choice)
    return replace(search, rerank=choice.best.steps)


def _retrieved(
    search: Search, annotator: Annotator, confirm: Confirm | None, actor: str, progress: Progress
) -> Retrieval:
    first = _first_lists(search, annotator, actor, progress)
    kept = open_checkpoints(search, annotator)
    started = perf_counter()
    with errors_of(annotator):
        lists = _searched(search, annotator, _context(search, annotator, first, kept, confirm, progress))
    stored = store_lists(prefix_of_lists(search, annotator), lists)
    retrieval = store_retrieval(search, annotator, stored, perf_counter() - started, actor=actor)
    kept.clear()
    return retrieval


def _first_lists(search: Search, annotator: Annotator, actor: str, progress: Progress) -> BothLists | None:
    """Return the lists that a cascade begins with, searched now where they are missing; None without a cascade."""
    cascade = search.cascade_of(annotator)
    if cascade is None:
        return None
    if stored := _stored_first_lists(search):
        return stored
    plain = replace(search, annotators=[cascade.annotator], depth=cascade.depth, cascade=None)
    return load_lists(_retrieved(plain, cascade.annotator, None, actor, progress))


def _stored_first_lists(search: Search) -> BothLists | None:
    cascade = search.cascade
    if cascade is None:
        return None
    deep = retrievals_of(search, cascade.annotator).filter(depth__gte=cascade.depth).first()
    return {side: lists.top(cascade.depth) for side, lists in load_lists(deep).items()} if deep else None


def _searched(search: Search, annotator: Annotator, context: SearchContext) -> BothLists:
    opened = annotators.load(annotator, search.device)
    gallery = search.gallery
    if search.rerank:
        blocks = opened.scores(gallery.images, gallery.captions, cache=context.cache, progress=context.progress)
        return with_ids(gallery, topk_reranked(blocks, gallery, search.depth, search.rerank, context.progress))
    opened.check_pictures(gallery.images)
    return with_ids(gallery, find_top(opened, gallery, search.depth, context))


def _context(
    search: Search,
    annotator: Annotator,
    first: BothLists | None,
    kept: Checkpoints,
    confirm: Confirm | None = None,
    progress: Progress = silent,
) -> SearchContext:
    def confirm_pairs(scoring: Scoring) -> None:
        if confirm:
            confirm(estimate(annotator.name, scoring, search.cascade, device=search.device))

    return SearchContext(
        kept=kept,
        engine=search.engine,
        device=search.device,
        cache=annotators.open_cache(annotator),
        first=first,
        confirm=confirm_pairs,
        progress=_progress_of(annotator, progress),
    )


def _estimated(search: Search, annotator: Annotator) -> Estimate:
    context = _context(search, annotator, _stored_first_lists(search), open_checkpoints(search, annotator))
    with errors_of(annotator):
        opened = cast(CrossEncoder, annotators.load(annotator, search.device))
        return estimate(
            annotator.name, scoring_of(opened, search.gallery, context), search.cascade, device=search.device
        )


def _progress_of(annotator: Annotator, progress: Progress) -> Progress:
    """Prefix every step with the annotator's name."""
    return lambda step, done, total: progress(f"{annotator.name}: {step}", done, total)


@contextmanager
def errors_of(annotator: Annotator) -> Iterator[None]:
    """Prefix errors with the annotator's name."""
    try:
        yield
    except (CounterpartError, ValueError) as error:
        raise CounterpartError(f"{annotator.name}: {error}") from error
