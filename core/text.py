"""Texts and names that people enter, and safe cells of CSV files."""

import csv
import unicodedata
from collections.abc import Iterable
from io import StringIO
from typing import Any, TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db.models import Model, QuerySet

from core.errors import CounterpartError, some_of
from counterpart_metrics.errors import counted as counted

ALLOWED = "\t\n\r"


def check_words(text: str, *, what: str, at_most: int) -> str:
    """Return ``text`` without blanks at its ends. Raises CounterpartError where it is empty, longer than ``at_most``
    characters, or holds control characters other than tabs and line ends."""
    text = text.strip()
    if not text:
        raise CounterpartError(f"The {what} is empty; write a sentence.")
    if len(text) > at_most:
        raise CounterpartError(f"The {what} has {len(text):,} characters; shorten it to {at_most:,}.")
    odd = [f"U+{ord(sign):04X}" for sign in text if unicodedata.category(sign) == "Cc" and sign not in ALLOWED]
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


def find_named(rows: QuerySet[Named], name: str, *, made_by: str) -> Named:
    """Return the row with this name. Raises CounterpartError that lists the existing names and the command
    ``made_by``, which makes one."""
    found = rows.filter(name=name).first()
    if found is None:
        names = list(rows.values_list("name", flat=True))
        known = f"there is {some_of(names)}" if names else "there is none yet"
        kind = rows.model._meta.verbose_name
        raise CounterpartError(f"There is no {kind} {name!r}; {known}. Make one with {made_by}.")
    return found


class NamedQuerySet(QuerySet[Named]):
    """Rows that are found by name: ``Collection.objects.named("birds")``."""

    made_by = ""

    def named(self, name: str) -> Named:
        """Return the row with this name, or raise CounterpartError as ``find_named`` does."""
        return find_named(self, name, made_by=self.made_by)


def is_url(file: str) -> bool:
    """Whether the place of a file is a URL, and no path."""
    return file.startswith(("http://", "https://"))
