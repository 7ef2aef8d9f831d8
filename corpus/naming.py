"""Names people give: checked before they become rows, and looked up with a helpful answer."""

from typing import TypeVar

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db.models import Model, QuerySet

from core.errors import CounterpartError, some_of
from corpus.models import Collection, Sample

MAX_NAME = 80
Named = TypeVar("Named", bound=Model)


def check_name(name: str) -> str:
    """Return ``name`` if it may name a row. Raises CounterpartError unless it is 1-80 of a-z, A-Z, 0-9, - and _."""
    try:
        validate_slug(name)
    except ValidationError as error:
        raise CounterpartError(
            f"The name {name!r} will not do: only letters, digits, - and _ are allowed in it."
        ) from error
    if len(name) > MAX_NAME:
        raise CounterpartError(f"The name {name!r} has {len(name)} characters; choose one of at most {MAX_NAME}.")
    return name


def find_named(rows: QuerySet[Named], name: str, *, made_by: str) -> Named:
    """Return the row of this name. Raises CounterpartError with the names there are and the command that makes one."""
    found = rows.filter(name=name).first()
    if found is None:
        names = list(rows.values_list("name", flat=True))
        known = f"there is {some_of(names)}" if names else "there is none yet"
        kind = rows.model._meta.verbose_name
        raise CounterpartError(f"There is no {kind} {name!r}; {known}. Make one with {made_by}.")
    return found


def find_collection(name: str) -> Collection:
    """Return the collection of this name, or raise as ``find_named`` does."""
    return find_named(Collection.objects.all(), name, made_by="import_collection")


def find_sample(name: str) -> Sample:
    """Return the sample of this name, or raise as ``find_named`` does."""
    return find_named(Sample.objects.select_related("collection"), name, made_by="sample_queries")
