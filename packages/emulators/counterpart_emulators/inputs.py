"""Inputs that people and programs send as JSON: their types, and one-line errors that name the choices."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from counterpart_emulators.money import read_amount

TEN_YEARS = 315_360_000  # seconds


class InputError(ValueError):
    """Invalid input; the text is one line for the person who sent it. Nothing was changed."""


@dataclass(frozen=True)
class Setting:
    """The type of a value, in words and as a test."""

    wanted: str
    holds: Callable[[Any], bool]
    required: bool = False


def check_settings(what: str, given: Mapping[str, Any], known: Mapping[str, Setting]) -> None:
    """Raise InputError for an unknown, missing or invalid setting."""
    if unknown := sorted(given.keys() - known.keys()):
        raise InputError(f"{what} has no setting {unknown[0]!r}; it has: {', '.join(known)}.")
    for name, setting in known.items():
        if name not in given and setting.required:
            raise InputError(f"{what} needs {name}: {setting.wanted}.")
        if name in given and not setting.holds(given[name]):
            raise InputError(f"{name} is {given[name]!r}; it must be {setting.wanted}.")


def one_of(*values: str | int, required: bool = True) -> Setting:
    return Setting("one of " + ", ".join(map(str, values)), lambda value: value in values, required)


def number(
    wanted: str, *, least: float = 0, most: float = TEN_YEARS, whole: bool = False, required: bool = False
) -> Setting:
    """Return a number from ``least`` to ``most``."""

    def holds(value: Any) -> bool:
        is_number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        return is_number and least <= value <= most

    return Setting(wanted, holds, required)


def _reads(read: Callable[[Any], Any], value: Any) -> bool:
    try:
        read(value)
    except (ValueError, TypeError):
        return False
    return True


SECONDS = number("a number of seconds, 0 or more and up to ten years", required=True)
AMOUNT = Setting('an amount such as "4.20"', lambda value: _reads(read_amount, value), required=True)
INSTANT = Setting("an instant (ISO 8601)", lambda value: _reads(datetime.fromisoformat, value))
FLAG = Setting("true or false", lambda value: isinstance(value, bool))
TEXT = Setting("a text", lambda value: isinstance(value, str) and bool(value))
