"""What a version's queries search: its images and captions, and the labels of pairs by query."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa
from pyarrow import compute

from core.errors import CounterpartError, some_of
from core.text import counted
from dataset.exports.exported_tables import pair_batches, pair_rows, with_ids
from dataset.exports.specification import Export
from dataset.models import Version
from dataset.versions.file_rows import AUTOMATIC, GalleryRow
from dataset.versions.version_files import load_gallery, released_queries
from mitl.models import Direction

AT_ONCE = 500  # rows read from the database together
Thing = TypeVar("Thing")


class GalleryCaption(NamedTuple):
    key: str
    image: str
    text: str


class GalleryImage(NamedTuple):
    """``file`` is the picture's path in the storage, ``sha256`` its checksum at the release; both may be empty."""

    key: str
    file_name: str
    width: int | None
    height: int | None
    file: str
    sha256: str


class Labelled(NamedTuple):
    """The label of one pair for one of its sides as the query. ``query`` and ``item`` are the collection's keys."""

    direction: Direction
    query: str
    item: str
    label: int


def gallery_captions(version: Version) -> Iterator[GalleryCaption]:
    """Yield the captions in the order of the version's file, without those that the release excluded.

    Raises CounterpartError at the end if captions are missing from the collection or have another text now.
    """

    def read(rows: Sequence[GalleryRow]) -> Iterator[GalleryCaption | None]:
        found = version.collection.captions.filter(key__in=[row.key for row in rows])
        texts: dict[str, str] = dict(found.values_list("key", "text"))
        for row in rows:
            text = texts.get(row.key, "")
            fits = hashlib.sha256(text.encode()).hexdigest() == row.sha256
            yield GalleryCaption(row.key, row.image, text) if fits else None

    return _checked(version, "caption", read)


def gallery_images(version: Version) -> Iterator[GalleryImage]:
    """Yield the images in the order of the version's file, without those that the release excluded.

    Raises CounterpartError at the end if images are missing from the collection.
    """
    columns = ("key", "file_name", "width", "height", "file")

    def read(rows: Sequence[GalleryRow]) -> Iterator[GalleryImage | None]:
        found = version.collection.images.filter(key__in=[row.key for row in rows]).values_list(*columns)
        images: dict[str, Any] = {image[0]: image for image in found}
        for row in rows:
            yield GalleryImage._make((*images[row.key], row.sha256)) if row.key in images else None

    return _checked(version, "image", read)


def query_keys(version: Version) -> dict[Direction, set[str]]:
    """Return the keys of the images and of the captions that are queries."""
    queries = released_queries(version)
    return {direction: set(rows.values_list("key", flat=True)) for direction, rows in queries.items()}


def pairs_by_id(export: Export) -> Iterator[pa.RecordBatch]:
    """Yield the pairs of a version for Parquet. ``image_query`` and ``caption_query`` are 1 where that side of a pair
    is a query, without which no reader could score a model on them."""
    queries = {direction: pa.array(sorted(keys), pa.string()) for direction, keys in query_keys(export.version).items()}
    for batch in with_ids(pair_batches(export.version, export.progress)):
        for side, direction in (("image", Direction.IMAGE_TO_CAPTION), ("caption", Direction.CAPTION_TO_IMAGE)):
            asked = compute.is_in(batch[f"{side}_id"], queries[direction])
            batch = batch.append_column(f"{side}_query", compute.cast(asked, pa.int8()))
        yield batch


def labelled_pairs(export: Export) -> Iterator[Labelled]:
    """Yield every judged or positive pair for each of its sides that is a query, with the label that is asked for.
    Pairs that were rejected automatically are left out: these formats cannot mark them."""
    queries = query_keys(export.version)
    for pair in pair_rows(export.version, export.progress):
        if pair["sources"] == AUTOMATIC:
            continue
        image = pair["image"]
        caption = pair["caption"]
        label = export.label_of(pair)
        if image in queries[Direction.IMAGE_TO_CAPTION]:
            yield Labelled(Direction.IMAGE_TO_CAPTION, image, caption, label)
        if caption in queries[Direction.CAPTION_TO_IMAGE]:
            yield Labelled(Direction.CAPTION_TO_IMAGE, caption, image, label)


def _checked(
    version: Version, kind: str, read: Callable[[Sequence[GalleryRow]], Iterator[Thing | None]]
) -> Iterator[Thing]:
    excluded = set(version.manifest[f"excluded_{kind}s"])
    changed = list[str]()
    rows = (row for row in load_gallery(version) if row.kind == kind and row.key not in excluded)
    while some := list(islice(rows, AT_ONCE)):
        for row, found in zip(some, read(some), strict=True):
            if found is None:
                changed.append(row.key)
            else:
                yield found
    if changed:
        raise CounterpartError(
            f"{version.collection} lost {counted(len(changed), kind)}, or changed them, since version {version} was "
            f"released: {some_of(changed)}. Import the collection as it was."
        )
