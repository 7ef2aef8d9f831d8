"""The gate for untrusted JSON: text that a database cannot store, very deep lists and huge numbers are refused first.

Databases store no NUL character and no half of a surrogate pair. A number of thousands of digits, or lists in very many
levels, end Python's readers with an error of their own, and compiled ones with the process.
"""

import json
import re
from math import isfinite
from typing import Any

import numpy as np

from counterpart_metrics.text_files import wide_encoding

LONGEST_LINE = 1 << 20  # characters; a few bytes of gzip can become gigabytes of one text or number
DEEPEST = 100  # lists and objects within each other

_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_OPENING = np.frombuffer(b"[{", np.uint8)
_SUSPECT = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")  # NUL, or a part of a surrogate pair
_IN_NUMBERS = b"0123456789+-.eE \t\r\n"


def unstorable(text: str) -> str:
    """Return what a database could not store of a text; "" if it can store all of it."""
    if "\0" in text:
        return "a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "half of a surrogate pair"
    return ""


def read_json(content: str | bytes, *, finite: bool = True) -> Any:
    """Return the value of a JSON text in UTF-8. Whole numbers beyond 64 bits become floats, as in other languages.

    Raises ValueError that says in a line what is wrong: no JSON (NaN is none, if ``finite``), text that no database
    stores, more than DEEPEST levels, a number that no float holds.
    """
    if isinstance(content, bytes):
        if encoding := wide_encoding(content):
            raise ValueError(f"it is {encoding} text; convert it to UTF-8")
        content = content.decode()
    text = content.removeprefix("\ufeff")
    try:
        encoded = text.encode()
        if encoded.count(b"[") + encoded.count(b"{") > DEEPEST or _SUSPECT.search(encoded):  # a scan takes longer
            JsonScan().add(encoded)
    except ValueError as error:
        raise ValueError(f"it has {error}") from error
    return json.loads(text, parse_int=_number, parse_float=_float, parse_constant=_no_number if finite else float)


def _number(text: str) -> int | float:
    if len(text) <= 20:
        whole = int(text)
        if -(2**63) <= whole < 2**63:
            return whole
    return _float(text)


def _float(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"the number {text[:20]}… is too large")
    return number


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not JSON; leave it out, or write null")


class JsonScan:
    """Checks JSON in parts, before a parser builds objects from it."""

    def __init__(self) -> None:
        self._text = b""  # the beginning of a text that has not ended
        self._depth = 0  # brackets that are open
        self._run = 0  # bytes of a number or of blanks that has not ended

    def add(self, part: bytes) -> None:
        """Raise ValueError where a text cannot be stored or has no end, or levels are too many."""
        seen = self._text + part
        if _SUSPECT.search(seen):
            self._check_texts(seen)
        outside, quote, begun = _TEXT.sub(b"", seen).partition(b'"')
        self._text = quote + begun
        brackets = np.frombuffer(outside.translate(None, _NO_BRACKETS), np.uint8)
        depths = self._depth + np.where(np.isin(brackets, _OPENING), 1, -1).cumsum()
        if depths.max(initial=0) > DEEPEST:
            raise ValueError(f"lists or objects in more than {DEEPEST:,} levels")
        self._depth = int(depths[-1]) if len(depths) else self._depth
        ending = len(part) - len(part.rstrip(_IN_NUMBERS))
        self._run = ending if ending < len(part) else self._run + ending

    def check_ends(self) -> None:
        """Raise ValueError for a text or a number that is longer than any valid one."""
        if max(len(self._text), self._run) > LONGEST_LINE:
            raise ValueError(f"{LONGEST_LINE:,} characters without an end. Is it JSON?")

    def _check_texts(self, seen: bytes) -> None:
        for text in filter(_SUSPECT.search, _TEXT.findall(seen)):
            try:
                fault = unstorable(json.loads(text))
            except ValueError:
                continue  # the parser says why
            if fault:
                raise ValueError(f"{fault} in {text[:60].decode(errors='replace')}")
