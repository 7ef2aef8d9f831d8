"""Which images and captions of a collection other tools' files mean: by key, by file name, or by text."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from urllib.parse import parse_qs, unquote, urlsplit

from core.errors import CounterpartError, some_of
from core.text import counted, harmless
from corpus.models import Collection
from counterpart_metrics.text_files import comparable

_UPLOADED = re.compile(r"[0-9a-f]{8}-(?=.)")  # before the names of files that were uploaded into Label Studio
_LONGEST = 60  # characters of a text that an error shows


def image_keys(collection: Collection, given: Sequence[str], *, skip_unknown: bool) -> dict[str, str]:
    """Return what a file calls each image → its key: the key itself, its file name, or that at the end of an address.

    Raises CounterpartError for images that are not in the collection, unless those are skipped, and for file names that
    it has twice.
    """
    rows = (
        (key, {file_name, key.rpartition("/")[2], file_name.rpartition("/")[2]})
        for key, file_name in collection.images.values_list("key", "file_name").iterator()
    )
    return _keys("image", {one: list(_file_names(one)) for one in given}, rows, skip_unknown)


def caption_keys(collection: Collection, given: Sequence[str], *, skip_unknown: bool) -> dict[str, str]:
    """Return what a file calls each caption → its key: the key itself, or its text, whatever blanks are around it.

    Raises CounterpartError for captions that are not in the collection, unless those are skipped, and for texts that it
    has twice.
    """
    rows = (
        (key, {text, harmless(text.strip())})  # as in our own tables
        for key, text in collection.captions.values_list("key", "text").iterator()
    )
    return _keys("caption", {one: [one] for one in given}, rows, skip_unknown)


def _keys(
    what: str, meant: dict[str, list[str]], rows: Iterable[tuple[str, set[str]]], skip_unknown: bool
) -> dict[str, str]:
    """Return each given name → the key of its row; a key goes before another name. ``meant``: the forms that a name may
    have, where the first known one counts. ``rows``: the keys with their other names."""
    wanted = {name for forms in meant.values() for name in forms}
    keys: dict[str, set[str]] = {}
    named: dict[str, set[str]] = defaultdict(set)
    for key, names in rows:
        if comparable(key) in wanted:
            keys[comparable(key)] = {key}
        for name in wanted.intersection(map(comparable, names)):
            named[name].add(key)
    known = {**named, **keys}
    found = {one: next((known[name] for name in forms if name in known), set[str]()) for one, forms in meant.items()}
    field = f"Name the field with their ids, --{what} FIELD"
    if not skip_unknown and (missing := [one for one in meant if not found[one]]):
        raise CounterpartError(
            f"{counted(len(missing), f'{what} of the file is', f'{what}s of the file are')} not in the collection: "
            f"{_shortened(missing)}. {field}, or pass --skip-unknown."
        )
    if twice := [one for one in meant if len(found[one]) > 1]:
        raise CounterpartError(
            f"{counted(len(twice), 'name')} of the file could each be several {what}s of the collection: "
            f"{_shortened(twice)}. {field}."
        )
    return {one: next(iter(keys)) for one, keys in found.items() if keys}


def _shortened(given: Sequence[str]) -> str:
    return some_of([one if len(one) <= _LONGEST else f"{one[: _LONGEST - 1]}…" for one in given])


def _file_names(address: str) -> Iterator[str]:
    """Yield the file names that an address may mean, the likeliest first."""
    yield address
    yield address.rpartition("/")[2]
    with suppress(ValueError):  # no address
        parts = urlsplit(address)
        local = parse_qs(parts.query).get("d", [""])[0]  # Label Studio's /data/local-files/?d=<path>
        name = (local or unquote(parts.path)).replace("\\", "/").rpartition("/")[2]
        yield name
        yield _UPLOADED.sub("", name, count=1) if _UPLOADED.match(name) else name
