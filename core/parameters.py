"""The parameters of an act, declared once: a dataclass whose annotations carry Django form fields.

    @dataclass(frozen=True, kw_only=True)
    class Sampling(Parameters):
        images: Annotated[int, forms.IntegerField(min_value=0, help_text="number of query images")] = 0

The options of a command, the fields of a page's form and the JSON of a job or an API are derived from the
declaration, and the form fields check the values of every instance.
"""

import shlex
from collections.abc import Collection
from copy import deepcopy
from dataclasses import MISSING, asdict, dataclass, fields
from decimal import Decimal
from typing import Any, Self, get_type_hints

from django import forms
from django.core.exceptions import ValidationError
from django.core.management.base import CommandParser

from core.errors import CounterpartError, some_of
from core.text import counted


class FlagField(forms.BooleanField):
    """True or false, and nothing that only resembles them."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)

    def to_python(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValidationError("Use true or false.")
        return value


class NamesField(forms.Field):
    """Names as a list, or as text with commas between them; cleaned to a tuple."""

    metavar = "A,B"

    def to_python(self, value: Any) -> tuple[str, ...]:
        names = value.split(",") if isinstance(value, str) else value or []
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            raise ValidationError("Use a list of names.")
        return tuple(name for name in names if name)


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Base class. Making an instance raises CounterpartError for the first invalid value."""

    def __post_init__(self) -> None:
        for name, field in _declared(type(self)).items():
            object.__setattr__(self, name, _clean(name, field, getattr(self, name)))

    @classmethod
    def form_fields(cls) -> dict[str, forms.Field]:
        """Return new form fields by parameter, the defaults as initial values."""
        made = deepcopy(_declared(cls))
        for name, default in _defaults(cls).items():
            made[name].initial = default
        return made

    @classmethod
    def add_options(cls, parser: CommandParser, *, positional: Collection[str] = ()) -> None:
        """Add an option for every parameter: ``--control-depth`` for ``control_depth``."""
        defaults = _defaults(cls)
        for name, field in _declared(cls).items():
            if name in positional:
                parser.add_argument(name, help=str(field.help_text))
            elif isinstance(field, forms.BooleanField):
                parser.add_argument(_flag(name), action="store_true", help=str(field.help_text))
            elif name in defaults:
                parser.add_argument(_flag(name), default=defaults[name], **_presentation(field, defaults[name]))
            else:
                parser.add_argument(_flag(name), required=True, **_presentation(field))

    @classmethod
    def from_options(cls, options: dict[str, Any]) -> Self:
        """Read the options of a command."""
        return cls(**{name: options[name] for name in _declared(cls)})

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Self:
        """Read parameters by name; omitted ones get their default. ``as_json`` writes what this reads.

        Raises CounterpartError for unknown or missing parameters and invalid values.
        """
        if unknown := sorted(given.keys() - _declared(cls).keys()):
            raise CounterpartError(f"{counted(len(unknown), 'unknown parameter')}: {some_of(unknown)}.")
        if missing := sorted(_declared(cls).keys() - _defaults(cls).keys() - given.keys()):
            raise CounterpartError(f"{counted(len(missing), 'missing parameter')}: {some_of(missing)}.")
        return cls(**given)

    def as_options(self, *, positional: Collection[str] = ()) -> str:
        """Return the options of a command that these parameters are, without those that have their default."""
        defaults, parts = _defaults(type(self)), list[str]()
        for name in _declared(type(self)):
            value = getattr(self, name)
            if name not in positional and name in defaults and value == defaults[name]:
                continue
            text = ",".join(value) if isinstance(value, tuple) else str(getattr(value, "name", value))
            words = [text] if name in positional else [_flag(name)] if value is True else [_flag(name), text]
            quoted = [shlex.quote(word) for word in words]
            parts = quoted + parts if name in positional else parts + quoted
        return " ".join(parts)

    def as_json(self) -> dict[str, Any]:
        """Return all parameters as JSON values; decimal numbers become text."""
        return {name: str(value) if isinstance(value, Decimal) else value for name, value in asdict(self).items()}


def _declared(cls: type[Parameters]) -> dict[str, forms.Field]:
    """Return the form fields by parameter, those of a subclass before those that it inherits."""
    hints = get_type_hints(cls, include_extras=True)
    return {name: hints[name].__metadata__[0] for base in cls.__mro__ for name in vars(base).get("__annotations__", ())}


def _defaults(cls: type[Parameters]) -> dict[str, Any]:
    return {field.name: field.default for field in fields(cls) if field.default is not MISSING}


def _clean(name: str, field: forms.Field, value: Any) -> Any:
    try:
        return field.clean(value)
    except ValidationError as error:
        shown = repr(value) if isinstance(value, str) else value
        reason = error.messages[0]
        raise CounterpartError(f"Invalid {name.replace('_', ' ')} {shown}: {reason[0].lower()}{reason[1:]}") from error


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _presentation(field: forms.Field, default: Any = "") -> dict[str, Any]:
    """Describe an option in ``--help``. Values stay text: the form field reads them."""
    shown: dict[str, Any] = {
        "help": f"{field.help_text} (default {default})" if default not in (None, "") else str(field.help_text)
    }
    if isinstance(field, forms.ChoiceField):
        choices: Any = field.choices
        return shown | {"choices": [value for value, _ in choices]}
    return shown | {"metavar": getattr(field, "metavar", "N" if isinstance(field, forms.IntegerField) else None)}
