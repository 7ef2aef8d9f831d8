"""What readers of other tools' files share: how a file begins, by which it is recognised, and the records that they
yield, what one person answered on one task, not checked yet."""

import math
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime, parsedate_tz
from pathlib import Path
from typing import Any, Literal, NamedTuple

from core.errors import CounterpartError
from core.untrusted import unstorable
from corpus.tables import columns_of
from counterpart_metrics.ids import plain_id
from counterpart_metrics.text_files import comparable, opened

Kind = Literal["folder", "json", "table"]


@dataclass(frozen=True)
class Opening:
    """The kind of a file, and the names of its first record: JSON keys, columns of a table, or files of a folder."""

    kind: Kind
    names: frozenset[str]

    def has(self, *names: str) -> bool:
        return self.names.issuperset(names)


class OutsideAnswer(NamedTuple):
    """What one person answered on one task.

    ``place`` is the record's place in the file. ``worker`` is the tool's own id of the person, which may be a name or
    an address: it is never stored or shown; "" if the file does not name one. ``task`` holds what the task shows and
    ``answers`` the answer to each question, as the tool wrote them; where a file does not separate the two, ``task`` is
    the whole row. ``answers`` is empty for what was skipped, cancelled, discarded or not submitted, and ``rejected`` is
    true for what the tool says does not count. ``item`` is the item's id, if it names the task alone. ``at`` and
    ``seconds``, the time on the task, are None if unknown. ``simulated`` is true if the tool says that a program
    answered.
    """

    place: str
    worker: str
    task: Mapping[str, Any]
    answers: Mapping[str, Any]
    at: datetime | None = None
    seconds: int | None = None
    simulated: bool = False
    item: str = ""
    rejected: bool = False


class Reader(NamedTuple):
    """How a tool's files are recognised and read, and what they are in a line."""

    recognises: Callable[[Opening], bool]
    read: Callable[[Path, Opening], Iterator[OutsideAnswer]]
    says: str


def opening_of(path: Path) -> Opening:
    """Read the beginning of a file. Raises CounterpartError if it is empty, unreadable, or begins with no record."""
    if path.is_dir():
        return Opening("folder", frozenset(file.name for file in path.rglob("*") if file.is_file()))
    with opened(path) as file:
        first = file.read(4096).removeprefix(BOM_UTF8).lstrip()[:1]
    if not (names := columns_of(path)):
        raise CounterpartError(f"{path.name} has no records: rows of a table, or JSON objects. Export it again.")
    return Opening("json" if first in (b"[", b"{") else "table", frozenset(names))


def time_of(value: object) -> datetime | None:
    """Return a time that a tool wrote as ISO 8601 or as seconds since 1970; UTC where it names no zone.

    Raises ValueError for anything else; None and an empty text are an unknown time.
    """
    if value in (None, ""):
        return None
    if isinstance(value, str):
        of_mturk = parsedate_tz(value) if value[:1].isalpha() else None  # Sat Nov 28 10:03:22 PST 2026
        read = parsedate_to_datetime(value) if of_mturk else datetime.fromisoformat(value)
        if not 1970 <= read.year < 2100:
            raise ValueError(f"{value[:40]!r} is not a time between 1970 and 2100")
        return read if read.tzinfo else read.replace(tzinfo=UTC)
    return datetime.fromtimestamp(_number(value, "time"), UTC)


def seconds_of(value: object) -> int | None:
    """Return whole seconds; None and an empty text are unknown. Raises ValueError unless it is a number from 0."""
    return None if value in (None, "") else round(_number(value, "number of seconds"))


def _number(value: object, what: str) -> float:
    number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.nan
    if not 0 <= number < 2**31:
        raise ValueError(f"{value!r} is not a {what}")
    return number


def name_of(value: object, what: str = "annotator") -> str:
    """Return the name of a person or a thing as text, as names are compared; 12.0, which pandas makes of 12, is 12.

    Raises ValueError, without the name in its text, unless it is a whole number or a text that a database can store.
    """
    text = plain_id(value)
    if not isinstance(text, str) or not text:
        raise ValueError(f"its {what} is missing, or no text and no whole number")
    if fault := unstorable(text):
        raise ValueError(f"its {what} contains {fault}")
    return comparable(text)


def worker_of(value: object) -> str:
    """Return the name of a person as ``name_of``; "" where the file has none."""
    return "" if value in (None, "") else name_of(value)


def record_of(value: object) -> Mapping[str, Any]:
    """Return a JSON object; null is an empty one. Raises ValueError for anything else."""
    if not isinstance(value, dict | None):
        raise ValueError(f"{str(value)[:40]!r} is not a JSON object")
    return value or {}


def list_of(value: object) -> list[Any]:
    """Return a JSON list; null is an empty one. Raises ValueError for anything else."""
    if not isinstance(value, list | None):
        raise ValueError(f"{str(value)[:40]!r} is not a list")
    return value or []
