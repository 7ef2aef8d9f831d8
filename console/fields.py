"""Forms of the parameters of an act, and form fields of more than one section."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from django import forms
from django.db.models import Model, QuerySet
from django.http import QueryDict

from console.uploads import LARGEST_UPLOAD
from core.parameters import Parameters


class ParametersForm(forms.Form):
    """The parameters of an act but those in ``without``, with what a page adds to them, such as files."""

    act: ClassVar[type[Parameters]]
    without: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields = {
            name: field for name, field in self.act.form_fields().items() if name not in self.without
        } | self.fields
        self.order_fields(self.field_order)

    def chosen(self) -> dict[str, Any]:
        """Return the valid parameters by name, without what the page adds; of a chosen row its name."""
        names = self.act.form_fields().keys() - self.base_fields.keys()
        return {name: _named(value) for name, value in self.cleaned_data.items() if name in names}


def _named(chosen: Any) -> Any:
    """Return the names of chosen rows, and other values unchanged."""
    if isinstance(chosen, QuerySet):
        return list(map(str, chosen))
    return str(chosen) if isinstance(chosen, Model) else chosen


def choose(form: forms.Form, name: str, field: forms.ModelChoiceField) -> None:
    """Offer existing rows for a parameter, with its label and help."""
    declared = form.fields[name]
    field.to_field_name = "name"
    field.label = declared.label
    field.help_text = declared.help_text
    form.fields[name] = field


class UploadField(forms.FileField):
    """A file whose name ends in one of ``suffixes``, of at most ``largest`` bytes."""

    def __init__(self, *, suffixes: tuple[str, ...], largest: int = LARGEST_UPLOAD, **kwargs: Any) -> None:
        self.suffixes = suffixes
        self.largest = largest
        widget = forms.FileInput(attrs={"accept": ",".join(suffixes)})
        super().__init__(max_length=255, widget=widget, **kwargs)

    def clean(self, data: Any, initial: Any = None) -> Any:
        file = super().clean(data, initial)
        if not file:
            return None
        if Path(file.name).suffix.lower() not in self.suffixes:
            raise forms.ValidationError(f"Choose a file that ends in {' or '.join(self.suffixes)}.")
        if file.size > self.largest:
            raise forms.ValidationError(
                f"The file is larger than {self.largest // 1024**2:,} MB. Import it with a command."
            )
        return file


Known = Callable[[Any], dict[str, Any] | None]


def asking(known: Known = lambda found: None, **fields: forms.Field) -> Callable[[QueryDict | None, Any], forms.Form]:
    """Return the ``form`` of an act that asks for these fields; ``known`` returns what they begin with."""
    asked = type("Asked", (forms.Form,), fields)
    return lambda data, found: asked(data, initial=known(found))


def asking_for(
    parameters: type[Parameters], known: Known = lambda found: None
) -> Callable[[QueryDict | None, Any], forms.Form]:
    """Return the ``form`` of an act that asks for these parameters; ``known`` returns what they begin with."""
    asked = type("Asked", (ParametersForm,), {"act": parameters})
    return lambda data, found: asked(data, initial=known(found))


def text_field(label: str, *, at_most: int = 2_000, rows: int = 3, **more: Any) -> forms.CharField:
    """Return a field for some lines of text."""
    return forms.CharField(label=label, max_length=at_most, widget=forms.Textarea(attrs={"rows": rows}), **more)
