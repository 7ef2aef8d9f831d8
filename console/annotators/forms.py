"""The forms that add and train annotators, and the parameters of a call that does, checked before its job begins."""

from collections.abc import Sequence, Set
from copy import deepcopy
from typing import Annotated, Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError

from console.collections.sent_imports import check_suffix
from console.fields import ParametersForm, UploadField, choose
from core.errors import CounterpartError
from core.parameters import choices
from corpus.models import Collection
from mitl.annotators import kind_of, kinds
from mitl.hosting.option_fields import CompanionFile, Fields, ServerText
from mitl.models import Annotator
from mitl.registration import AddParameters, Origin, settings_from
from mitl.training.trainer import TrainParameters

CHECKPOINTS = (".npz", ".pth", ".pt", ".tar", ".bin", ".ckpt", ".safetensors", ".json", ".zip")
COMPANIONS = (".pkl", ".json", ".txt", ".gz")  # vocabularies and tokenisers


class TrainForm(ParametersForm):
    """An annotator's training data and settings; ``losses`` are those that its kind supports."""

    act = TrainParameters

    def __init__(self, *args: Any, losses: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choose(self, "collection", forms.ModelChoiceField(Collection.objects.all(), empty_label=None))
        self.fields["loss"] = forms.ChoiceField(choices=choices(*losses))
        for name in ("gallery", *(() if losses else ("loss",))):
            del self.fields[name]


class AnnotatorForm(ParametersForm):
    """A new annotator of a kind; its fields are the options that the kind declares."""

    act = AddParameters

    def __init__(self, *args: Any, kind: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        properties = kind_of(kind)
        self.kind = kind
        self.options = properties.options
        if kind == "files":
            self.fields["collection"] = forms.ModelChoiceField(
                Collection.objects.all(),
                to_field_name="name",
                required=False,
                empty_label="not checked",
                help_text="the file has to cover the gallery of this collection",
            )
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
        self.companions = [f"option_{name}" for name, one in self.options.items() if isinstance(one, CompanionFile)]
        self.settings = [name for name in self.fields if name.startswith("option_") and name not in self.companions]
        self.order_fields(("name", "checkpoint", *self.companions, "collection", "source", "licence"))

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Annotator.objects.filter(name=name).exists():
            raise forms.ValidationError(f"Annotator {name} already exists. Choose another name.")
        return name

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for name in self.companions:
            if cleaned.get(name) and not cleaned.get("checkpoint"):
                self.add_error(name, "It is read together with the weights: upload them too, or leave it empty.")
        return cleaned

    def uploads(self) -> dict[str, Any]:
        """Return the uploaded files by field."""
        return {name: self.cleaned_data.get(name) for name in ("checkpoint", *self.companions)}

    def params(self) -> dict[str, Any]:
        """Return the job's parameters; options with their default value are left to the weights."""
        given = {name.removeprefix("option_"): self.cleaned_data[name] for name in self.settings}
        options = {name: value for name, value in given.items() if value not in (None, "", self.options[name].initial)}
        collection = str(self.cleaned_data.get("collection") or "")
        return self.chosen() | {"collection": collection, "kind": self.kind, "options": options}


def _on_page(name: str, declared: forms.Field) -> forms.Field:
    """Return the field of an option, which may be left empty for the default."""
    if isinstance(declared, CompanionFile):
        field: forms.Field = UploadField(suffixes=COMPANIONS, help_text=declared.help_text)
    else:
        field = deepcopy(declared)
    field.label = name.replace("_", " ").capitalize()
    field.required = False
    return field


ADD = AddParameters.fields()


class ObjectField(forms.Field):
    """Texts and numbers by name; None where it is left out."""

    json_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "additionalProperties": {"type": ["string", "number"]},
    }

    def to_python(self, value: Any) -> dict[str, Any]:
        value = value or {}
        if not isinstance(value, dict) or not all(isinstance(one, str | int | float) for one in value.values()):
            raise ValidationError("Use an object with texts and numbers.")
        return value


class SentAnnotator(Origin):
    """A new annotator, with the ids of the uploads that it is made of."""

    name: Annotated[str, ADD["name"]]
    kind: Annotated[str, forms.CharField(max_length=20, help_text="kind of annotator, of those of /annotator-kinds")]
    options: Annotated[
        dict[str, Any] | None,
        ObjectField(required=False, help_text="settings of the kind by name; the others get their defaults"),
    ] = None
    checkpoint: Annotated[
        str, "id of the upload with weights, embeddings or lists; a folder, such as one of Hugging Face, as a zip file"
    ] = ""
    files: Annotated[
        dict[str, Any] | None,
        ObjectField(
            required=False, help_text="ids of uploads that options of the kind name and that are read with the weights"
        ),
    ] = None
    collection: Annotated[str, "of embeddings or lists: check that they cover the gallery of this collection"] = ""

    def sent(self) -> dict[str, str]:
        """Return the ids of the uploads by the fields of the job.

        Raises CounterpartError for an unknown kind, options that a call cannot set, and files that the kind does not
        read.
        """
        if self.kind not in kinds():
            raise CounterpartError(f"Unknown kind of annotator {self.kind!r}; choose one of {', '.join(kinds())}.")
        properties = kind_of(self.kind)
        self._check_options(properties.options)
        settings_from(self.kind, properties, self.options or {})
        if properties.checkpoint == "required" and not self.checkpoint:
            raise CounterpartError(f"Annotators of kind {self.kind} need files: upload one, and name it as checkpoint.")
        if properties.checkpoint == "none" and self.checkpoint:
            raise CounterpartError(f"Annotators of kind {self.kind} have no weights; leave checkpoint out.")
        if self.files and not self.checkpoint:
            raise CounterpartError("Files are read together with the weights: name a checkpoint too.")
        check_suffix(self.checkpoint, CHECKPOINTS)
        files = {f"option_{name}": str(upload) for name, upload in (self.files or {}).items()}
        for upload in files.values():
            check_suffix(upload, COMPANIONS)
        return {"checkpoint": self.checkpoint} | files

    def _check_options(self, options: Fields) -> None:
        companions = {name for name, field in options.items() if isinstance(field, CompanionFile)}
        of_server = {name for name, field in options.items() if isinstance(field, ServerText)}
        sent = set(self.options or {})
        files = set(self.files or {})
        _refuse(of_server & (sent | files), "only the operator sets it")
        _refuse(companions & sent, "upload the file, and name it in files")
        _refuse(files - companions - of_server, f"annotators of kind {self.kind} read no such file")


def _refuse(names: Set[str], reason: str) -> None:
    if names:
        raise CounterpartError(f"Invalid option {min(names)}: {reason}.")
