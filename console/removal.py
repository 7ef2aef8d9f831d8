"""Remove things that nothing depends on."""

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Model

from console.inventory import Thing, find
from core.errors import CounterpartError, some_of
from core.events import record
from core.files import StoredFile, remove_file


def remove(word: str, name: str, *, actor: str) -> None:
    """Remove a thing that nothing depends on, with its files. Raises CounterpartError that says what does."""
    with transaction.atomic():
        thing, row = find(word, name)
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
