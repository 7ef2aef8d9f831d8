"""A search by parts: encode the items part by part, scan the parts, merge what they gave, on one of the engines.

The lists are those of ``retrieve``, byte for byte, where all processes have the same kind of processor. What is made
on the way is in the storage, in the folder of the search, so that the same search resumes from there.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import groupby, islice
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from numpy.typing import NDArray

import corpus.models
from core.errors import CounterpartError
from core.files.stored_files import Part, Rows, StoredFile, local_copy, row_blocks, write_arrays
from core.models import Job
from core.progress import Progress, silent
from core.work.jobs import Cancelled, JobProgress, open_once
from corpus.galleries.found_rows import rows_of
from corpus.galleries.item_parts import CAPTIONS, IMAGES, parts_of, parts_of_queries, parts_of_rows
from corpus.models import Collection, Sample
from counterpart_annotators.encoding import CHUNK, Embeddings
from mitl.models import Annotator, Direction, Retrieval
from mitl.search.engines import Run, engine_of
from mitl.search.gallery import Places, SearchGallery, open_gallery
from mitl.search.gallery_embeddings import kept_in
from mitl.search.plans import (
    Encode,
    Scan,
    SearchPlan,
    Unit,
    encoder_of,
    encoding_threads,
    end_plan,
    read_embeddings,
    remove_abandoned,
    remove_folder,
    store_array,
)
from mitl.search.request import Search
from mitl.search.retrieval import errors_of
from mitl.search.search_report import report_search
from mitl.search.store import find_retrieval, prefix_of_lists, store_retrieval

if TYPE_CHECKING:  # torch takes seconds
    from counterpart_topk.ranking import Ranking

Blocks = Callable[[], Iterator["Ranking"]]
"""Reads the lists of a direction again, block after block of its queries."""

TASK = "mitl.tasks.retrieve_by_parts"
SEARCHES = "searches"  # the folder of the storage with all that is under way
ROWS = 65_536  # of a part, unless their number is given: 128 MB of embeddings of 512 dimensions
ASKING = {Direction.IMAGE_TO_CAPTION: IMAGES, Direction.CAPTION_TO_IMAGE: CAPTIONS}
ASKED = {Direction.IMAGE_TO_CAPTION: CAPTIONS, Direction.CAPTION_TO_IMAGE: IMAGES}
STEPS = (
    "items",
    "encode-images",
    "encode-captions",
    "queries",
    "encode-queries-images",
    "encode-queries-captions",
    "scan-i2t",
    "scan-t2i",
)


def checked_opening(
    search: Search, annotator: Annotator, *, engine: str, shards: int | None, by: User | None = None
) -> Callable[[], Job]:
    """Return what opens the job of one annotator's search by parts. A live job of the same search is returned as it is.

    Raises CounterpartError as ``retrieve_by_parts`` does.
    """
    gallery = search.gallery
    device = search.device
    search = replace(search, device="cpu").checked()  # the workers' device, not that of this process
    with errors_of(annotator):
        _check(annotator, shards)
    engine_of(engine)
    same = {
        "collection": gallery.collection.name,
        "queries": gallery.sample.name if gallery.sample else "",
        "gallery": gallery.listed.name if gallery.listed else "",
        "annotator": annotator.name,
        "depth": search.depth,
        "fingerprint": search.fingerprint(annotator),
    }
    how = {"device": device, "engine": engine, "shards": shards}
    title = f"Retrieve {annotator} over {gallery.listed or gallery.sample or gallery.collection}"
    return partial(open_once, title, TASK, same | how, lock=annotator, same=same, by=by)


def retrieve_for(job: Job, progress: JobProgress) -> Retrieval:
    """Make the search of a job. Raises CounterpartError where annotator or gallery changed since it was opened."""
    params = job.params
    annotator = Annotator.objects.named(params["annotator"])
    sample = Sample.objects.named(params["queries"]) if params["queries"] else None
    listed = corpus.models.Gallery.objects.named(params["gallery"]) if params["gallery"] else None
    gallery = open_gallery(Collection.objects.named(params["collection"]), sample, listed)
    search = Search(gallery, [annotator], params["depth"], device=params["device"])
    if search.fingerprint(annotator) != params["fingerprint"]:
        raise CounterpartError(f"{annotator} or the gallery changed during the search; start it again.")
    how = {"engine": params["engine"], "shards": params["shards"]}
    try:
        return retrieve_by_parts(search, annotator, **how, actor=job.actor, progress=progress)
    except Cancelled:
        job.refresh_from_db(fields=["cancel_requested"])
        if job.cancel_requested:  # else another worker resumes from these files
            _remove(search, annotator, _rows_a_part(gallery, params["shards"]))
        raise


def retrieve_by_parts(
    search: Search,
    annotator: Annotator,
    *,
    engine: str,
    shards: int | None = None,
    actor: str = "retrieve",
    progress: Progress = silent,
) -> Retrieval:
    """Return the stored result of one annotator's plain, exact search, made now where it is missing.

    Args:
        engine: ``request.RunOn``, where the units run.
        shards: number of parts of the longer side; None: parts of 65,536 rows. Those of a gallery beyond rows stay as
            they are, and about this number of groups of them are scanned.

    Raises:
        CounterpartError: as ``retrieve``; for annotators that do not search by inner products, for an engine that
            cannot be used here, for less than one part, and where another process ended the same search.
    """
    search = search.checked()
    if stored := find_retrieval(search, annotator):
        return stored
    started = perf_counter()
    rows = _rows_a_part(search.gallery, shards)
    folder = _folder_of(search, annotator, rows)
    remove_abandoned(SEARCHES)
    with errors_of(annotator):
        _check(annotator, shards)
    runs_on = engine_of(engine)
    try:
        with errors_of(annotator), runs_on.connected() as run:
            lists = _Search(search, annotator, run, folder, rows, progress).found()
    except CounterpartError:
        _remove(search, annotator, rows)
        if stored := find_retrieval(search, annotator):
            return stored  # by another process, which removed the files under our hands
        raise
    arrays: dict[str, NDArray | Rows] = {}
    for direction, blocks in lists.items():
        arrays |= _arrays_of(search.gallery, direction, blocks, actor, progress)
    file = write_arrays(prefix_of_lists(search, annotator), **arrays)
    report = report_search({one: _stored_blocks(file, one) for one in lists}, search.gallery.shape)
    with transaction.atomic():
        Annotator.objects.select_for_update(no_key=True).get(pk=annotator.pk)
        seconds = perf_counter() - started
        made = find_retrieval(search, annotator) or store_retrieval(
            search, annotator, file, seconds, report=report, actor=actor
        )
    _remove(search, annotator, rows)
    return made


@dataclass(frozen=True)
class _Search:
    """One search under way: its steps, each from the results of the one before."""

    search: Search
    annotator: Annotator
    run: Run
    folder: str
    rows: int
    progress: Progress

    def found(self) -> dict[Direction, Blocks]:
        """Return what was found, by direction."""
        gallery = self.search.gallery
        sides = {side: self.embeddings(side, items) for side, items in self.items().items()}
        return {
            direction: self.scanned(
                direction, self.queries(direction, sides[ASKING[direction]]), sides[ASKED[direction]]
            )
            for direction in gallery.directions
        }

    def items(self) -> dict[str, list[Part]]:
        """Return what is to be encoded, by side; rows are stored first."""
        if listed := self.search.gallery.listed:
            return parts_of(listed)
        self.progress(f"{self.annotator.name}: writing items", 0, None)
        return parts_of_rows(self.search.gallery.collection, f"{self.folder}/items", self.rows)

    def embeddings(self, side: str, items: list[Part]) -> list[Part]:
        """Return the embeddings of one side. Those of a gallery beyond rows are kept for other searches."""
        if listed := self.search.gallery.listed:
            kept = kept_in(listed, self.annotator, side)
            embeddings = self.encoded(kept, side, items)
            end_plan(kept)
            return embeddings
        return self.encoded(f"{self.folder}/encode-{side}", side, items)

    def encoded(self, folder: str, side: str, items: list[Part]) -> list[Part]:
        """Encode items part by part, as a plan of this folder."""
        encoder = encoder_of(self.annotator)
        threads = encoding_threads()
        units: list[Unit] = [Encode(encoder, side, part, self.search.device, threads) for part in items]
        results = self.results(folder, f"encoding parts of {side}", units)
        return [
            Part(stored.path, stored.sha256, part.first, part.rows) for part, stored in zip(items, results, strict=True)
        ]

    def queries(self, direction: Direction, side: list[Part]) -> list[Part]:
        """Return the embeddings of the queries in blocks: all parts of their side, or new parts of some of its rows.

        No rows are on a side beyond them: the queries are encoded apart.
        """
        gallery = self.search.gallery
        asking = ASKING[direction]
        if gallery.listed and gallery.sample:
            items = parts_of_queries(gallery.sample, f"{self.folder}/items", self.rows)
            return self.encoded(f"{self.folder}/encode-queries-{asking}", asking, items[asking])
        places = gallery.asks(direction)
        if len(places) == side[-1].first + side[-1].rows:
            return side
        blocks = []
        for first in range(0, len(places), self.rows):
            asked = _rows_of(side, places[first : first + self.rows])
            stored = store_array(f"{self.folder}/queries/{direction.value}-{first}", asked)
            blocks.append(Part(stored.path, stored.sha256, first, len(asked)))
        return blocks

    def scanned(self, direction: Direction, queries: list[Part], items: list[Part]) -> Blocks:
        """Search a side for blocks of queries. One block meets each part apart; of several, each meets all parts, so
        that no more than one list a query is ever stored."""
        from mitl.search.scan import merge, unpacked  # with torch, which takes seconds

        near = groupby(items, key=lambda part: part.first // self.rows)
        groups = [tuple(items)] if len(queries) > 1 else [tuple(group) for _, group in near]
        k = self.search.depth
        device = self.search.device
        units: list[Unit] = [Scan(block, group, k, device) for block in queries for group in groups]
        results = self.results(f"{self.folder}/scan-{direction.value}", f"scanning parts, {direction.value}", units)

        def blocks() -> Iterator["Ranking"]:
            rankings = (unpacked(np.load(local_copy(stored))) for stored in results)
            for _ in queries:
                yield reduce(merge, islice(rankings, len(groups)))

        return blocks

    def results(self, folder: str, step: str, units: list[Unit]) -> list[StoredFile]:
        """Have units run that have no result, and return all results in order."""
        plan = SearchPlan(folder, units)
        if plan.missing():
            plan.write()
            self.run(plan, lambda done: self.progress(f"{self.annotator.name}: {step}", done, len(units)))
        results = list(plan.results().values())
        if len(results) < len(units):
            raise CounterpartError("the search was ended by another process; start it again.")
        return results


def _check(annotator: Annotator, shards: int | None) -> None:
    if shards is not None and shards < 1:
        raise CounterpartError(f"a search needs at least 1 part, not {shards}.")
    encoder_of(annotator)


def _rows_a_part(gallery: SearchGallery, shards: int | None) -> int:
    """Return the rows of a part: whole batches of an encoder, the same batches as in a single run."""
    longest = max(gallery.shape)
    return ROWS if shards is None else int(np.ceil(longest / (max(shards, 1) * CHUNK))) * CHUNK


def _folder_of(search: Search, annotator: Annotator, rows: int) -> str:
    """Return the folder of a search: another one for everything that may change a bit of what is in it."""
    decides = (search.fingerprint(annotator), search.depth, search.device, rows, CHUNK, encoding_threads())
    return f"{SEARCHES}/{hashlib.sha256('|'.join(map(str, decides)).encode()).hexdigest()}"


def _remove(search: Search, annotator: Annotator, rows: int) -> None:
    """Remove what a search has in the storage; the embeddings of a gallery beyond rows stay."""
    folder = _folder_of(search, annotator, rows)
    for step in STEPS:
        remove_folder(f"{folder}/{step}")
    if listed := search.gallery.listed:
        for side in (IMAGES, CAPTIONS):
            end_plan(kept_in(listed, annotator, side))


def _arrays_of(
    gallery: SearchGallery, direction: Direction, blocks: Blocks, actor: str, progress: Progress
) -> dict[str, NDArray | Rows]:
    """Return one direction of what was found by ids, as ``store_lists`` names it, to be written block by block. Items
    beyond rows become rows."""
    queries = gallery.ids_of_queries(direction)[gallery.asks(direction)]
    if gallery.listed:
        taken = reduce(np.union1d, (block.places[block.places >= 0] for block in blocks()), np.empty(0, np.int64))
        ids = rows_of(gallery.listed, ASKED[direction], taken, actor=actor, progress=progress)
    else:
        taken = None
        ids = gallery.ids_of_items(direction)

    def ids_of(places: Places) -> Places:
        found = places if taken is None else np.searchsorted(taken, places)
        return np.where(places < 0, 0, ids[found])

    shape = len(queries), next(blocks()).places.shape[1]
    return {
        f"{direction.value}_queries": queries,
        f"{direction.value}_items": Rows(shape, np.int64, (ids_of(block.places) for block in blocks())),
        f"{direction.value}_scores": Rows(shape, np.float64, (block.scores for block in blocks())),
    }


def _stored_blocks(file: StoredFile, direction: Direction) -> Iterator[tuple[Places, NDArray[np.floating]]]:
    """Yield the items and scores of stored lists, block by block."""
    return zip(*(row_blocks(file, f"{direction.value}_{part}") for part in ("items", "scores")), strict=True)


def _rows_of(side: list[Part], places: Places) -> Embeddings:
    """Return the embeddings at some places, ascending, of a side."""
    bounds = np.searchsorted(places, [part.first for part in side] + [side[-1].first + side[-1].rows])
    taken = zip(side, bounds, bounds[1:], strict=False)
    return np.concatenate([read_embeddings(part)[places[a:b] - part.first] for part, a, b in taken if a < b])
