"""The options of annotators, declared as plain values by name: a default, what it means, and its bounds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Value = str | int | float
Settings = Mapping[str, Value]
"""Values of options, by name."""


@dataclass(frozen=True)
class DeclaredOption:
    """One option of a kind.

    Attributes:
        default: decides the type too; a text may be empty only if that is its default.
        bounds: ``min_value``, ``max_value`` and ``step_size`` of a number.
        choices: the values that are offered; empty for any value.
        checks: are called with a value, and raise ValueError, one sentence, for an invalid one.
        names: what a text names: ``companion``, a file that is read together with the weights; ``server``, what only
            the operator of a site may reach, such as its files.
    """

    default: Value
    help_text: str
    bounds: Mapping[str, float]
    choices: tuple[str, ...] = ()
    checks: tuple[Callable[[Any], object], ...] = ()
    names: Literal["", "companion", "server"] = ""


Options = dict[str, DeclaredOption]
Check = Callable[[Any], object]


def number(default: float, help_text: str, *, checks: Sequence[Check] = (), **bounds: float) -> DeclaredOption:
    """Return an option of the default's type; ``bounds`` are ``min_value``, ``max_value`` and ``step_size``."""
    return DeclaredOption(default, help_text, bounds, checks=tuple(checks))


def choice(default: str, help_text: str, offered: Sequence[str]) -> DeclaredOption:
    """Return an option with one of the values ``offered``."""
    return DeclaredOption(default, help_text, {}, choices=tuple(offered))


def text(default: str, help_text: str, *, checks: Sequence[Check] = ()) -> DeclaredOption:
    """Return an option of any text."""
    return DeclaredOption(default, help_text, {}, checks=tuple(checks))


def server_text(default: str, help_text: str, *, checks: Sequence[Check] = ()) -> DeclaredOption:
    """Return an option that names what only the operator may reach."""
    return DeclaredOption(default, help_text, {}, checks=tuple(checks), names="server")


def companion_file(default: str, help_text: str) -> DeclaredOption:
    """Return an option that names a file that is read together with the weights."""
    return DeclaredOption(default, help_text, {}, names="companion")


def above_zero(value: float) -> None:
    """Refuse a number that is not above 0, as a check."""
    if value <= 0:
        raise ValueError("Use a number above 0.")


def defaults(options: Options) -> dict[str, Value]:
    """Return the default of each option."""
    return {name: option.default for name, option in options.items()}
