"""The gallery that annotators search, the places in it of the queries, and the ranked lists that they find."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from django.db.models import Model, QuerySet
from numpy.typing import NDArray

import corpus.models
from core.errors import CounterpartError, some_of
from core.files.stored_files import StoredFile, read_arrays, read_rows, write_arrays
from core.text import counted
from corpus.models import Caption, Collection, Image, Sample
from counterpart_annotators.plain import PlainCaption, PlainImage
from counterpart_metrics.ids import number_or_text
from mitl.hosting.plain_rows import plain_captions, plain_images
from mitl.models import Direction, Retrieval

Places = NDArray[np.int64]
# Places in the gallery, best first, and their scores: both (queries, depth). Shorter lists end in -1 and -inf.
Found = tuple[Places, NDArray[np.floating]]
BothFound = dict[Direction, Found]

Row = TypeVar("Row", bound=Model)
CHECKSUMS = 100_000  # hashed at once


@dataclass(frozen=True)
class SearchGallery:
    """The ids of the images and captions to search, ascending; queries are places among them.

    ``sample`` is where the queries come from; None: all are queries. Rows are read when they are first used: joining
    lists needs ids alone, and there may be a million.

    ``listed``: the items to search, if files list them and they have no rows; ids and places are then those of the
    queries alone.
    """

    collection: Collection
    sample: Sample | None
    image_ids: Places
    caption_ids: Places
    image_queries: Places
    caption_queries: Places
    checksums: NDArray[np.bytes_]  # of the images' files; empty where a file is missing
    listed: corpus.models.Gallery | None = None

    @cached_property
    def images(self) -> list[PlainImage]:
        """Raises CounterpartError if the images of the collection have changed."""
        rows = list(_images(self.collection).only("collection", "key", "file", "sha256", "split"))
        return plain_images(_same(rows, self.image_ids))

    @cached_property
    def captions(self) -> list[PlainCaption]:
        """Raises CounterpartError if the captions or the images of the collection have changed."""
        rows = list(_captions(self.collection).only("collection", "key", "text", "image_id"))
        keys = dict(zip(self.image_ids.tolist(), (image.key for image in self.images), strict=True))
        return plain_captions(_same(rows, self.caption_ids), keys)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of images and of captions that are searched."""
        if self.listed:
            return self.listed.n_images, self.listed.n_captions
        return len(self.image_ids), len(self.caption_ids)

    @property
    def depth(self) -> int:
        """The longest possible lists in both directions."""
        return min(self.shape)

    def asks(self, direction: Direction) -> Places:
        """Return the places of the queries of one direction."""
        return self.image_queries if direction == Direction.IMAGE_TO_CAPTION else self.caption_queries

    def ids_of_queries(self, direction: Direction) -> Places:
        """Return the ids of the side that asks, ascending."""
        return self.image_ids if direction == Direction.IMAGE_TO_CAPTION else self.caption_ids

    def ids_of_items(self, direction: Direction) -> Places:
        """Return the ids of the side that is searched, ascending."""
        return self.caption_ids if direction == Direction.IMAGE_TO_CAPTION else self.image_ids

    @property
    def directions(self) -> list[Direction]:
        """The directions that have queries."""
        return [direction for direction in Direction if len(self.asks(direction))]

    @property
    def asks_all(self) -> bool:
        """Whether every image and every caption is a query."""
        return len(self.image_queries) == len(self.image_ids) and len(self.caption_queries) == len(self.caption_ids)

    @property
    def of_all(self) -> "SearchGallery":
        """The same gallery, asked by every image and every caption."""
        everything = np.arange(len(self.image_ids)), np.arange(len(self.caption_ids))
        return SearchGallery(self.collection, None, self.image_ids, self.caption_ids, *everything, self.checksums)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of ids, picture checksums and queries: equal galleries have equal search results."""
        digest = hashlib.sha256(self.listed.digest.encode() if self.listed else b"")
        for ids in (self.image_ids, self.caption_ids, self.image_queries, self.caption_queries):
            digest.update(ids.tobytes() + b"|")
        for start in range(0, len(self.checksums), CHECKSUMS):
            digest.update(b"".join(checksum or b"-" for checksum in self.checksums[start : start + CHECKSUMS].tolist()))
        return digest.hexdigest()


def open_gallery(
    collection: Collection, sample: Sample | None = None, listed: corpus.models.Gallery | None = None
) -> SearchGallery:
    """Read a collection's gallery; the queries are the sample's, or the whole gallery without one.

    ``listed``: a gallery beyond the collection's rows, to search in their place for the sample's queries.

    Raises CounterpartError where the gallery is empty, or the sample is of another collection or has queries outside.
    """
    if listed:
        return _open_listed(collection, sample, listed)
    image_ids, checksums = _ids_and_checksums(_images(collection))
    caption_ids = _ids(_captions(collection))
    if not len(image_ids) or not len(caption_ids):
        check_searchable(collection)  # raises, and says why
    if sample is None:
        queries = np.arange(len(image_ids)), np.arange(len(caption_ids))
    elif sample.collection_id != collection.pk:
        raise CounterpartError(
            f"The sample {sample} is of {sample.collection}, not of {collection}; choose another sample."
        )
    else:
        asked = (sample.images.all(), image_ids), (sample.captions.all(), caption_ids)
        queries = _places(sample, *asked[0]), _places(sample, *asked[1])
    return SearchGallery(collection, sample, image_ids, caption_ids, *queries, checksums)


def check_searchable(collection: Collection) -> None:
    """Raise CounterpartError for a collection whose gallery has no images or no captions."""
    images = _images(collection)
    captions = _captions(collection)
    if images.exists() and captions.exists():
        return
    if images.exists() and not collection.captions.exists():
        raise CounterpartError(
            f"No image of {collection} has a caption, so there is nothing to search. Have workers write some "
            "(sample_queries --uncaptioned, then pack --task caption), or import some with --append."
        )
    raise CounterpartError(
        f"{collection} has {images.count()} images and {captions.count()} captions outside its training splits,"
        " so there is nothing to search. Import some, with split test or none."
    )


def _open_listed(collection: Collection, sample: Sample | None, listed: corpus.models.Gallery) -> SearchGallery:
    if sample is None:
        raise CounterpartError(f"The gallery {listed} is searched for a sample's queries; pass --queries SAMPLE.")
    for what in (listed, sample):
        if what.collection_id != collection.pk:
            raise CounterpartError(
                f"The {what._meta.verbose_name} {what} is of {what.collection}, not of {collection}; choose another."
            )
    image_ids, checksums = _ids_and_checksums(sample.images.order_by("pk"))
    caption_ids = _ids(sample.captions.order_by("pk"))
    queries = np.arange(len(image_ids)), np.arange(len(caption_ids))
    return SearchGallery(collection, sample, image_ids, caption_ids, *queries, checksums, listed)


# Where rows are read, "collection" is among only(): the related manager would fetch it again for every single one.
def _images(collection: Collection) -> QuerySet[Image]:
    return collection.images.gallery().order_by("pk")


def _captions(collection: Collection) -> QuerySet[Caption]:
    return collection.captions.gallery().order_by("pk")


def _ids(rows: QuerySet) -> Places:
    return np.fromiter(rows.values_list("pk", flat=True).iterator(), np.int64)


def _ids_and_checksums(images: QuerySet[Image]) -> tuple[Places, NDArray[np.bytes_]]:
    rows = np.fromiter(images.values_list("pk", "sha256").iterator(), np.dtype([("pk", np.int64), ("sha256", "S64")]))
    return np.ascontiguousarray(rows["pk"]), rows["sha256"]


def _same(rows: list[Row], ids: Places) -> list[Row]:
    if not np.array_equal([row.pk for row in rows], ids):
        raise CounterpartError("The collection changed during the search; run the same command again.")
    return rows


def _places(sample: Sample, queries: QuerySet, ids: Places) -> Places:
    asked = _ids(queries.order_by("pk"))
    outside = asked[~np.isin(asked, ids)]
    if len(outside):
        keys = dict(queries.values_list("pk", "key"))
        named = some_of([keys[pk] for pk in outside.tolist()])
        are = counted(len(outside), f"query of {sample} is", f"queries of {sample} are")
        raise CounterpartError(f"{are} in a training split: {named}. Sample queries outside it.")
    return np.searchsorted(ids, asked)


Ids = NDArray[np.int64]
Scores = NDArray[np.floating]


@dataclass(frozen=True)
class RankedLists:
    """One direction: row q lists the items found for query q, best first.

    ``queries`` (Q,) and ``items`` (Q, k) hold database ids: images and captions for i2t, captions and images
    for t2i. ``scores`` (Q, k) are the annotator's own, in the precision that decided the order: lists sorted by them
    again do not change. Shorter lists are padded with item 0 and score -inf.
    """

    queries: Ids
    items: Ids
    scores: Scores

    def top(self, k: int) -> "RankedLists":
        """Return the first ``k`` places of every list."""
        return RankedLists(self.queries, self.items[:, :k], self.scores[:, :k])

    def of(self, queries: Ids) -> "RankedLists":
        """Return the lists of some of the queries, in their order; all must be there."""
        order = np.argsort(self.queries)
        rows = order[np.searchsorted(self.queries, queries, sorter=order)]
        return RankedLists(queries, self.items[rows], self.scores[rows])


BothLists = dict[Direction, RankedLists]


def with_ids(gallery: SearchGallery, found: BothFound) -> BothLists:
    """Return lists of places in the gallery as lists of ids."""
    return {
        direction: RankedLists(
            gallery.ids_of_queries(direction)[gallery.asks(direction)],
            np.where(places < 0, 0, gallery.ids_of_items(direction)[places]),
            scores,
        )
        for direction, (places, scores) in found.items()
    }


def store_lists(prefix: str, lists: BothLists) -> StoredFile:
    """Write the lists of the directions present as one file."""
    arrays = {
        f"{direction.value}_{part}": getattr(ranked, part)
        for direction, ranked in lists.items()
        for part in ("queries", "items", "scores")
    }
    return write_arrays(prefix, **arrays)


def load_lists(retrieval: Retrieval, sample: Sample | None = None) -> BothLists:
    """Read a retrieval's lists; a direction that was not searched is absent.

    ``sample``: of a search of the whole gallery, only the lists of the sample's queries.
    """
    if sample is None or retrieval.sample_id is not None:
        return _stored_lists(retrieval)
    asked = sampled_queries(sample).items()
    return {direction: _lists_of(retrieval, direction, queries) for direction, queries in asked if len(queries)}


def sampled_queries(sample: Sample) -> dict[Direction, Ids]:
    """Return the ids of a sample's queries, ascending, by direction."""
    sides = zip(Direction, (sample.images, sample.captions), strict=True)
    return {direction: _ids(rows.order_by("pk")) for direction, rows in sides}


def rankings_of(retrieval: Retrieval) -> dict[str, dict[str, list[int | str]]]:
    """Return a retrieval's lists by direction and by the source data's ids, as ``evaluate --rankings`` reads them:
    queries are texts, as JSON requires, items numbers where they are written like numbers."""
    sides = retrieval.collection.images, retrieval.collection.captions
    images, captions = (dict(side.values_list("pk", "key").iterator()) for side in sides)
    keys = {Direction.IMAGE_TO_CAPTION: (images, captions), Direction.CAPTION_TO_IMAGE: (captions, images)}
    return {
        direction.value: {
            keys[direction][0][query]: [number_or_text(keys[direction][1][item]) for item in items if item]
            for query, items in zip(ranked.queries.tolist(), ranked.items.tolist(), strict=True)
        }
        for direction, ranked in _stored_lists(retrieval).items()
    }


def _lists_of(retrieval: Retrieval, direction: Direction, queries: Ids) -> RankedLists:
    """Read the lists of some of the queries, ascending, as all are stored. In memory are these and a block."""
    rows = np.searchsorted(read_rows(retrieval.stored, f"{direction.value}_queries"), queries)
    items, scores = (read_rows(retrieval.stored, f"{direction.value}_{part}", rows) for part in ("items", "scores"))
    return RankedLists(queries, items, scores)


def _stored_lists(retrieval: Retrieval) -> BothLists:
    arrays = read_arrays(retrieval.stored)
    return {
        direction: RankedLists(*(arrays[f"{direction.value}_{part}"] for part in ("queries", "items", "scores")))
        for direction in Direction
        if f"{direction.value}_queries" in arrays
    }
