"""What there is, by kind: finding, listing, showing and removing a thing."""

from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Model

from console.inventory_rows import THINGS, Figures, Thing
from core.errors import CounterpartError, some_of
from core.events import record
from core.files import remove_file


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
    details = thing.details(row)
    return {
        singular(word): _key(thing, row),
        **thing.line(row),
        **details,
        "waits_for": details.get("waits_for", "nothing"),
    }


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
        for file in thing.delete(row):
            transaction.on_commit(partial(remove_file, file))


def check_removable(thing: Thing, row: Model) -> None:
    """Raise CounterpartError that says what depends on the row."""
    needed = {what: [str(one) for one in rows] for what, rows in thing.needed_by(row).items()}
    if found := [f"{len(names)} {what} ({some_of(names)})" for what, names in needed.items() if names]:
        raise CounterpartError(f"{row} cannot be removed: {', '.join(found)} depend on it.")
