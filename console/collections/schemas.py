"""The fields of a collection that calls, commands and pages show."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from django.db.models import QuerySet
from ninja import Field, Schema

from console.api.row_fields import address
from console.pagination import count_of
from corpus.models import Caption, Collection, Image, Match, Sample


class SourceAnswer(Schema):
    """How many matches a source has, and how many of these it judged to be no match."""

    source: str
    matches: Annotated[int, Field(validation_alias="n")]
    rejected: Annotated[int, Field(validation_alias="n_rejected")]


class CollectionAnswer(Schema):
    """Captioned images that were imported together: counts of what it has."""

    name: str
    url: Annotated[str, Field(validation_alias="name"), address("collection")]
    description: str
    images: Annotated[int, Field(validation_alias="n_images")]
    captions: Annotated[int, Field(validation_alias="n_captions")]
    samples: Annotated[int, Field(validation_alias="n_samples")]
    matches: Annotated[list[SourceAnswer], Field(validation_alias="by_source")]
    created_at: datetime


def counted_collections() -> QuerySet[Collection]:
    """Return the collections with ``n_images``, ``n_captions`` and ``n_samples``."""
    return Collection.objects.annotate(
        n_images=count_of(Image, "collection"),
        n_captions=count_of(Caption, "collection"),
        n_samples=count_of(Sample, "collection"),
    )


def with_sources(collections: Sequence[Any]) -> Sequence[Any]:
    """Give counted collections their matches ``by_source``, with one query for any number."""
    sources = defaultdict(list)
    for counts in Match.objects.filter(collection__in=[one.pk for one in collections]).by_source():
        sources[counts["collection"]].append(counts)
    for one in collections:
        one.by_source = sources[one.pk]
    return collections
