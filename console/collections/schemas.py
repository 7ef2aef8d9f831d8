"""The fields of a collection that calls, commands and pages show."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any

from django.db.models import QuerySet
from ninja import Field, Schema

from console.api.row_fields import Named, address
from console.pagination import count_of
from corpus.batches import contents_of
from corpus.models import Caption, Collection, Image, Match, Sample


class SourceAnswer(Schema):
    """How many matches a source has, and how many of these it judged to be no match."""

    source: str
    matches: Annotated[int, Field(validation_alias="n")]
    rejected: Annotated[int, Field(validation_alias="n_rejected")]


class BatchLine(Schema):
    """An import: what it brought, from which file, by whom and when. ``undone_at``: when it was taken back."""

    name: str
    kind: str
    brought: str
    source: str
    file: str
    by: str
    created_at: datetime
    undone_at: datetime | None
    undone_by: str

    resolve_brought = staticmethod(contents_of)


class CollectionAnswer(Schema):
    """Captioned images: counts of what a collection has, and its imports, the first one first."""

    name: str
    url: Annotated[str, Field(validation_alias="name"), address("collection")]
    description: str
    images: Annotated[int, Field(validation_alias="n_images")]
    captions: Annotated[int, Field(validation_alias="n_captions")]
    samples: Annotated[int, Field(validation_alias="n_samples")]
    matches: Annotated[list[SourceAnswer], Field(validation_alias="by_source")]
    batches: list[BatchLine]
    created_at: datetime


class BatchAnswer(BatchLine):
    """An import, its collection, the language of its captions where it is known, and what it brought by kind."""

    collection: Named
    language: str
    counts: dict[str, int] | None


class SourceLine(Schema):
    """A match source of imports, by its collection's name and its own."""

    name: Annotated[str, Field(validation_alias="place")]
    first_import: Annotated[str, Field(validation_alias="name")]


def counted_collections() -> QuerySet[Collection]:
    """Return the collections with ``n_images``, ``n_captions`` and ``n_samples``."""
    return Collection.objects.prefetch_related("batches").annotate(
        n_images=count_of(Image, "collection"),
        n_captions=count_of(Caption, "collection"),
        n_samples=count_of(Sample, "collection"),
    )


def with_sources(counted: Iterable[Any]) -> list[Any]:
    """Give counted collections their matches ``by_source``, with one query for any number."""
    collections = list(counted)
    sources = defaultdict(list)
    for counts in Match.objects.filter(collection__in=[one.pk for one in collections]).by_source():
        sources[counts["collection"]].append(counts)
    for one in collections:
        one.by_source = sources[one.pk]
    return collections
