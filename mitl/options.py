"""The settings of annotators: their types, choices, ranges and checks. Imports neither torch nor Django."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from urllib.parse import urlsplit

from core.errors import CounterpartError

Value = str | int | float
Settings = Mapping[str, Value]

_TYPES: dict[type, str] = {int: "a whole number", float: "a number", str: "text"}
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Option:
    """One setting. The default's type is the setting's type.

    Attributes:
        choices: the only values allowed, if there are any.
        allows: whether a number is in range.
        check: raises CounterpartError for an invalid text, given the option's name and the text.
    """

    default: Value
    help: str
    choices: tuple[str, ...] = ()
    allows: Callable[[float], bool] | None = None
    check: Callable[[str, str], object] | None = None

    def read(self, name: str, value: object) -> Value:
        """Return ``value``, perhaps a text, as the setting's type. Raises CounterpartError for an invalid one."""
        wanted = type(self.default)
        try:
            setting = wanted(str(value))
        except ValueError:
            raise CounterpartError(f"Option {name} must be {_TYPES[wanted]}, not {value!r}.") from None
        if self.choices and setting not in self.choices:
            raise CounterpartError(f"Option {name} must be one of {', '.join(self.choices)}, not {value!r}.")
        if self.allows and not self.allows(float(setting)):
            raise CounterpartError(f"Option {name} is out of range at {value!r}: {self.help}")
        if self.check:
            self.check(name, str(setting))
        return setting


def check_address(name: str, text: str) -> None:
    """Raise CounterpartError unless the text is a web address without a name or password."""
    parts = urlsplit(text)
    if parts.username or parts.password:
        raise CounterpartError(f"Option {name} contains a name or a password; put the key in an environment variable.")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CounterpartError(f"Option {name} must be an address like https://host/v1, not {text!r}.")


def check_variable(name: str, text: str) -> None:
    """Raise CounterpartError unless the text can name a variable. It is not repeated: it may be the key itself."""
    if text and not _VARIABLE.fullmatch(text):
        raise CounterpartError(
            f"Option {name} takes the name of an environment variable that holds the key, never the key itself."
        )


def read_money(name: str, text: str) -> Decimal | None:
    """Return an amount; None for an empty text. Raises CounterpartError for an invalid or negative amount."""
    if not text:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        raise CounterpartError(f"Option {name} must be an amount of money like 2.50, not {text!r}.")
    return amount
