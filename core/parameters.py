"""The parameters of an act, declared once: a dataclass whose annotations carry Django form fields.

    class Sampling(Parameters):
        collection: Annotated[str, "collection to sample", POSITIONAL]
        images: Annotated[int, forms.IntegerField(min_value=0, label="Images", help_text="number of query images")] = 0
        wait: Annotated[bool, "wait for the last one", OFF_PAGE] = False

A text in place of a field is the help of the type's usual field. The options of a command, the fields of a page's form
and the JSON of a job or an API are derived from the declaration, and the form fields check the values of every
instance.
"""

import shlex
from argparse import _ArgumentGroup, _MutuallyExclusiveGroup
from collections.abc import Callable
from copy import deepcopy
from dataclasses import MISSING, asdict, dataclass
from dataclasses import fields as dataclass_fields
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import (
    Any,
    ClassVar,
    Literal,
    Self,
    TypeVar,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from django import forms
from django.core.exceptions import ValidationError
from django.core.management.base import CommandParser

from core.errors import CounterpartError, some_of
from core.text import counted, trimmed

POSITIONAL = "positional"
"""Marks a parameter that the command takes without the name of an option."""
OFF_PAGE = "off page"
"""Marks a parameter that only the command has, not the form of a page."""


@dataclass(frozen=True)
class Option:
    """How a command shows a parameter, where that does not follow from the parameter's name and field.

    ``name`` is that of the option, without dashes; ``metavar`` represents the value in ``--help``.
    """

    name: str = ""
    metavar: str | None = None


class FlagField(forms.BooleanField):
    """True or false; no other value counts as one of them."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)

    def to_python(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValidationError("Use true or false.")
        return value


class NamesField(forms.Field):
    """Names as a list, or as text with commas between them; cleaned to a tuple."""

    metavar = "A,B"
    json_schema: ClassVar[dict[str, Any]] = {"type": "array", "items": {"type": "string", "minLength": 1}}

    def to_python(self, value: Any) -> tuple[str, ...]:
        names = value.split(",") if isinstance(value, str) else value or []
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            raise ValidationError("Use a list of names.")
        return tuple(name.strip() for name in names if name.strip())

    def prepare_value(self, value: Any) -> Any:
        """Return the text that a page shows for names."""
        return ",".join(value) if isinstance(value, list | tuple) else value


class ShareField(forms.FloatField):
    """A share of queries or matches, from 0.01 to 1; None if it is left out."""

    metavar = "SHARE"

    def __init__(self, *, required: bool = False, **kwargs: Any) -> None:
        super().__init__(required=required, min_value=0.01, max_value=1, **kwargs)


class ConfidenceField(forms.FloatField):
    """The confidence of intervals or statements: above 0 and below 1."""

    def validate(self, value: Any) -> None:
        super().validate(value)
        if not 0 < value < 1:
            raise ValidationError("Use a number between 0 and 1, such as 0.95.")


class PathField(forms.Field):
    """The path of a file or folder, which need not exist; None if it is left out."""

    metavar = "FILE"

    def to_python(self, value: Any) -> Path | None:
        return Path(value) if value else None


EMPTY: Any = (None, "", ())
USUAL: dict[Any, Callable[..., forms.Field]] = {
    int: forms.IntegerField,
    str: forms.CharField,
    str | None: partial(forms.CharField, empty_value=None),
    Path: PathField,
    tuple[str, ...]: NamesField,
}
"""The usual field by type; that of bool is FlagField, and that of a Literal offers its values as choices."""


Declared = TypeVar("Declared", bound="Parameters")


@dataclass_transform(kw_only_default=True, frozen_default=True)
@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Base class, whose subclasses are dataclasses too. Making an instance raises CounterpartError for the first
    invalid value."""

    _fields: ClassVar[dict[str, forms.Field]] = {}
    """The form fields by parameter, those of a subclass before those that it inherits."""

    def __init_subclass__(cls) -> None:
        hints = get_type_hints(cls, include_extras=True)
        names = [name for base in cls.__mro__ for name in vars(base).get("__annotations__", ()) if name != "_fields"]
        cls._fields = {name: _field(hints[name], getattr(cls, name, MISSING)) for name in names}
        dataclass(frozen=True, kw_only=True)(cls)

    def __post_init__(self) -> None:
        for name, field in self._fields.items():
            object.__setattr__(self, name, clean(name, field, getattr(self, name)))

    @classmethod
    def fields(cls) -> dict[str, forms.Field]:
        """Return the form fields by parameter."""
        return cls._fields

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the defaults of the parameters that have one."""
        return {field.name: field.default for field in dataclass_fields(cls) if field.default is not MISSING}

    @classmethod
    def form_fields(cls) -> dict[str, forms.Field]:
        """Return new form fields by parameter, the defaults as initial values, without those marked OFF_PAGE."""
        defaults = cls.defaults()
        made = {name: deepcopy(field) for name, field in cls._fields.items() if name not in _marked(cls, OFF_PAGE)}
        for name in made.keys() & defaults.keys():
            made[name].initial = defaults[name]
        return made

    @classmethod
    def add_options(cls, parser: CommandParser | _ArgumentGroup) -> None:
        """Add an option for every parameter, such as ``--control-depth`` for ``control_depth``, to a command or a group
        of its options. In a group of options that exclude each other, none must be given."""
        defaults = cls.defaults()
        optional = cls._fields.keys() if isinstance(parser, _MutuallyExclusiveGroup) else defaults.keys()
        positional = _marked(cls, POSITIONAL)
        for name, field in cls._fields.items():
            shown = _presentation(cls, name, field)
            if name in positional:
                shown["metavar"] = shown["metavar"] or name.upper()
                parser.add_argument(name, nargs="?" if name in defaults else None, **shown)
            elif isinstance(field, forms.BooleanField):
                parser.add_argument(_flag(cls, name), dest=name, action="store_true", help=shown["help"])
            else:
                parser.add_argument(_flag(cls, name), dest=name, required=name not in optional, **shown)

    @classmethod
    def from_options(cls, options: dict[str, Any]) -> Self:
        """Read the options of a command."""
        return cls(**{name: options[name] for name in cls._fields})

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Self:
        """Read parameters by name; omitted ones get their default. ``as_json`` writes what this reads.

        Raises CounterpartError for unknown or missing parameters and invalid values.
        """
        if unknown := sorted(given.keys() - cls._fields.keys()):
            raise CounterpartError(f"{counted(len(unknown), 'unknown parameter')}: {some_of(unknown)}.")
        if missing := sorted(cls._fields.keys() - cls.defaults().keys() - given.keys()):
            raise CounterpartError(f"{counted(len(missing), 'missing parameter')}: {some_of(missing)}.")
        return cls(**given)

    def part(self, kind: type[Declared]) -> Declared:
        """Return those of the parameters that another kind declares too."""
        return kind(**{name: getattr(self, name) for name in kind.fields()})

    def as_options(self) -> str:
        """Return the options of a command that these parameters are, without those that have their default."""
        defaults = self.defaults()
        positional = _marked(type(self), POSITIONAL)
        parts = list[str]()
        for name in self._fields:
            value = getattr(self, name)
            if name in defaults and value == defaults[name]:
                continue
            flag = _flag(type(self), name)
            words = [_text(value)] if name in positional else [flag] if value is True else [flag, _text(value)]
            quoted = [shlex.quote(word) for word in words]
            parts = quoted + parts if name in positional else parts + quoted
        return " ".join(parts)

    def as_json(self) -> dict[str, Any]:
        """Return all parameters as JSON values; decimal numbers and paths become text."""
        return {name: _json_value(value) for name, value in asdict(self).items()}


def _field(hint: Any, default: Any) -> forms.Field:
    """Return the form field that an annotation carries, or the usual one with the text that it carries as help."""
    declared = hint.__metadata__[0]
    if not isinstance(declared, str):
        return cast(forms.Field, declared)
    kind = hint.__origin__
    if kind is bool:
        return FlagField(help_text=declared)
    if get_origin(kind) is Literal:
        return forms.ChoiceField(choices=choices(*get_args(kind)), help_text=declared)
    if kind not in USUAL:  # such as Path | None
        kind = get_args(kind)[0]
    return USUAL[kind](required=default not in EMPTY, help_text=declared)


def _json_value(value: Any) -> Any:
    if isinstance(value, Decimal | Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


def _marked(cls: type[Parameters], mark: str) -> set[str]:
    """Return the names of the parameters with this mark."""
    hints = get_type_hints(cls, include_extras=True)
    return {name for name in cls._fields if mark in hints[name].__metadata__}


def clean(name: str, field: forms.Field, value: Any) -> Any:
    """Return the value of a parameter as its field reads it. Raises CounterpartError for an invalid one."""
    try:
        return field.clean("" if isinstance(value, str) and not trimmed(value) else value)
    except ValidationError as error:
        shown = repr(value if len(value) <= 60 else f"{value[:59]}…") if isinstance(value, str) else value
        reason = error.messages[0]
        if reason.startswith(("Invalid ", "Unknown ")):  # names what is wrong itself
            raise CounterpartError(reason) from error
        raise CounterpartError(f"Invalid {name.replace('_', ' ')} {shown}: {reason[0].lower()}{reason[1:]}") from error


def _option(cls: type[Parameters], name: str) -> Option:
    marks = get_type_hints(cls, include_extras=True)[name].__metadata__
    return next((mark for mark in marks if isinstance(mark, Option)), Option())


def _flag(cls: type[Parameters], name: str) -> str:
    return f"--{_option(cls, name).name or name.replace('_', '-')}"


def _text(value: Any) -> str:
    """Return a value as it is typed."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(getattr(value, "name", value))


def _presentation(cls: type[Parameters], name: str, field: forms.Field) -> dict[str, Any]:
    """Describe a parameter in ``--help``. Values stay text: the form field reads them."""
    default = cls.defaults().get(name)
    note = "" if default in EMPTY or default is False else f" (default {_text(default)})"
    shown: dict[str, Any] = {
        "help": f"{field.help_text}{note}".replace("%", "%%"),
        "metavar": _option(cls, name).metavar or getattr(field, "metavar", None),
    }
    if name in cls.defaults():
        shown["default"] = default
    if offered := values_of(field):
        shown["choices"] = offered
    if isinstance(field, forms.IntegerField):  # also those of decimal numbers
        shown["metavar"] = shown["metavar"] or "N"
    return shown


def values_of(field: forms.Field) -> list[str]:
    """Return the values that a field of choices offers, without that of no choice; none for other fields."""
    offered: Any = field.choices if isinstance(field, forms.ChoiceField) else ()
    return [value for value, _ in offered if value]


def choices(*values: str) -> list[tuple[str, str]]:
    """Return values as the choices of a field, each its own label."""
    return [(value, value) for value in values]
