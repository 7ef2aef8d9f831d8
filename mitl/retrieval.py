"""Retrieve: every annotator names the best captions of images and the best images of captions, once."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import cast

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from core.errors import CounterpartError, some_of
from core.events import record
from core.progress import Progress, silent
from corpus.models import Collection, Sample
from mitl import annotators as machines
from mitl.annotators import is_cross_encoder
from mitl.annotators.base import TOO_SLOW, CrossEncoder, SearchContext
from mitl.cascading import Cascade, check_cascade
from mitl.checkpoints import Checkpoints, remove_stale
from mitl.estimating import Estimate, estimate
from mitl.gallery import Gallery, open_gallery
from mitl.lists import BothLists, load_lists, store_lists, with_ids
from mitl.models import Annotator, Retrieval
from mitl.reranking import Choice, Steps, written
from mitl.search.pairs import Scoring
from mitl.search.quick import ENGINES, check_device, topk_reranked
from mitl.tuning import choose_steps

DEPTH = 25

# Told what a costly search is going to cost; may raise to have it left.
Confirm = Callable[[Estimate], None]
# Told what was tried for a machine's re-ranking, and what was chosen.
TellChoice = Callable[[Annotator, Choice], None]


@dataclass(frozen=True)
class Order:
    """One search that every annotator is asked for, which ``check_order`` makes possible."""

    collection: Collection
    sample: Sample | None
    gallery: Gallery
    depth: int
    engine: str
    device: str
    cascade: Cascade | None = None
    rerank: Steps = ()
    tune: TellChoice | None = None
    confirm: Confirm | None = None

    def cascade_of(self, annotator: Annotator) -> Cascade | None:
        """Return the cascade if it concerns this machine: only cross-encoders take their pairs from others."""
        return self.cascade if self.cascade and is_cross_encoder(annotator) else None

    def searches(self, annotator: Annotator) -> QuerySet[Retrieval]:
        """The searches there are of these queries by the annotator as it is, newest first; of any depth."""
        return annotator.retrievals.filter(
            sample=self.sample, fingerprint=self.fingerprint_of(annotator), engine=self.engine
        )

    def fingerprint_of(self, annotator: Annotator) -> str:
        """SHA-256 of all that decides what the annotator finds."""
        return fingerprint(annotator, self.gallery, self.cascade_of(annotator), self.rerank_as_text)

    @property
    def rerank_as_text(self) -> str:
        """The steps with all their settings; empty where there are none."""
        return written(self.rerank) if self.rerank else ""


def retrieve(
    collection: Collection,
    *,
    annotators: Sequence[Annotator],
    sample: Sample | None = None,
    depth: int = DEPTH,
    engine: str = "blocked",
    device: str = "cpu",
    cascade: Cascade | None = None,
    rerank: Steps = (),
    tune: TellChoice | None = None,
    confirm: Confirm | None = None,
    progress: Progress = silent,
) -> list[Retrieval]:
    """Write each annotator's top lists for a sample's queries against the whole gallery, in both directions.

    A search that was made already, by the same weights over the same gallery, is returned as it stands. Where
    the gallery has fewer than ``depth`` images or captions, lists are as long as it has. What was interrupted goes on
    to the same bytes as if it had not been: a cross-encoder from its last finished batches; a search of embeddings
    by all images and captions from its last strip of 8,192 images.

    Args:
        sample: the queries; None asks for every image and every caption.
        engine: one of ENGINES; ``faiss`` only for machines with embeddings.
        device: where torch multiplies embeddings and scores pairs, ``cpu`` or ``cuda``.
        cascade: cross-encoders score only the first places of this machine's lists, which are searched first where
            they are not there; other machines search as ever. None: all pairs with a query on either side.
        rerank: correct the scores of all machines for hubs, and match, before lists are taken (``mitl.reranking``);
            on the CPU, for machines with embeddings or scores that cost little. None: the plain search.
        tune: choose the settings, and how many of the steps, for each machine on the split ``val``; what is chosen is
            what is searched and stored. Is told of it. Costs as many passes over that split as there are choices.
        confirm: is told what each cross-encoder's search will cost before it starts, and stops it by raising.
            Telling takes about a second, or four batches.

    Returns:
        One Retrieval an annotator, in their order.

    Raises:
        CounterpartError: for an impossible depth, cascade or re-ranking, an unknown engine, an empty gallery, or a
            machine that cannot search it (no weights, no pictures, NaN, ids missing in its files, no scores to
            re-rank).
    """
    gallery = open_gallery(collection, sample)
    order = check_order(
        Order(collection, sample, gallery, depth, engine, device, cascade, rerank, tune, confirm), annotators
    )
    return [_retrieved_once(annotator, _tuned(annotator, order, progress), progress) for annotator in annotators]


def estimate_retrieval(
    collection: Collection,
    *,
    annotators: Sequence[Annotator],
    sample: Sample | None = None,
    depth: int = DEPTH,
    device: str = "cpu",
    cascade: Cascade | None = None,
    rerank: Steps = (),
) -> list[Estimate]:
    """Say what ``retrieve`` would cost each cross-encoder that has not searched this yet; nothing is searched.

    Where the lists of the cascade are not there yet, their pairs can only be bounded.

    Raises CounterpartError as ``retrieve`` does.
    """
    gallery = open_gallery(collection, sample)
    order = check_order(Order(collection, sample, gallery, depth, "blocked", device, cascade, rerank), annotators)
    return [
        _estimated(annotator, order)
        for annotator in annotators
        if is_cross_encoder(annotator) and not found_already(annotator, order)
    ]


def newest_retrieval(annotator: Annotator, gallery: Gallery, sample: Sample | None, depth: int) -> Retrieval | None:
    """Return the last search for these queries, at least so deep, that the annotator as it is now has made.

    Whether it scored all pairs or those of a cascade, and whether and how it was re-ranked, makes no difference, as
    long as the machine of the cascade is what it was too.
    """
    made = annotator.retrievals.filter(sample=sample, depth__gte=depth).select_related("cascade")
    return next((there for there in made if there.fingerprint == _fingerprint_now(there, annotator, gallery)), None)


def fingerprint(annotator: Annotator, gallery: Gallery, cascade: Cascade | None = None, rerank: str = "") -> str:
    """SHA-256 of all that decides what a search finds: kind, options and weights; gallery and queries; the same of
    a cascade's machine, and its depth; the steps of a re-ranking, every setting told."""
    searcher = json.dumps([annotator.kind, annotator.options, annotator.checksum], sort_keys=True)
    first = f"|{fingerprint(cascade.machine, gallery)}|{cascade.depth}" if cascade else ""
    then = f"|{rerank}" if rerank else ""
    return hashlib.sha256(f"{searcher}|{gallery.digest}{first}{then}".encode()).hexdigest()


def _fingerprint_now(there: Retrieval, annotator: Annotator, gallery: Gallery) -> str:
    cascade = Cascade(there.cascade, there.cascade_depth) if there.cascade and there.cascade_depth else None
    return fingerprint(annotator, gallery, cascade, there.rerank)


def check_order(order: Order, annotators: Sequence[Annotator]) -> Order:
    """Return the order, cut to what its gallery has. Raises CounterpartError where it is impossible."""
    if order.depth < 1:
        raise CounterpartError(f"Lists need a depth of at least 1, not {order.depth}.")
    if order.engine not in ENGINES:
        raise CounterpartError(f"There is no engine {order.engine!r}; choose one of {', '.join(ENGINES)}.")
    check_device(order.device)
    if order.tune and not order.rerank:
        raise CounterpartError("--tune chooses among the settings of --rerank; name its steps: --rerank csls,rgm.")
    if order.rerank:
        check_rerank(order.rerank, annotators, engine=order.engine, device=order.device)
    most = order.gallery.depth
    order = replace(order, depth=min(order.depth, most))
    if order.cascade is None:
        return order
    check_cascade(order.cascade, annotators, order.depth)
    return replace(order, cascade=replace(order.cascade, depth=min(order.cascade.depth, most)))


def check_rerank(steps: Steps, annotators: Sequence[Annotator], *, engine: str, device: str) -> None:
    """Raise CounterpartError for what re-ranking, which reads all scores, several times and here, cannot go with."""
    if engine != "blocked" or device != "cpu":
        raise CounterpartError(
            f"--rerank {written(steps)} reads all scores on the CPU, which --engine {engine} with --device {device}"
            " does not give; use --engine blocked and --device cpu."
        )
    if costly := [annotator for annotator in annotators if is_cross_encoder(annotator)]:
        raise CounterpartError(f"{some_of(costly)}: {TOO_SLOW}")


def found_already(annotator: Annotator, order: Order) -> Retrieval | None:
    """Return the search that was made of just this, if there is one."""
    return order.searches(annotator).filter(depth=order.depth).first()


def _tuned(annotator: Annotator, order: Order, progress: Progress) -> Order:
    """Return the order with the steps that are best for this machine, if they are to be chosen."""
    if order.tune is None:
        return order
    with _named(annotator):
        choice = choose_steps(
            machines.load(annotator, order.device),
            order.collection,
            order.rerank,
            progress=_said_of(annotator, progress),
        )
    order.tune(annotator, choice)
    return replace(order, rerank=choice.best.steps)


def _retrieved_once(annotator: Annotator, order: Order, progress: Progress) -> Retrieval:
    return found_already(annotator, order) or _retrieved(annotator, order, progress)


def _retrieved(annotator: Annotator, order: Order, progress: Progress) -> Retrieval:
    cascade = order.cascade_of(annotator)
    first = _first_lists(cascade, order, progress) if cascade else None
    kept = open_checkpoints(annotator, order)
    started = perf_counter()
    with _named(annotator):
        lists = _searched(annotator, order, first, kept, progress)
    retrieval = store_retrieval(annotator, order, lists, perf_counter() - started)
    kept.clear()
    return retrieval


def _first_lists(cascade: Cascade, order: Order, progress: Progress) -> BothLists:
    """Return the first places of the lists that a cascade begins with; searched now where they are not there."""
    plain = replace(order, depth=cascade.depth, cascade=None)
    return _tops(_deep_enough(cascade, order) or _retrieved(cascade.machine, plain, progress), cascade)


def _deep_enough(cascade: Cascade, order: Order) -> Retrieval | None:
    return order.searches(cascade.machine).filter(depth__gte=cascade.depth).first()


def _tops(retrieval: Retrieval, cascade: Cascade) -> BothLists:
    return {direction: lists.top(cascade.depth) for direction, lists in load_lists(retrieval).items()}


def open_checkpoints(annotator: Annotator, order: Order) -> Checkpoints:
    """Return the place for a search's unfinished work; what others left there long ago is removed on the way."""
    root = settings.VAR_DIR / "partial"
    remove_stale(root)
    search = f"{order.fingerprint_of(annotator)}|{order.depth}|{order.engine}|{order.device}"
    return Checkpoints(root / hashlib.sha256(search.encode()).hexdigest())


def _searched(
    annotator: Annotator, order: Order, first: BothLists | None, kept: Checkpoints, progress: Progress
) -> BothLists:
    progress = _said_of(annotator, progress)
    opened, gallery = machines.load(annotator, order.device), order.gallery
    context = _context(annotator, order, first, kept, progress)
    if order.rerank:
        blocks = opened.scores(gallery.images, gallery.captions, cache=context.cache, progress=progress)
        return with_ids(gallery, topk_reranked(blocks, gallery, order.depth, order.rerank, progress))
    opened.check_pictures(gallery.images)
    return with_ids(gallery, opened.topk(gallery, order.depth, context))


def _context(
    annotator: Annotator, order: Order, first: BothLists | None, kept: Checkpoints, progress: Progress = silent
) -> SearchContext:
    def confirm(scoring: Scoring) -> None:
        if order.confirm:
            order.confirm(estimate(annotator.name, scoring, order.cascade, device=order.device))

    return SearchContext(kept, order.engine, order.device, machines.open_cache(annotator), first, confirm, progress)


def _said_of(annotator: Annotator, progress: Progress) -> Progress:
    """Put the machine's name before every step."""
    return lambda step, done, total: progress(f"{annotator.name}: {step}", done, total)


def _estimated(annotator: Annotator, order: Order) -> Estimate:
    there = _deep_enough(order.cascade, order) if order.cascade else None
    first = _tops(there, order.cascade) if there and order.cascade else None
    kept = open_checkpoints(annotator, order)
    with _named(annotator):
        machine = cast(CrossEncoder, machines.load(annotator, order.device))
        scoring = machine.scoring(order.gallery, _context(annotator, order, first, kept))
        return estimate(annotator.name, scoring, order.cascade, device=order.device)


def store_retrieval(annotator: Annotator, order: Order, lists: BothLists, seconds: float) -> Retrieval:
    """Keep what the annotator found as a file and a row, with its event. ``seconds``: how long it took."""
    stored = store_lists(f"retrievals/{order.collection.name}/{annotator.name}", lists)
    cascade = order.cascade_of(annotator)
    with transaction.atomic():
        retrieval = Retrieval.objects.create(
            annotator=annotator,
            collection=order.collection,
            sample=order.sample,
            depth=order.depth,
            engine=order.engine,
            cascade=cascade.machine if cascade else None,
            cascade_depth=cascade.depth if cascade else None,
            rerank=order.rerank_as_text,
            fingerprint=order.fingerprint_of(annotator),
            file=stored.path,
            sha256=stored.sha256,
            seconds=seconds,
        )
        record("retrieved", retrieval, actor="retrieve", annotator=annotator.name, sha256=stored.sha256)
    return retrieval


@contextmanager
def _named(annotator: Annotator) -> Iterator[None]:
    """Put the machine's name before what went wrong with it."""
    try:
        yield
    except (CounterpartError, ValueError) as error:
        raise CounterpartError(f"{annotator.name}: {error}") from error
