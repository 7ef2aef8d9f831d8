"""The forms that add and train annotators."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from django import forms

from console.fields import ParametersForm, UploadField, choose
from core.parameters import choices
from core.text import NameField
from corpus.models import Collection
from mitl.annotators import kind_of
from mitl.hosting.option_fields import CompanionFile, ServerText
from mitl.models import Annotator
from mitl.registration import AddParameters, Origin
from mitl.training.train_parameters import TrainParameters

CHECKPOINTS = (".npz", ".pth", ".pt", ".tar", ".bin", ".ckpt", ".safetensors", ".json", ".zip")
COMPANIONS = (".pkl", ".json", ".txt", ".gz")  # vocabularies and tokenisers


class TrainForm(ParametersForm):
    """An annotator's training data and settings; ``losses`` are those that its kind supports."""

    act = TrainParameters

    def __init__(self, *args: Any, losses: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choose(self, "collection", forms.ModelChoiceField(Collection.objects.all(), empty_label=None))
        self.fields["loss"] = forms.ChoiceField(choices=choices(*losses), required=bool(losses))


def _check_new(name: str) -> str:
    if Annotator.objects.filter(name=name).exists():
        raise forms.ValidationError(f"Annotator {name} already exists. Choose another name.")
    return name


class EmbeddingsForm(forms.Form):
    """An uploaded file of embeddings or lists, and the name of the annotator that it becomes."""

    name = NameField(label="Name of the annotator")
    file = UploadField(suffixes=(".npz", ".json"), label="File", help_text="Embeddings (.npz) or ranked lists (.json).")

    def clean_name(self) -> str:
        return _check_new(self.cleaned_data["name"])


class OriginForm(ParametersForm):
    """Where an annotator's weights come from, and their licence."""

    act = Origin


class AnnotatorForm(ParametersForm):
    """A new annotator of a kind; its fields are the options that the kind declares."""

    act = AddParameters

    def __init__(self, *args: Any, kind: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        properties = kind_of(kind)
        self.kind = kind
        self.options = properties.options
        if properties.checkpoint == "none":
            del self.fields["source"], self.fields["licence"]
        else:
            self.fields["checkpoint"] = UploadField(
                suffixes=CHECKPOINTS,
                required=properties.checkpoint == "required",
                label="Weights, embeddings or lists" if kind == "files" else "Weights",
                help_text="A folder, such as a model folder of Hugging Face, as a zip file."
                + ("" if properties.checkpoint == "required" else " Leave empty to train it here."),
            )
        for name, declared in self.options.items():
            if not isinstance(declared, ServerText):
                self.fields[f"option_{name}"] = _on_page(name, declared)

    @property
    def main_fields(self) -> list[forms.BoundField]:
        """The fields ahead of the options."""
        names = ("name", "checkpoint", *self._uploads, "source", "licence")
        return [self[name] for name in names if name in self.fields]

    @property
    def option_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith("option_") and name not in self._uploads]

    @property
    def by_command(self) -> list[str]:
        """The options that only the command takes."""
        return [name for name, declared in self.options.items() if isinstance(declared, ServerText)]

    @property
    def _uploads(self) -> list[str]:
        return [f"option_{name}" for name, declared in self.options.items() if isinstance(declared, CompanionFile)]

    def clean_name(self) -> str:
        return _check_new(self.cleaned_data["name"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for name in self._uploads:
            if cleaned.get(name) and not cleaned.get("checkpoint"):
                self.add_error(name, "It is read together with the weights: upload them too, or leave it empty.")
        return cleaned

    def uploads(self) -> dict[str, Any]:
        """Return the uploaded files by field."""
        return {name: self.cleaned_data.get(name) for name in ("checkpoint", *self._uploads)}

    def params(self) -> dict[str, Any]:
        """Return the job's parameters; options with their default value are left to the weights."""
        given = {field.name.removeprefix("option_"): self.cleaned_data[field.name] for field in self.option_fields}
        options = {name: value for name, value in given.items() if value not in (None, "", self.options[name].initial)}
        return self.chosen() | {"kind": self.kind, "options": options}


def _on_page(name: str, declared: forms.Field) -> forms.Field:
    """Return the field of an option, which may be left empty for the default."""
    if isinstance(declared, CompanionFile):
        field: forms.Field = UploadField(suffixes=COMPANIONS, help_text=declared.help_text)
    else:
        field = deepcopy(declared)
    field.label = name.replace("_", " ").capitalize()
    field.required = False
    return field
