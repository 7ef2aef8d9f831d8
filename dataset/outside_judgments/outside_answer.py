"""The records that readers of other tools' files yield: what one person answered on one task, not checked yet."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple


class OutsideAnswer(NamedTuple):
    """What one person answered on one task.

    ``place`` says where the record stands in the file. ``worker`` is the tool's own id of the person, which may be a
    name or an address: it is never stored or told. ``task`` holds what the task shows and ``answers`` the answer to
    each question, as the tool wrote them; where a file does not tell the two apart, both are the whole row.
    ``answers`` is empty for what was skipped, cancelled, discarded or not submitted. ``at`` and ``seconds``, the time
    on the task, are None if unknown. ``simulated`` is true if the tool says that a program answered.
    """

    place: str
    worker: str
    task: Mapping[str, Any]
    answers: Mapping[str, Any]
    at: datetime | None = None
    seconds: int | None = None
    simulated: bool = False


def time_of(value: object) -> datetime | None:
    """Return a time that a tool wrote as ISO 8601 or as seconds since 1970; UTC where it names no zone.

    Raises ValueError for anything else; None and an empty text are an unknown time.
    """
    if value in (None, ""):
        return None
    if isinstance(value, str):
        read = datetime.fromisoformat(value)
        return read if read.tzinfo else read.replace(tzinfo=UTC)
    return datetime.fromtimestamp(_number(value, "time"), UTC)


def seconds_of(value: object) -> int | None:
    """Return whole seconds; None and an empty text are unknown. Raises ValueError unless it is a number from 0."""
    return None if value in (None, "") else round(_number(value, "number of seconds"))


def _number(value: object, what: str) -> float:
    number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.nan
    if not 0 <= number < 2**31:
        raise ValueError(f"{value!r} is no {what}")
    return number


def name_of(value: object, what: str = "annotator") -> str:
    """Return the name of a person or a thing as text. Raises ValueError, without telling it, unless it is a whole
    number or a text that a database can store."""
    text = str(value)
    if isinstance(value, bool) or not isinstance(value, str | int) or not text or "\0" in text:
        raise ValueError(f"its {what} is missing, or no text and no whole number")
    text.encode()  # halves of surrogate pairs raise
    return text


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
