"""Input files, plain or gzipped: lines and JSON items, with one-line errors for damaged files."""

import json
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core import untrusted
from core.errors import CounterpartError
from counterpart_metrics.table_rows import bounded
from counterpart_metrics.text_files import as_text, opened


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (number from 1, line without its line break); blank lines are skipped."""
    with opened(path) as file, as_text(path.name, file) as text:
        for number, line in enumerate(bounded(path.name, text), 1):
            if line.strip():
                yield number, line.removesuffix("\n")


def json_items(path: Path, prefix: str) -> Iterator[Any]:
    """Yield the elements of the list at ijson's ``prefix``, one at a time."""
    with opened(path) as file:
        yield from untrusted.json_items(path.name, file, prefix)


def json_records(path: Path) -> Iterator[Any]:
    """Yield the elements of the file's list, or the values that follow each other in it, as in JSON lines."""
    with opened(path) as file:
        listed = file.read(64).removeprefix(BOM_UTF8).lstrip()[:1] == b"["
    with opened(path) as file:
        yield from untrusted.json_items(path.name, file, "item" if listed else "", several=not listed)


def json_pairs(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the (key, value) pairs of the file's single JSON object."""
    with opened(path) as file:
        yield from untrusted.json_pairs(path.name, file)


@contextmanager
def at(path: Path, place: str, number: int) -> Iterator[None]:
    """Add the position to the error of a bad record: a ValueError becomes ``<file>, <place> <number>: <error>``."""
    try:
        yield
    except json.JSONDecodeError as error:
        raise CounterpartError(
            f"{path.name}, {place} {number}: not valid JSON ({error.msg} at character {error.pos + 1})."
        ) from error
    except (ValueError, RecursionError) as error:
        raise CounterpartError(f"{path.name}, {place} {number}: {error}.") from error
