"""New annotators by calls: the parameters of a call, checked before a job reads the uploaded files; and options without
those of the operator."""

from collections.abc import Set
from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated, Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError

from console.annotators.forms import CHECKPOINTS, COMPANIONS
from console.collections.sent_imports import check_suffix
from core.errors import CounterpartError
from mitl.annotators import kind_of, kinds
from mitl.hosting.option_fields import CompanionFile, Fields, ServerText
from mitl.models import Annotator
from mitl.registration import AddParameters, Origin, settings_from

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


@dataclass(frozen=True, kw_only=True)
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

    def params(self) -> dict[str, Any]:
        """Return the job's parameters, without the files."""
        params = {"name": self.name, "kind": self.kind, "options": self.options or {}}
        params |= {"source": self.source, "licence": self.licence}
        return params | ({"collection": self.collection} if self.collection else {})


def _refuse(names: Set[str], reason: str) -> None:
    if names:
        raise CounterpartError(f"Invalid option {min(names)}: {reason}.")


def shown_options(annotator: Annotator) -> dict[str, Any]:
    """Return the options without addresses, variables and folders of the server; files as names without folders."""
    declared = kind_of(annotator.kind).options if annotator.kind in kinds() else {}
    shown = {}
    for name, value in annotator.options.items():
        field = declared.get(name)
        if isinstance(field, CompanionFile):
            shown[name] = PurePath(str(value)).name
        elif field is not None and not isinstance(field, ServerText):
            shown[name] = value
    return shown
