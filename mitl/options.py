"""The settings of annotators: their types, choices, ranges and checks.

Commands and pages read them, so nothing here imports torch or Django.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from core.errors import CounterpartError

Value = str | int | float
Settings = Mapping[str, Value]

_TYPES: dict[type, str] = {int: "a whole number", float: "a number", str: "text"}


@dataclass(frozen=True)
class Option:
    """One setting. The default's type is the setting's type.

    Attributes:
        choices: the only values allowed, if there are any.
        allows: whether a number is in range.
        check: raises CounterpartError for an invalid text, given the option's name and the text.
        on_page: how a page offers it: as a field; as an upload, read together with the weights; or not at all, as it
            names what only the operator may reach, such as files of the server.
    """

    default: Value
    help: str
    choices: tuple[str, ...] = ()
    allows: Callable[[float], bool] | None = None
    check: Callable[[str, str], object] | None = None
    on_page: Literal["field", "upload", "no"] = "field"

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
