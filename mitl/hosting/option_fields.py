"""The options of annotators as form fields: commands, pages and the API read and check settings with them."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from core.parameters import choices
from counterpart_annotators.options import DeclaredOption, Options

Fields = dict[str, forms.Field]


class Text(forms.CharField):
    """A text, empty only if that is its default."""


class ServerText(Text):
    """A text that only the command takes, as it names what only the operator may reach, such as files of the server."""


class CompanionFile(Text):
    """The name of a file that is read together with the weights; on a page, an upload."""


TEXTS: dict[str, type[Text]] = {"": Text, "companion": CompanionFile, "server": ServerText}


def fields_of(options: Options) -> Fields:
    """Return new form fields by the names of options, the defaults as their ``initial``."""
    return {name: _field(option) for name, option in options.items()}


def _field(option: DeclaredOption) -> forms.Field:
    described: dict[str, Any] = {"initial": option.default, "help_text": option.help_text}
    if option.choices:
        invalid = {"invalid_choice": f"Use one of {', '.join(option.choices)}."}
        return forms.ChoiceField(choices=choices(*option.choices), error_messages=invalid, **described)
    described["validators"] = [_validator(check) for check in option.checks]
    if isinstance(option.default, str):
        return TEXTS[option.names](required=bool(option.default), **described)
    number = forms.IntegerField if isinstance(option.default, int) else forms.FloatField
    return number(**described, **dict[str, Any](option.bounds))


def _validator(check: Callable[[Any], object]) -> Callable[[Any], None]:
    def validate(value: Any) -> None:
        try:
            check(value)
        except ValueError as error:
            raise ValidationError(str(error)) from error

    return validate
