"""Batches: what each import brought into a collection, under a name by which it can be undone."""

from pathlib import Path

from core.errors import CounterpartError
from core.text import counted
from corpus.models import Batch, Collection

COUNTED = {
    "captions": ("caption", "captions"),
    "images": ("image", "images"),
    "pictures": ("picture", "pictures"),
    "matches": ("match", "matches"),
    "judgments": ("judgment", "judgments"),
    "answer_sets": ("answer set", "answer sets"),
}


def begin_batch(
    collection: Collection,
    kind: Batch.Kind,
    *,
    actor: str,
    path: Path | None = None,
    source: str = "",
    language: str = "",
    **counts: int,
) -> Batch:
    """Make the batch of an import, under the next free name ``COLLECTION-NUMBER``. Call it in the transaction that
    writes the rows: they point to it, and the collection is locked for the rest of it. ``counts`` are by the keys of
    COUNTED."""
    Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
    number = collection.batches.count() + 1
    while Batch.objects.filter(name=f"{collection}-{number}").exists():  # named so by a person
        number += 1
    return Batch.objects.create(
        name=f"{collection}-{number}",
        collection=collection,
        kind=kind,
        source=source,
        file=path.name[:255] if path else "",
        language=language,
        counts={what: count for what, count in counts.items() if count},
        by=actor[:100],
    )


def undone_in(collection: Collection) -> int:
    """Return how many imports were undone: with ``refuse_undone``, whether rows that were read are still there."""
    return collection.batches.exclude(undone_at=None).count()


def refuse_undone(collection: Collection, before: int) -> None:
    """Raise CounterpartError where more imports were undone than ``before``. Call it in the transaction that writes
    what was made of the rows: the collection is locked for the rest of it."""
    held = Collection.objects.select_for_update(no_key=True).filter(pk=collection.pk).first()
    if held is None or undone_in(held) != before:
        raise CounterpartError(f"An import into {collection} was undone meanwhile. Do the same again.")


def contents_of(batch: Batch) -> str:
    """Say what a batch brought: "25 captions, 5 images"; whether it was from before batches were kept."""
    if batch.counts is None:
        return "imported before batches were kept"
    counts = batch.counts
    return ", ".join(counted(counts[what], *words) for what, words in COUNTED.items() if what in counts) or "nothing"
