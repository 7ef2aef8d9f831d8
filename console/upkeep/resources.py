"""Calls that undo imports and rename."""

from typing import Annotated

from django import forms
from django.shortcuts import get_object_or_404
from ninja import Schema

from console.api.bearer import ApiRequest
from console.api.operations import Resources
from console.collections.schemas import BatchAnswer
from console.inventory import remove, rename, singular
from console.inventory_rows import THINGS
from core.parameters import Parameters, choices
from corpus.models import Batch

resources = Resources("Imports and names")


@resources.acts("/batches/{name}/undo", "data:write", BatchAnswer, status=200)
def undo(request: ApiRequest, name: str) -> Batch:
    """Take an import back, while nothing depends on what it brought."""
    batch = get_object_or_404(Batch, name=name)
    remove("batch", name, actor=request.user.get_username())
    batch.refresh_from_db()
    return batch


class NewName(Parameters):
    """Another name for a thing."""

    kind: Annotated[str, forms.ChoiceField(choices=choices(*map(singular, THINGS)), help_text="kind of thing")]
    name: Annotated[str, forms.CharField(help_text="its name; of a match source COLLECTION/SOURCE")]
    new: Annotated[str, forms.CharField(help_text="its name from now on")]


class NameAnswer(Schema):
    """A kind of thing, and its name from now on."""

    kind: str
    name: str


@resources.acts("/names", "data:write", NameAnswer, status=200)
def give_name(request: ApiRequest, parameters: NewName) -> dict[str, str]:
    """Give something another name, where no released version and no platform carries the old one."""
    rename(parameters.kind, parameters.name, parameters.new, actor=request.user.get_username())
    return {"kind": parameters.kind, "name": parameters.new}
