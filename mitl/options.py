"""The settings of annotators, declared as parameters are (``core.parameters``): form fields by name.

The ``initial`` of a field is the default of the setting.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from core.parameters import choices

Value = str | int | float
Settings = Mapping[str, Value]
Options = dict[str, forms.Field]


class Text(forms.CharField):
    """A text, empty only if that is its default."""

    def __init__(self, default: str, help_text: str, **kwargs: Any) -> None:
        super().__init__(initial=default, help_text=help_text, required=bool(default), **kwargs)


class ServerText(Text):
    """A text that only the command takes, as it names what only the operator may reach, such as files of the server."""


class CompanionFile(Text):
    """The name of a file that is read together with the weights; on a page, an upload."""


def number(default: float, help_text: str, **bounds: Any) -> forms.Field:
    """Return a setting of the default's type; ``bounds`` are those of Django's number fields, such as ``min_value``."""
    field = forms.IntegerField if isinstance(default, int) else forms.FloatField
    return field(initial=default, help_text=help_text, **bounds)


def choice(default: str, help_text: str, offered: Sequence[str]) -> forms.Field:
    """Return a setting with one of the values ``offered``."""
    invalid = {"invalid_choice": f"Use one of {', '.join(offered)}."}
    return forms.ChoiceField(initial=default, help_text=help_text, choices=choices(*offered), error_messages=invalid)


def above_zero(value: float) -> None:
    """Refuse a number that is not above 0, as a validator."""
    if value <= 0:
        raise ValidationError("Use a number above 0.")
