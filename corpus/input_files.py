"""Input files, plain or gzipped: lines, CSV rows and JSON items, with one-line errors for damaged files."""

import csv
import gzip
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import count
from pathlib import Path
from typing import IO, Any, cast

import ijson

from core.errors import CounterpartError
from core.text import counted

GZIP_MAGIC = b"\x1f\x8b"
# A line of a caption file is far shorter; a few bytes of gzip can become gigabytes of one line.
LONGEST_LINE = 1 << 20  # characters
DEEPEST = 1_000  # lists and objects within each other

_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open ``path`` for reading bytes; gzip is recognised by its first bytes.

    Raises CounterpartError for a file that is missing, unreadable, cut short, damaged, or not UTF-8.
    """
    try:
        with path.open("rb") as raw:
            zipped = raw.peek(2)[:2] == GZIP_MAGIC
            yield cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if zipped else raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise CounterpartError(f"{path.name} is cut short or damaged ({error}). Download it again.") from error
    except UnicodeDecodeError as error:
        raise CounterpartError(f"{path.name} is not UTF-8 text (byte {error.start}). Convert it first.") from error
    except OSError as error:
        raise CounterpartError(f"Cannot read {path}: {error.strerror or error}.") from error


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (number from 1, line without its line break); blank lines are skipped."""
    with opened(path) as file:
        for number, line in enumerate(_bounded(path, TextIOWrapper(file, encoding="utf-8-sig", newline="\n")), 1):
            if line.strip():
                yield number, line.removesuffix("\n").removesuffix("\r")


def _bounded(path: Path, text: TextIOWrapper) -> Iterator[str]:
    """Yield lines with their ends. Raises CounterpartError at one that is too long, before it is read to its end."""
    for number in count(1):
        line = text.readline(LONGEST_LINE + 1)
        if len(line) > LONGEST_LINE:
            raise CounterpartError(f"{path.name}, line {number}: longer than {LONGEST_LINE:,} characters. Break it up.")
        if not line:
            return
        yield line


def csv_rows(path: Path, *, delimiter: str = ",") -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line number, row by column name). Raises CounterpartError for a row of another length."""
    with opened(path) as file:
        text = _bounded(path, TextIOWrapper(file, encoding="utf-8-sig", newline=""))
        rows = csv.reader(text, strict=True, delimiter=delimiter)
        try:
            header = [name.strip() for name in next(rows, [])]
            for row in filter(None, rows):
                if len(row) != len(header):
                    raise CounterpartError(
                        f"{path.name}, line {rows.line_num}: {counted(len(row), 'field')}, but the header has "
                        f"{len(header)}."
                    )
                yield rows.line_num, dict(zip(header, row, strict=True))
        except csv.Error as error:
            raise CounterpartError(f"{path.name}, line {rows.line_num}: not valid CSV ({error}).") from error


def csv_header(path: Path, *, delimiter: str = ",") -> list[str]:
    """Return the column names, or [] for an empty file."""
    for _number, line in lines(path):
        return [name.strip() for name in next(csv.reader([line], delimiter=delimiter))]
    return []


def json_items(path: Path, prefix: str) -> Iterator[Any]:
    """Yield the elements of the list at ijson's ``prefix``, one at a time."""
    with opened(path) as file, _as_json(path):
        yield from ijson.items(_BoundedRecords(path.name, file), prefix, use_float=True)


def json_records(path: Path) -> Iterator[Any]:
    """Yield the elements of the file's list, or the values that follow each other in it, as in JSON lines."""
    with opened(path) as file:
        listed = file.read(64).lstrip()[:1] == b"["
    if listed:
        yield from json_items(path, "item")
        return
    with opened(path) as file, _as_json(path):
        yield from ijson.items(_BoundedRecords(path.name, file), "", use_float=True, multiple_values=True)


def json_pairs(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the (key, value) pairs of the file's single JSON object."""
    with opened(path) as file, _as_json(path):
        yield from ijson.kvitems(_BoundedRecords(path.name, file), "", use_float=True)


class BoundedJson:
    """Reads a JSON file for a parser, which keeps the path to each level of lists and objects, and an endless text.
    Raises CounterpartError where levels are too many, and where a text has no end."""

    def __init__(self, name: str, file: IO[bytes]) -> None:
        self._name, self._file = name, file
        self._text, self._open = b"", b""  # the beginning of a text that has not ended, and brackets that are open

    def read(self, size: int = -1) -> bytes:
        part = self._file.read(min(size, LONGEST_LINE) if size >= 0 else LONGEST_LINE)
        outside, quote, begun = _TEXT.sub(b"", self._text + part).partition(b'"')
        self._text = quote + begun
        brackets = self._open + outside.translate(None, _NO_BRACKETS)
        before = b""
        while brackets != before:
            before = brackets
            brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
        self._open = brackets
        if len(self._open) > DEEPEST:
            raise CounterpartError(f"{self._name} has lists or objects in more than {DEEPEST:,} levels.")
        if len(self._text) > LONGEST_LINE:
            raise self._endless()
        return part

    def _endless(self) -> CounterpartError:
        return CounterpartError(f"{self._name} has {LONGEST_LINE:,} characters without a quote. Is it JSON?")


class _BoundedRecords(BoundedJson):
    """Reads a JSON file of records, which have texts all along: long numbers and blanks have an end too."""

    def __init__(self, name: str, file: IO[bytes]) -> None:
        super().__init__(name, file)
        self._run = 0

    def read(self, size: int = -1) -> bytes:
        part = super().read(size)
        quote = part.rfind(b'"')
        self._run = len(part) - quote - 1 if quote >= 0 else self._run + len(part)
        if self._run > LONGEST_LINE:
            raise self._endless()
        return part


@contextmanager
def _as_json(path: Path) -> Iterator[None]:
    try:
        yield
    except ijson.IncompleteJSONError as error:
        raise CounterpartError(
            f"{path.name} is cut short or not JSON ({_first_line(error)}). Download it again, or choose its format."
        ) from error
    except ijson.JSONError as error:
        raise CounterpartError(f"{path.name} is not valid JSON ({_first_line(error)}).") from error


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


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__).strip()
