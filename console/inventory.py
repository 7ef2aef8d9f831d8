"""What there is: the kinds of things that the commands list, show and remove know."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Model, QuerySet

from console import inventory_rows as rows_of
from console.inventory_rows import Figures
from core.errors import CounterpartError, some_of
from core.events import record
from core.files import StoredFile, remove_file
from core.models import Job
from corpus.models import Collection, Gallery, Sample
from dataset.models import Version
from hits.models import Round
from mitl.models import Annotator, Pool, Retrieval
from mitl.search.store import delete_retrieval


@dataclass(frozen=True)
class Thing:
    """A kind of thing. ``line`` describes a row in a list, ``details`` what ``show`` adds to it; ``needed_by`` names
    what depends on it, and ``delete`` removes it and returns the stored files that go with it. ``key`` is the field
    that names a row."""

    rows: QuerySet[Any]
    made_by: str
    line: Callable[[Any], Figures]
    details: Callable[[Any], Figures]
    needed_by: Callable[[Any], Mapping[str, Iterable[Any]]]
    delete: Callable[[Any], list[StoredFile]]
    key: str = "name"


_named = Sample.objects.select_related("collection"), Pool.objects.select_related("collection", "sample")
THINGS: dict[str, Thing] = {
    "collections": Thing(
        Collection.objects.all(),
        "import_collection",
        rows_of.collection_line,
        rows_of.collection_details,
        rows_of.collection_needed,
        rows_of.delete_collection,
    ),
    "annotators": Thing(
        Annotator.objects.all(),
        "add_annotator",
        rows_of.annotator_line,
        rows_of.annotator_details,
        rows_of.annotator_needed,
        rows_of.delete_annotator,
    ),
    "samples": Thing(
        _named[0],
        "sample_queries",
        rows_of.sample_line,
        rows_of.sample_details,
        rows_of.sample_needed,
        rows_of.delete_row,
    ),
    "galleries": Thing(
        Gallery.objects.select_related("collection"),
        "import_gallery",
        rows_of.gallery_line,
        rows_of.gallery_details,
        rows_of.gallery_needed,
        rows_of.delete_gallery,
    ),
    "retrievals": Thing(
        Retrieval.objects.select_related("annotator", "collection", "sample", "gallery", "cascade"),
        "retrieve",
        rows_of.retrieval_line,
        rows_of.retrieval_details,
        rows_of.retrieval_needed,
        delete_retrieval,
        key="pk",
    ),
    "pools": Thing(
        _named[1], "the command pool", rows_of.pool_line, rows_of.pool_details, rows_of.pool_needed, rows_of.delete_row
    ),
    "rounds": Thing(
        Round.objects.all(),
        "pack or plan_round",
        rows_of.round_line,
        rows_of.round_details,
        rows_of.round_needed,
        rows_of.delete_round,
    ),
    "versions": Thing(
        Version.objects.select_related("collection", "sample"),
        "release",
        rows_of.version_line,
        rows_of.version_details,
        rows_of.version_needed,
        rows_of.delete_row,
    ),
    "jobs": Thing(
        Job.objects.all(),
        "plan_round --background",
        rows_of.job_line,
        rows_of.job_details,
        rows_of.job_needed,
        rows_of.delete_job,
        key="pk",
    ),
}


def thing_named(word: str) -> Thing:
    """Return a kind of thing by its word, singular or plural. Raises CounterpartError for another word."""
    for plural, thing in THINGS.items():
        if word in (plural, singular(plural)):
            return thing
    raise CounterpartError(f"Unknown kind of thing {word!r}: use one of {', '.join(THINGS)}.")


def singular(word: str) -> str:
    """Return the word for one thing of a kind, given that for one or for many."""
    return f"{word.removesuffix('ies')}y" if word.endswith("ies") else word.removesuffix("s")


def find(word: str, name: str, *, lock: bool = False) -> tuple[Thing, Any]:
    """Return the kind and the row, locked for the rest of the transaction if ``lock``. Raises CounterpartError that
    lists what there is."""
    thing = thing_named(word)
    rows = thing.rows.select_for_update(of=("self",)) if lock else thing.rows.all()
    try:
        row = rows.filter(**{thing.key: name}).first()
    except (ValidationError, ValueError, OverflowError):  # of a key that is a number
        row = None
    if row is None:
        names = [str(key) for key in rows.values_list(thing.key, flat=True)]
        known = f"there is {some_of(names)}" if names else f"there is none yet; make one with {thing.made_by}"
        raise CounterpartError(f"There is no {singular(word)} {name!r}; {known}.")
    return thing, row


def listed(word: str) -> list[Figures]:
    """Return a row of figures for each thing of a kind."""
    thing = thing_named(word)
    return [
        {thing.key if thing.key == "name" else "number": _key(thing, row)} | thing.line(row) for row in thing.rows.all()
    ]


def shown(word: str, name: str) -> Figures:
    """Return all that is known of one thing. Raises CounterpartError as ``find`` does."""
    thing, row = find(word, name)
    return {singular(word): _key(thing, row), **thing.line(row), **thing.details(row)}


def counts() -> dict[str, int]:
    """Return how many things of each kind there are."""
    return {word: thing.rows.count() for word, thing in THINGS.items()}


def _key(thing: Thing, row: Model) -> Any:
    key = getattr(row, thing.key)
    return key if isinstance(key, int) else str(key)


def remove(word: str, name: str, *, actor: str) -> None:
    """Remove a thing that nothing depends on, with its files. Raises CounterpartError that says what does."""
    with transaction.atomic():
        thing, row = find(word, name, lock=True)
        check_removable(thing, row)
        record("removed", row, actor=actor, name=name)
        files = thing.delete(row)
        transaction.on_commit(lambda: _remove_files(files))


def _remove_files(files: Iterable[StoredFile]) -> None:
    for file in files:
        remove_file(file)


def check_removable(thing: Thing, row: Model) -> None:
    """Raise CounterpartError that says what depends on the row."""
    needed = {what: [str(one) for one in rows] for what, rows in thing.needed_by(row).items()}
    if found := [f"{len(names)} {what} ({some_of(names)})" for what, names in needed.items() if names]:
        raise CounterpartError(f"{row} cannot be removed: {', '.join(found)} depend on it.")
