"""What machines search and for whom: a collection's gallery, and the places in it of the queries."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from django.db.models import Model, QuerySet
from numpy.typing import NDArray

from corpus.models import Caption, Collection, Image, Sample
from journal.errors import CounterpartError, some_of
from mitl.models import Direction

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Gallery:
    """The images and captions searched, in the order of their ids; queries are places among them."""

    images: list[Image]
    captions: list[Caption]
    image_queries: Places
    caption_queries: Places

    @cached_property
    def image_ids(self) -> Places:
        return _ids(self.images)

    @cached_property
    def caption_ids(self) -> Places:
        return _ids(self.captions)

    @property
    def depth(self) -> int:
        """How long lists can be in both directions."""
        return min(len(self.images), len(self.captions))

    def asks(self, direction: Direction) -> Places:
        """Return the places of the queries of one direction."""
        return self.image_queries if direction == Direction.IMAGE_TO_CAPTION else self.caption_queries

    @property
    def directions(self) -> list[Direction]:
        """The directions in which anything is asked."""
        return [direction for direction in Direction if len(self.asks(direction))]

    @property
    def asks_all(self) -> bool:
        """Whether every image and every caption is a query."""
        return len(self.image_queries) == len(self.images) and len(self.caption_queries) == len(self.captions)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over ids, picture checksums and queries: equal where a search would see the same."""
        digest = hashlib.sha256()
        for ids in (self.image_ids, self.caption_ids, self.image_queries, self.caption_queries):
            digest.update(ids.tobytes() + b"|")
        digest.update("".join(image.sha256 or "-" for image in self.images).encode())
        return digest.hexdigest()


def open_gallery(collection: Collection, sample: Sample | None) -> Gallery:
    """Read a collection's gallery; the queries are the sample's, or without one the whole gallery.

    Raises CounterpartError where the gallery is empty, or the sample is of another collection or asks outside it.
    """
    # With "collection" left out of only(), the related manager would fetch it again for every single row.
    images = list(collection.images.gallery().only("collection", "key", "file", "sha256"))
    captions = list(collection.captions.gallery().only("collection", "key", "text", "image_id"))
    if not images or not captions:
        raise CounterpartError(
            f"{collection} has {len(images)} images and {len(captions)} captions outside its training splits;"
            " there is nothing to search. Import some, with split test or none."
        )
    if sample is None:
        return Gallery(images, captions, np.arange(len(images)), np.arange(len(captions)))
    if sample.collection_id != collection.pk:
        raise CounterpartError(f"The sample {sample} is of {sample.collection}, not of {collection}; name another.")
    return Gallery(
        images, captions, _places(sample, sample.images.all(), images), _places(sample, sample.captions.all(), captions)
    )


def _places(sample: Sample, queries: QuerySet, gallery: Iterable[Model]) -> Places:
    place = {row.pk: number for number, row in enumerate(gallery)}
    keys = dict(queries.order_by("pk").values_list("pk", "key"))
    outside = [key for pk, key in keys.items() if pk not in place]
    if outside:
        raise CounterpartError(
            f"{len(outside)} queries of {sample} stand in a training split: {some_of(outside)}. Sample gallery ones."
        )
    return np.array([place[pk] for pk in keys], dtype=np.int64)


def _ids(rows: Iterable[Model]) -> Places:
    return np.array([row.pk for row in rows], dtype=np.int64)
