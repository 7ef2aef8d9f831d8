"""The one gate for untrusted text: what people, programs, platforms and files send is read or checked here before use.

JSON has its gate in ``counterpart_metrics.json_gate``, CSV in ``table_rows`` there, which packages outside the site
share.
"""

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import ijson

from core.errors import CounterpartError
from counterpart_metrics.json_gate import LONGEST_LINE as LONGEST_LINE
from counterpart_metrics.json_gate import JsonScan
from counterpart_metrics.json_gate import read_json as read_json
from counterpart_metrics.json_gate import unstorable as unstorable
from counterpart_metrics.text_files import check_encoding, not_utf8

MOST_DIGITS = 18  # of a whole number that any database stores


def whole_number(text: str, *, below: int = 10**MOST_DIGITS) -> int | None:
    """Return a whole number from 0 that is written in ASCII digits; None for any other text, and from ``below`` on."""
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        return None
    number = int(text)
    return number if number < below else None


class BoundedJson:
    """A JSON file for a parser. Raises CounterpartError as ``read_json`` raises ValueError, for long texts too."""

    def __init__(self, name: str, file: IO[bytes]) -> None:
        self._name = name
        self._file = file
        self._scan = JsonScan()
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._begun = self._file.read(64)  # read, and not yet returned
        check_encoding(name, self._begun)
        self._begun = self._begun.removeprefix(codecs.BOM_UTF8)

    def read(self, size: int = -1) -> bytes:
        size = min(size, LONGEST_LINE) if size >= 0 else LONGEST_LINE
        part = self._begun[:size] + self._file.read(max(size - len(self._begun), 0))
        self._begun = self._begun[size:]
        try:
            self._decoder.decode(part, final=size > 0 and not part)
        except UnicodeDecodeError as error:
            raise not_utf8(self._name, error, self._file.tell()) from error
        try:
            self._scan.add(part)
            self._scan.check_ends()
        except ValueError as error:
            raise CounterpartError(f"{self._name} has {error}.") from error
        return part


def json_items(name: str, file: IO[bytes], prefix: str, *, several: bool = False) -> Iterator[Any]:
    """Yield the values at ijson's ``prefix``, one at a time; with ``several`` those that follow each other in a file.
    ``name`` is the file's in errors.

    Raises CounterpartError for invalid JSON, and for whole numbers beyond 64 bits.
    """
    with _as_json(name):
        yield from ijson.items(BoundedJson(name, file), prefix, use_float=True, multiple_values=several)


def json_pairs(name: str, file: IO[bytes], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the (key, value) pairs of the object at ijson's ``prefix``. Raises CounterpartError as ``json_items``."""
    with _as_json(name):
        yield from ijson.kvitems(BoundedJson(name, file), prefix, use_float=True)


def json_events(name: str, file: IO[bytes]) -> Iterator[tuple[str, str, Any]]:
    """Yield (prefix, event, value) as ijson parses. Raises CounterpartError as ``json_items``."""
    with _as_json(name):
        yield from ijson.parse(BoundedJson(name, file), use_float=True)


@contextmanager
def _as_json(name: str) -> Iterator[None]:
    try:
        yield
    except ijson.JSONError as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__).strip()[:100]
        if "overflow" in reason:
            raise CounterpartError(f"{name} has a number beyond 64 bits. Write it as text.") from error
        raise CounterpartError(
            f"{name} is not valid JSON ({reason}). Write or download it again, or choose its format."
        ) from error
