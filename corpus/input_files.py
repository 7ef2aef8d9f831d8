"""Input files, plain or gzipped: lines and JSON items, with one-line errors for damaged files."""

import gzip
import json
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import count
from pathlib import Path
from typing import IO, Any, cast

from core import untrusted
from core.errors import CounterpartError
from core.untrusted import LONGEST_LINE, unstorable
from counterpart_metrics.text_files import as_text

GZIP_MAGIC = b"\x1f\x8b"


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open ``path`` for reading bytes; gzip is recognised by its first bytes.

    Raises CounterpartError for a file that is missing, unreadable, cut short or damaged.
    """
    try:
        with path.open("rb") as raw:
            zipped = raw.peek(2)[:2] == GZIP_MAGIC
            yield cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if zipped else raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise CounterpartError(f"{path.name} is cut short or damaged ({error}). Download it again.") from error
    except OSError as error:
        raise CounterpartError(f"Cannot read {path}: {error.strerror or error}.") from error


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (number from 1, line without its line break); blank lines are skipped."""
    with opened(path) as file, as_text(path.name, file) as text:
        for number, line in enumerate(bounded(path, text), 1):
            if line.strip():
                yield number, line.removesuffix("\n")


def bounded(path: Path, text: TextIOWrapper) -> Iterator[str]:
    """Yield lines with their ends. Raises CounterpartError at one that is too long, before it is read to its end."""
    for number in count(1):
        line = text.readline(LONGEST_LINE + 1)
        if len(line) > LONGEST_LINE:
            raise CounterpartError(f"{path.name}, line {number}: longer than {LONGEST_LINE:,} characters. Break it up.")
        if fault := unstorable(line):
            raise CounterpartError(f"{path.name}, line {number}: it contains {fault}. Remove it.")
        if not line:
            return
        yield line


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
