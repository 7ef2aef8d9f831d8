"""Matches known from elsewhere: imported under a source's name, and read as pairs of row ids."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from django.db import IntegrityError, transaction
from django.db.models import Min, Q
from numpy.typing import NDArray

from core.errors import CounterpartError, some_of
from core.events import record
from core.files.zip_files import is_archive, unpack
from core.progress import Progress, silent, tracked
from core.text import counted
from corpus.batches import begin_batch
from corpus.match_files import FileKeys, Pair, keys_of, read_pairs
from corpus.models import Batch, Collection, Match

BATCH = 5_000
MAX_SOURCE = 80
SUFFIXES = (".json", ".jsonl", ".csv", ".tsv", ".qrels", ".parquet", ".txt", ".gz")
UNUSABLE = re.compile(r"[\s,<>=]")  # in the terms of release --merge
Rating = tuple[float | None, int | None]  # score and grade


@dataclass(frozen=True)
class MatchSummary:
    """The counts of an import of matches, in pairs.

    ``repeated`` pairs occurred in the file again with another score or grade: the first one counts.
    ``skipped`` pairs have an image or caption that is not in the collection. ``automatic`` pairs were rejected by a
    program, and are not imported. ``unread`` are further columns. ``undo`` takes ``batch`` back.
    """

    collection: str
    source: str
    added: int
    there: int
    repeated: int
    skipped: int
    automatic: int = 0
    unread: tuple[str, ...] = ()
    batch: str = ""

    def __str__(self) -> str:
        parts = [
            f"{counted(self.added, 'match', 'matches')} added" if self.added else "",
            f"{counted(self.there, 'match', 'matches')} already imported" if self.there else "",
            f"{self.repeated:,} repeated with another score ignored" if self.repeated else "",
            f"{self.skipped:,} with unknown ids skipped" if self.skipped else "",
            f"{self.automatic:,} that a program rejected left out" if self.automatic else "",
            f"{counted(len(self.unread), 'column')} not read: {some_of(self.unread)}" if self.unread else "",
            f"undo {self.batch} takes it back" if self.batch else "",
        ]
        text = "; ".join(part for part in parts if part)
        return f"{self.source}: {text}{'.' if self.added else '; nothing changed.'}"


@dataclass
class _Found:
    """The pairs of a file by (image, caption) row ids, in its order, and the pairs that were not used."""

    ratings: dict[tuple[int, int], Rating] = field(default_factory=dict)
    repeated: int = 0
    skipped: int = 0
    automatic: int = 0
    unknown_images: dict[str, None] = field(default_factory=dict)
    unknown_captions: dict[str, None] = field(default_factory=dict)


def import_matches(
    collection: Collection,
    *,
    source: str,
    path: Path,
    direction: str = "",
    skip_unknown: bool = False,
    actor: str = "command",
    progress: Progress = silent,
) -> MatchSummary:
    """Add the pairs of ``path`` to the matches of ``source``; existing pairs do not change.

    The file, or that of a folder or archive, is a table with image and caption (score, grade), such as a version's
    pairs or CxC's CSV; qrels; or a JSON object of one direction. ``direction`` ("i2t": its queries are images; "t2i":
    captions) is needed if neither its name nor its ids show it. Captions are identified by key, images by key or file
    name. Every score is kept.

    Raises CounterpartError for a malformed file, for unknown ids unless ``skip_unknown``, and for an existing pair
    with another score or grade.
    """
    check_source(collection, source)
    keys = keys_of(collection)
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) / path.stem
        inside = unpack(path, folder, suffixes=SUFFIXES, left_out=[]) if is_archive(path) else path
        pairs, unread = read_pairs(inside, keys=keys, direction=direction)
        resolved = _resolve(tracked(pairs, "reading matches", progress), keys)
    _check_found(resolved, collection, path, skip_unknown)
    new = _new_ratings(collection, source, resolved.ratings)
    batch = ""
    if new:
        batch = _write(collection, source, new, path, actor)
    existing = len(resolved.ratings) - len(new)
    counts = (len(new), existing, resolved.repeated, resolved.skipped, resolved.automatic)
    return MatchSummary(collection.name, source, *counts, tuple(unread), batch)


def known_pairs(
    collection: Collection,
    source: str,
    *,
    min_score: float | None = None,
    max_grade: int | None = None,
    min_grade: int | None = None,
) -> NDArray[np.int64]:
    """Return the pairs of a source as sorted rows (image id, caption id) of database ids; shape (n, 2).

    ``min_score`` keeps only pairs with at least this score; ``max_grade`` drops pairs with a worse grade and keeps
    those without a grade; ``min_grade`` keeps those with this grade or a worse one. Raises CounterpartError if the
    collection has no matches from this source.
    """
    matches = Match.objects.filter(collection=collection, source=source)
    chosen = matches
    if min_score is not None:
        chosen = chosen.filter(score__gte=min_score)
    if max_grade is not None:
        chosen = chosen.filter(Q(grade__lte=max_grade) | Q(grade=None))
    if min_grade is not None:
        chosen = chosen.filter(grade__gte=min_grade)
    rows = list(chosen.order_by("image_id", "caption_id").values_list("image_id", "caption_id"))
    if not rows and not matches.exists():
        raise CounterpartError(
            f"Collection {collection.name} has no matches from {source!r}; "
            f"its sources are: {some_of(sources_of(collection)) or 'none yet'}."
        )
    return np.array(rows, dtype=np.int64).reshape(-1, 2)


def sources_of(collection: Collection) -> list[str]:
    """Return the names of the collection's match sources: a look into the index for each, however many rows it has."""
    found = list[str]()
    last = ""
    while last := collection.matches.filter(source__gt=last).aggregate(first=Min("source"))["first"]:
        found.append(last)
    return sorted(found)


def seal_source(collection: Collection, source: str) -> None:
    """Forbid later changes to the source's matches. Call it in the transaction that writes the last of them."""
    locked = Collection.objects.select_for_update().get(pk=collection.pk)
    locked.sealed_sources = sorted({*locked.sealed_sources, source})
    locked.save(update_fields=["sealed_sources"])


def check_source(collection: Collection, source: str) -> None:
    """Raise CounterpartError for a name that imported matches cannot have in the collection."""
    if not source or len(source) > MAX_SOURCE or UNUSABLE.search(source):
        raise CounterpartError(
            f"Invalid source {source!r}: use 1 to {MAX_SOURCE} characters without blanks, commas, <, > and =."
        )
    if source == Match.ORIGINAL:
        raise CounterpartError(f"The source {source!r} is reserved for import_collection; choose another name.")
    if source in Collection.objects.values_list("sealed_sources", flat=True).get(pk=collection.pk):
        raise CounterpartError(
            f"The source {source!r} is part of a released version, which never changes; choose another name."
        )


def _resolve(pairs: Iterator[Pair], keys: FileKeys) -> _Found:
    resolved = _Found()
    for pair in pairs:
        if pair.automatic:
            resolved.automatic += 1
            continue
        image = keys.image(pair.image)
        caption = keys.caption(pair.caption)
        if image is None or caption is None:
            resolved.skipped += 1
            if image is None:
                resolved.unknown_images[pair.image] = None
            if caption is None:
                resolved.unknown_captions[pair.caption] = None
            continue
        rating = (pair.score, pair.grade)
        resolved.repeated += resolved.ratings.setdefault((image, caption), rating) != rating
    return resolved


def _check_found(found: _Found, collection: Collection, path: Path, skip_unknown: bool) -> None:
    if not found.ratings and not found.skipped:
        raise CounterpartError(f"{path.name} contains no pairs.")
    unknown = [
        f"{len(ids):,} {things}: {some_of(list(ids))}"
        for things, ids in (("images", found.unknown_images), ("captions", found.unknown_captions))
        if ids
    ]
    if unknown and not skip_unknown:
        raise CounterpartError(
            f"{path.name} has ids that are not in collection {collection.name} ({'; '.join(unknown)}). "
            "Add them with import_collection --append, or pass --skip-unknown."
        )


def _new_ratings(
    collection: Collection, source: str, ratings: dict[tuple[int, int], Rating]
) -> dict[tuple[int, int], Rating]:
    """Return the pairs that the source does not have yet. Raises CounterpartError if it rates a pair differently."""
    new = dict(ratings)
    other = []
    rows = Match.objects.filter(collection=collection, source=source).values_list(
        "image_id", "caption_id", "image__key", "caption__key", "score", "grade"
    )
    for image, caption, image_key, caption_key, score, grade in rows.iterator(chunk_size=BATCH):
        if new.pop((image, caption), (score, grade)) != (score, grade):
            other.append(f"image {image_key} and caption {caption_key}")
    if other:
        raise CounterpartError(
            f"The source {source!r} has another score or grade for {len(other):,} of these pairs: {some_of(other)}. "
            "Import the file under another source name."
        )
    return new


def _write(collection: Collection, source: str, new: dict[tuple[int, int], Rating], path: Path, actor: str) -> str:
    """Write a batch of matches; return its name."""
    try:
        with transaction.atomic():
            Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
            check_source(collection, source)  # a release may have sealed it since
            batch = begin_batch(collection, Batch.Kind.MATCHES, actor=actor, path=path, source=source, matches=len(new))
            owner = {"collection_id": collection.pk, "source": source, "batch_id": batch.pk}
            Match.objects.bulk_create(
                (
                    Match(image_id=image, caption_id=caption, score=score, grade=grade, **owner)
                    for (image, caption), (score, grade) in new.items()
                ),
                batch_size=BATCH,
            )
            record("matches imported", collection, actor=actor, source=source, matches=len(new), batch=batch.name)
            return batch.name
    except IntegrityError as error:
        raise CounterpartError(f"Another process imported {source!r} at the same time. Import again.") from error
