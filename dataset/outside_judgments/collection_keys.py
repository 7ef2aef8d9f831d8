"""Which images and captions of a collection other tools' files mean: by key, by file name, or by text."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from django.db.models import QuerySet

from core.errors import CounterpartError, some_of
from core.text import counted, harmless
from corpus.models import Caption, Collection, Image
from counterpart_metrics.text_files import comparable

_BATCH = 500
_UPLOADED = re.compile(r"[0-9a-f]{8}-(?=.)")  # before the names of files that were uploaded into Label Studio
_LONGEST = 60  # characters of a text that an error shows


def image_keys(collection: Collection, given: Sequence[str], *, skip_unknown: bool) -> dict[str, str]:
    """Return what a file calls each image → its key: the key itself, its file name, or that at the end of an address.

    Raises CounterpartError for images that are not in the collection, unless those are skipped, and for file names that
    it has twice.
    """
    found = _by_key(Image.objects.filter(collection=collection), given)
    rest = [one for one in given if one not in found]
    names = (
        (key, end)
        for key, file_name in Image.objects.filter(collection=collection).values_list("key", "file_name").iterator()
        for end in {key, file_name, key.rpartition("/")[2], file_name.rpartition("/")[2]}
    )
    meant = {one: list(_file_names(one)) for one in rest}
    return found | _by_name("image", meant, names if rest else iter(()), skip_unknown)


def caption_keys(collection: Collection, given: Sequence[str], *, skip_unknown: bool) -> dict[str, str]:
    """Return what a file calls each caption → its key: the key itself, or its text, whatever blanks are around it.

    Raises CounterpartError for captions that are not in the collection, unless those are skipped, and for texts that it
    has twice.
    """
    found = _by_key(Caption.objects.filter(collection=collection), given)
    rest = [one for one in given if one not in found]
    texts = (
        (key, name)
        for key, text in Caption.objects.filter(collection=collection).values_list("key", "text").iterator()
        for name in {key, text, harmless(text.strip())}  # as in our own tables
    )
    return found | _by_name("caption", {one: [one] for one in rest}, texts if rest else iter(()), skip_unknown)


def _by_key(rows: QuerySet[Any], given: Sequence[str]) -> dict[str, str]:
    found = dict[str, str]()
    for start in range(0, len(given), _BATCH):
        keys = rows.filter(key__in=given[start : start + _BATCH]).values_list("key", flat=True)
        found.update(zip(keys, keys, strict=True))
    return found


def _by_name(
    what: str, names: dict[str, list[str]], existing: Iterable[tuple[str, str]], skip_unknown: bool
) -> dict[str, str]:
    """Return each given name → the key of its row; of several forms of a name the first known one counts."""
    wanted = {name for of_one in names.values() for name in of_one}
    keys: dict[str, set[str]] = defaultdict(set)
    for key, name in existing:
        if (name := comparable(name)) in wanted:
            keys[name].add(key)
    found = {one: next((keys[name] for name in names[one] if name in keys), set[str]()) for one in names}
    field = f"Name the field with their ids, --{what} FIELD."
    if not skip_unknown and (missing := [one for one in names if not found[one]]):
        raise CounterpartError(
            f"{counted(len(missing), f'{what} of the file is', f'{what}s of the file are')} not in the collection: "
            f"{_shortened(missing)}. {field}"
        )
    if twice := [one for one in names if len(found[one]) > 1]:
        raise CounterpartError(
            f"{counted(len(twice), 'name')} of the file could each be several {what}s of the collection: "
            f"{_shortened(twice)}. {field}"
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
