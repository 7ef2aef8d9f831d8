"""Retrieve: every annotator names the best captions of images and the best images of captions, once."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from django.db import transaction
from django.db.models import QuerySet

from corpus.models import Collection, Sample
from journal.errors import CounterpartError
from journal.events import record
from journal.progress import Progress, silent
from mitl import annotators as machines
from mitl.gallery import Gallery, open_gallery
from mitl.lists import BothLists, store_lists
from mitl.models import Annotator, Retrieval
from mitl.searching import ENGINES, check_device, search

DEPTH = 25


@dataclass(frozen=True)
class _Order:
    """One search that every annotator is asked for."""

    collection: Collection
    sample: Sample | None
    gallery: Gallery
    depth: int
    engine: str
    device: str


def retrieve(
    collection: Collection,
    *,
    annotators: Sequence[Annotator],
    sample: Sample | None = None,
    depth: int = DEPTH,
    engine: str = "blocked",
    device: str = "cpu",
    progress: Progress = silent,
) -> list[Retrieval]:
    """Write each annotator's top lists for a sample's queries against the whole gallery, in both directions.

    A search that was made already, by the same weights over the same gallery, is returned as it stands. Where
    the gallery has fewer than ``depth`` images or captions, lists are as long as it has.

    Args:
        sample: the queries; None asks for every image and every caption.
        engine: one of ENGINES; ``faiss`` only for machines with embeddings.
        device: where torch multiplies embeddings, ``cpu`` or ``cuda``.

    Returns:
        One Retrieval an annotator, in their order.

    Raises:
        CounterpartError: for an impossible depth, an unknown engine, an empty gallery, or a machine that cannot
            search it (no weights, no pictures, NaN, ids missing in its files).
    """
    if depth < 1:
        raise CounterpartError(f"Lists need a depth of at least 1, not {depth}.")
    if engine not in ENGINES:
        raise CounterpartError(f"There is no engine {engine!r}; choose one of {', '.join(ENGINES)}.")
    check_device(device)
    gallery = open_gallery(collection, sample)
    order = _Order(collection, sample, gallery, min(depth, gallery.depth), engine, device)
    return [_found_already(annotator, order) or _retrieved(annotator, order, progress) for annotator in annotators]


def newest_retrieval(annotator: Annotator, gallery: Gallery, sample: Sample | None, depth: int) -> Retrieval | None:
    """Return the last search for these queries, at least so deep, that the annotator as it is now has made."""
    return _searches(annotator, gallery, sample).filter(depth__gte=depth).first()


def fingerprint(annotator: Annotator, gallery: Gallery) -> str:
    """SHA-256 of all that decides what a search finds: kind, options and weights; gallery and queries."""
    searcher = json.dumps([annotator.kind, annotator.options, annotator.checksum], sort_keys=True)
    return hashlib.sha256(f"{searcher}|{gallery.digest}".encode()).hexdigest()


def _searches(annotator: Annotator, gallery: Gallery, sample: Sample | None) -> QuerySet[Retrieval]:
    return annotator.retrievals.filter(sample=sample, fingerprint=fingerprint(annotator, gallery))


def _found_already(annotator: Annotator, order: _Order) -> Retrieval | None:
    same = _searches(annotator, order.gallery, order.sample)
    return same.filter(depth=order.depth, engine=order.engine).first()


def _retrieved(annotator: Annotator, order: _Order, progress: Progress) -> Retrieval:
    started = perf_counter()
    lists = _searched(annotator, order, progress)
    artefact = store_lists(f"retrievals/{order.collection.name}/{annotator.name}", lists)
    with transaction.atomic():
        retrieval = Retrieval.objects.create(
            annotator=annotator,
            collection=order.collection,
            sample=order.sample,
            depth=order.depth,
            engine=order.engine,
            fingerprint=fingerprint(annotator, order.gallery),
            artefact=artefact.path,
            sha256=artefact.sha256,
            seconds=perf_counter() - started,
        )
        record("retrieved", retrieval, actor="retrieve", annotator=annotator.name, sha256=artefact.sha256)
    return retrieval


def _searched(annotator: Annotator, order: _Order, progress: Progress) -> BothLists:
    def named(step: str, done: int, total: int | None) -> None:
        progress(f"{annotator.name}: {step}", done, total)

    try:
        machine = machines.load(annotator)
        return search(
            machine, order.gallery, depth=order.depth, engine=order.engine, device=order.device, progress=named
        )
    except (CounterpartError, ValueError) as error:
        raise CounterpartError(f"{annotator.name}: {error}") from error
