"""Texts and names that people enter, safe cells of CSV files, and tables of text."""

import csv
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from io import StringIO
from typing import Any, TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db.models import Model, QuerySet

from core.errors import CounterpartError, some_of
from counterpart_metrics.errors import counted as counted

ALLOWED = "\t\n\r"
BLANK_LETTERS = "\u115f\u1160\u3164\uffa0\u2800\ufffc\U0001d159"
"""Letters and symbols by their category that show nothing: fillers, the empty Braille cell and note head, a gap for an
object."""
VISIBLE = rf"[^\pZ\pC\pM\s{BLANK_LETTERS}]"
"""A visible character as a regular expression of RE2."""


def is_visible(sign: str) -> bool:
    """Whether the character is visible by itself: not a blank, a combining mark or a control character."""
    return unicodedata.category(sign)[0] not in "ZCM" and sign not in BLANK_LETTERS


def trimmed(text: str) -> str:
    """Return the text without blanks at its ends; "" where no character of it is visible.

    >>> trimmed(" a dog "), trimmed("\\u200b \\u3164")
    ('a dog', '')
    """
    return text.strip() if any(map(is_visible, text)) else ""


def check_words(text: str, *, what: str, at_most: int) -> str:
    """Return ``text`` without blanks at its ends. Raises CounterpartError where nothing of it is visible, where it is
    longer than ``at_most`` characters, and where it holds control characters other than tabs and line ends."""
    text = trimmed(text)
    if not text:
        raise CounterpartError(f"The {what} is empty; write a sentence.")
    if len(text) > at_most:
        raise CounterpartError(f"The {what} has {len(text):,} characters; shorten it to {at_most:,}.")
    odd = [f"U+{ord(sign):04X}" for sign in text if unicodedata.category(sign) in ("Cc", "Cs") and sign not in ALLOWED]
    if odd:
        raise CounterpartError(
            f"The {what} contains {counted(len(odd), 'control character')}: {some_of(odd)}. Remove them."
        )
    return text


def harmless(cell: str) -> str:
    """Prefix a cell that a spreadsheet would read as a formula with an apostrophe, which makes it text."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else cell


def csv_line(cells: Iterable[object]) -> str:
    """Return one line of a CSV file whose cells no spreadsheet reads as formulas."""
    buffer = StringIO()
    csv.writer(buffer).writerow([harmless(str(cell)) for cell in cells])
    return buffer.getvalue()


COLUMNS = 100
"""The most columns of a terminal that tables and help take, where it is possible."""


def text_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1, right: Collection[int] | None = None
) -> str:
    """Return aligned columns under their heads: those of ``right`` to the right, by default all but the first ``left``.
    What is wider than COLUMNS goes on in further tables, each with the first ``left`` columns."""
    lines = [list(heads), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    right = range(left, len(heads)) if right is None else right
    parts = [list(range(left))]
    for column in range(left, len(heads)):
        if len(parts[-1]) > left and sum(widths[one] + 2 for one in (*parts[-1], column)) > COLUMNS + 2:
            parts.append(list(range(left)))
        parts[-1].append(column)

    def aligned(line: list[str], column: int) -> str:
        return line[column].rjust(widths[column]) if column in right else line[column].ljust(widths[column])

    tables = [["  ".join(aligned(line, one) for one in part).rstrip() for line in lines] for part in parts]
    return "\n\n".join(map("\n".join, tables))


MAX_NAME = 80
NAME_PATTERN = r"^[-a-zA-Z0-9_]+$"
HAS_NAME_LETTERS = RegexValidator(NAME_PATTERN.replace("$", r"\Z"), "Use only letters, digits, - and _.")
Named = TypeVar("Named", bound=Model)


def check_name(name: str) -> str:
    """Return ``name`` if it is valid: 1-80 of a-z, A-Z, 0-9, - and _. Raises CounterpartError otherwise."""
    try:
        HAS_NAME_LETTERS(name)
    except ValidationError as error:
        raise CounterpartError(f"Invalid name {name!r}: use only letters, digits, - and _.") from error
    if len(name) > MAX_NAME:
        raise CounterpartError(f"The name {name!r} has {len(name)} characters; use at most {MAX_NAME}.")
    return name


class NameField(forms.CharField):
    """A name that ``check_name`` accepts."""

    default_validators = [HAS_NAME_LETTERS]  # noqa: RUF012  as Django declares it

    def __init__(self, *, max_length: int = MAX_NAME, **kwargs: Any) -> None:
        super().__init__(max_length=max_length, **kwargs)


def find_named(rows: QuerySet[Named], name: str, *, made_by: str, key: str = "name") -> Named:
    """Return the row with this name, or another ``key``. Raises CounterpartError that lists the existing ones and the
    command ``made_by``, which makes one."""
    try:
        found = rows.filter(**{key: name}).first()
    except (ValidationError, ValueError, OverflowError):  # of a key that is a number
        found = None
    if found is None:
        names = list(map(str, rows.values_list(key, flat=True)))
        known = f"use {some_of(names)}" if names else "none exists yet"
        kind = rows.model._meta.verbose_name
        raise CounterpartError(f"Unknown {kind} {name!r}: {known}. Make one with {made_by}.")
    return found


def is_url(file: str) -> bool:
    """Whether the place of a file is a URL instead of a path."""
    return file.startswith(("http://", "https://"))
