"""Things of the site by kind: find, list, show and remove them."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Model
from ninja import Schema
from ninja.responses import NinjaJSONEncoder

from console.inventory_rows import THINGS
from console.things import Figures, Thing
from core.errors import CounterpartError, some_of
from core.events import record
from core.files.stored_files import remove_file
from core.models import Job
from core.text import counted, find_named


def thing_named(word: str) -> Thing:
    """Return a kind of thing by its word, singular or plural. Raises CounterpartError for another word."""
    for plural, thing in THINGS.items():
        if word in (plural, singular(plural)):
            return thing
    raise CounterpartError(f"Unknown kind of thing {word!r}: use one of {', '.join(THINGS)}.")


def singular(word: str) -> str:
    """Return the word for one thing of a kind, given that for one or for many."""
    return re.sub(r"(?<=ch|ss)es$|s$", "", re.sub(r"ies$", "y", word))


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


def remove(word: str, name: str, *, actor: str) -> None:
    """Remove a thing that nothing depends on, with its files; undo it if it is an import. Raises CounterpartError that
    says what does, and where it comes into use at the same time."""
    try:
        with transaction.atomic():
            thing, row = find(word, name, lock=True)
            thing.lock(row)
            check_removable(thing, row)
            record(thing.removed, row, actor=actor, name=name)
            for file in thing.delete(row, actor=actor):
                transaction.on_commit(partial(remove_file, file))
    except IntegrityError as error:
        raise CounterpartError(f"{name} came into use meanwhile. Try again to see by what.") from error


def check_removable(thing: Thing, row: Model) -> None:
    """Raise CounterpartError that says what depends on the row."""
    if found := _listed(thing.needed_by(row)):
        raise CounterpartError(f"{row} cannot be {thing.removed}: it is used by {found}.")


def rename(word: str, name: str, new: str, *, actor: str) -> None:
    """Give a thing another name, where no version and no platform carries the old one. Raises CounterpartError that
    says what does, and for an invalid or taken name."""
    try:
        with transaction.atomic():
            thing, row = find(word, name, lock=True)
            if new == name.rpartition("/")[2]:
                raise CounterpartError(f"{new} is its name already. Choose another one.")
            if found := _listed(thing.named_by(row)):
                raise CounterpartError(f"{name} keeps its name, which {found} will carry for good.")
            _rename_in_jobs(singular(word), name, new)
            thing.rename(row, new)
            record("renamed", row, actor=actor, old=name, name=new)
    except IntegrityError as error:
        raise CounterpartError(f"Another {singular(word)} is named {new}. Choose another name.") from error


def _listed(rows: Mapping[str, Iterable[Any]]) -> str:
    """Name rows by kind: "1 sample (a), 2 pools (b, c)"; empty without any."""
    names = {what: list(map(str, some)) for what, some in rows.items()}
    found = (f"{counted(len(some), singular(what), what)} ({some_of(some)})" for what, some in names.items() if some)
    return ", ".join(found)


def _rename_in_jobs(word: str, name: str, new: str) -> None:
    """Have the jobs that have ended name a thing as it is named now: pages link to what they made. Raises
    CounterpartError where one that has not ended names it."""
    for job in Job.objects.order_by():
        keys = [key for key, value in job.params.items() if value == name and key in (word, "name")]
        if job.is_live and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", json.dumps(job.params)):
            raise CounterpartError(f"The job {job.title} works with {name}. Wait for it, or cancel it.")
        if keys and (word in keys or job.params.get("kind") == word):
            job.params |= dict.fromkeys(keys, new)
            job.save(update_fields=["params"])
