"""Things of the site by kind: find, list, show and remove them."""

import json
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Model
from ninja import Schema
from ninja.responses import NinjaJSONEncoder

from console.inventory_rows import THINGS, Figures, Thing
from core.errors import CounterpartError, some_of
from core.events import record
from core.files.stored_files import remove_file
from core.text import find_named


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
    return thing, find_named(rows, name, made_by=thing.made_by, key=thing.key)


def listed(word: str) -> list[Figures]:
    """Return what the API says of each thing of a kind."""
    thing = thing_named(word)
    return [_figures(thing.answer, row) for row in thing.read(thing.rows.all())]


def shown(word: str, name: str) -> Figures:
    """Return what the API says of one thing. Raises CounterpartError as ``find`` does."""
    thing, row = find(word, name)
    return _figures(thing.detail or thing.answer, thing.read_one(row))


def _figures(answer: type[Schema], read: Any) -> Figures:
    found: Figures = json.loads(json.dumps(answer.model_validate(read).model_dump(), cls=NinjaJSONEncoder))
    return found


def counts() -> dict[str, int]:
    """Return how many things of each kind there are."""
    return {word: thing.rows.count() for word, thing in THINGS.items()}


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
