"""Runs: register a model's rankings of a collection, mark suspicious ones, and read them again."""

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.db import transaction
from numpy.typing import NDArray

from core.errors import CounterpartError, some_of
from core.events import record
from core.files.stored_files import copy_file, local_copy, remove_file
from core.progress import Progress, silent
from core.text import trimmed
from corpus.matches import known_pairs
from corpus.models import Collection, Match
from counterpart_metrics import METRICS, Qrels, Rankings
from counterpart_metrics.arrays import DIRECTIONS
from counterpart_metrics.needed_lists import EVERY_FIRST, EVERYTHING, Needs, joined, needs_of
from counterpart_metrics.ranking_blocks import Block
from counterpart_metrics.targets import Reading, Target
from counterpart_statistics.suspicion import FEWEST, Watch
from dataset.models import Version
from evaluation.models import Run
from evaluation.ranking_files import check_form, ids_of, stream_rankings
from mitl.models import Direction, Retrieval
from mitl.search.gallery import load_lists

MAX_MODEL = 80


def check_model(name: str) -> str:
    """Return the name of a model without blanks at its ends. Raises CounterpartError if it is empty or too long."""
    name = trimmed(name)
    if not name or len(name) > MAX_MODEL or not name.isprintable():
        raise CounterpartError(f"Invalid model name {name[:MAX_MODEL]!r}: use 1 to {MAX_MODEL} characters on one line.")
    return name


@dataclass(frozen=True)
class OpenRun:
    """Rankings on their way to scores: those of a run, or of one that is new and has no row.

    ``read`` yields what is needed of them. Those of a new run are looked over while they are read; once all were read,
    ``kept`` makes its row. ``path`` is the file to be stored with it.
    """

    run: Run
    read: Callable[[Needs], Iterator[Block]]
    path: Path | None = None

    @property
    def is_new(self) -> bool:
        """Whether the run has no row, or one of an earlier program that knows no rankings."""
        return self.run.pk is None

    def blocks(self, needs: Needs) -> Iterator[Block]:
        """Yield what is needed of the rankings, once."""
        if self.is_new:
            return _looked_over(self, needs)
        return self.read(needs) if needs else iter(())


def open_run(run: Run, *, progress: Progress = silent) -> OpenRun:
    """Return the rankings of a run. Reading raises CounterpartError if they were not kept, or were changed."""
    return OpenRun(run, lambda needs: read_run(run, needs=needs, progress=progress))


def open_file(
    collection: Collection,
    path: Path,
    *,
    file_name: str = "",
    model: str = "",
    by: User | None = None,
    progress: Progress = silent,
) -> OpenRun:
    """Return the rankings of a file, of the run that has the same ones under the same name or of a new one.

    Args:
        file_name: the name whose suffix gives the form; that of ``path`` by default.
        model: name of the model; by default the file's, without its suffix.

    Raises:
        CounterpartError: for an invalid name; reading, for what ``ranking_files.stream_rankings`` refuses.
    """
    file_name = file_name or path.name
    check_form(path, file_name)
    model = check_model(model or Path(file_name).stem)
    with path.open("rb") as content:
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
    if known := Run.objects.filter(collection=collection, model=model, sha256=sha256).exclude(file="").first():
        return open_run(known, progress=progress)
    stored = f"runs/{collection.name}/{sha256}{Path(file_name).suffix.lower()}"
    new = {"collection": collection, "model": model, "sha256": sha256, "registered_by": by}
    return OpenRun(
        Run(**new, file=stored, file_name=file_name),
        lambda needs: stream_rankings(path, ids_of(collection), name=file_name, needs=needs, progress=progress),
        path,
    )


def register_file(collection: Collection, path: Path, *, model: str = "", progress: Progress = silent) -> Run:
    """Read a file of rankings through, store it, and return its run; store nothing if reading raises."""
    opened = open_file(collection, path, model=model, progress=progress)
    deque(opened.blocks({}), maxlen=0)
    with kept([opened]) as (run,):
        return run


@contextmanager
def kept(opened: Sequence[OpenRun]) -> Iterator[list[Run]]:
    """Give the runs whose rankings were read, those that are new with their file and row, in the transaction of the
    body: all of them, or after an error none."""
    new = [one.run for one in opened if one.is_new]
    try:
        for one in opened:
            if one.path and not default_storage.exists(one.run.file):
                copy_file(one.path, one.run.file)
        with transaction.atomic():
            yield [_register(one.run) if one.is_new else one.run for one in opened]
    except BaseException:
        for run in new:
            forget_file(run)
        raise


def open_annotators(version: Version) -> list[OpenRun]:
    """Return the rankings of the annotators behind a version's rounds, by name: their retrieved lists.

    Raises CounterpartError for a version without rounds.
    """
    latest = latest_retrievals(version)
    if not latest:
        raise CounterpartError(f"Version {version} has no rounds and therefore no annotators. Pass --rankings FILE.")
    return [_open_retrieval(version.collection, name, retrieval) for name, retrieval in latest.items()]


def latest_retrievals(version: Version) -> dict[str, Retrieval]:
    """Return the latest search behind a version's rounds of each annotator, by name."""
    retrievals = Retrieval.objects.filter(pools__rounds__versions=version).select_related("annotator").distinct()
    return {retrieval.annotator.name: retrieval for retrieval in retrievals.order_by("annotator__name", "id")}


def read_run(run: Run, *, needs: Needs = EVERYTHING, progress: Progress = silent) -> Iterator[Block]:
    """Yield the rankings of a run in blocks; of embeddings, what is needed.

    Raises CounterpartError if they were not kept, or were changed.
    """
    if run.retrieval is not None:
        yield from _retrieved(run.retrieval)
    elif run.file:
        ids = ids_of(run.collection)
        yield from stream_rankings(local_copy(run.stored), ids, name=run.file_name, needs=needs, progress=progress)
    else:
        raise CounterpartError(f"The rankings of {run} were not kept. Register their file again.")


def forget_file(run: Run) -> None:
    """Remove the file of a run that was not kept, unless another run has the same one."""
    if run.file and not Run.objects.filter(file=run.file).exists():
        remove_file(run.stored)


def _retrieved(retrieval: Retrieval) -> Iterator[Block]:
    for direction, lists in load_lists(retrieval).items():
        order = np.argsort(lists.queries)
        items = np.where(lists.items == 0, -1, lists.items)[order]  # shorter lists are padded with item 0
        yield Block(direction.value, Rankings(lists.queries[order], items, lists.scores[order].astype(np.float64)))


def _open_retrieval(collection: Collection, name: str, retrieval: Retrieval) -> OpenRun:
    known = Run.objects.filter(collection=collection, model=name, sha256=retrieval.sha256).first()
    if known and known.retrieval_id:
        return open_run(known)
    new = Run(collection=collection, model=name, sha256=retrieval.sha256, retrieval=retrieval)
    return OpenRun(new, lambda _needs: _retrieved(retrieval))


def _register(run: Run) -> Run:
    # Under its own name a model may come again, with longer lists.
    alike = Run.objects.filter(collection=run.collection, digest=run.digest).exclude(model=run.model)
    if copies := sorted(set(alike.values_list("model", flat=True))):
        run.marks[Run.Mark.COPY.value] = some_of(copies)
    fields = ("file", "file_name", "retrieval", "digest", "marks", "registered_by")
    found, created = Run.objects.update_or_create(
        collection=run.collection,
        model=run.model,
        sha256=run.sha256,
        defaults={name: getattr(run, name) for name in fields},
    )
    actor = str(run.registered_by or "command")
    record("registered" if created else "restored", found, actor=actor, model=run.model, marks=list(run.marks))
    return found


def _looked_over(opened: OpenRun, needs: Needs) -> Iterator[Block]:
    """Yield all rankings of a new run; at their end note the digest of their lists and the marks of suspicion."""
    run = opened.run
    watch = Watch()
    original = Reading(run.model, original_target(run.collection, ["R-Precision"]))
    for block in opened.read(joined(needs, EVERY_FIRST, needs_of([original]))):
        watch.add(list(DIRECTIONS).index(block.direction), block.rankings)
        original.add(block)
        yield block
    signs = {
        Run.Mark.ORIGINAL: _all_right(original),
        Run.Mark.CONSTANT: watch.constant,
        Run.Mark.BY_ID: watch.by_id,
    }
    run.digest = watch.digest
    run.marks = {mark.value: "" for mark, is_set in signs.items() if is_set}


def original_target(
    collection: Collection, metrics: Iterable[str], queries: Mapping[Direction, NDArray[np.int64]] | None = None
) -> Target:
    """Return the collection's original matches alone as a target of scoring; where ``queries`` are given, theirs."""
    qrels = {
        direction: one.of_queries(np.isin(one.queries, queries[direction])) if queries else one
        for direction, one in original_qrels(collection).items()
    }
    return target_of_collection("the original matches", collection, metrics, qrels)


def original_qrels(collection: Collection) -> dict[Direction, Qrels]:
    """Return the original matches by direction."""
    has_any = Match.objects.filter(collection=collection, source=Match.ORIGINAL).exists()
    pairs = known_pairs(collection, Match.ORIGINAL) if has_any else np.zeros((0, 2), np.int64)
    sides = zip(Direction, (pairs.T, pairs.T[::-1]), strict=True)
    return {direction: Qrels.of_pairs(asking, items) for direction, (asking, items) in sides}


def target_of_collection(
    name: str, collection: Collection, metrics: Iterable[str], qrels: Mapping[Direction, Qrels]
) -> Target:
    by_direction = {direction.value: one for direction, one in qrels.items()}
    chosen = {metric: METRICS[metric] for metric in metrics}
    return Target.of(name, chosen, by_direction, cache(partial(ids_of, collection)))


def _all_right(original: Reading) -> bool:
    values = np.concatenate([values.ravel() for parts in original.low.values() for values in parts])
    values = values[~np.isnan(values)]
    return len(values) >= FEWEST and bool((values == 1).all())
