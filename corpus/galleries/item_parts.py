"""Parts of a gallery's items: Parquet files of images or of captions, in the gallery's order, that need no rows.

An image has ``key``, ``file`` (its picture's path in the storage or URL; empty where it has none) and ``sha256`` (of
that file; may be empty). A caption has ``key``, ``text`` and ``image``, the place of its image among the gallery's
images.
"""

import hashlib
import json
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from django.db.models import QuerySet
from pyarrow import parquet

from core.files.stored_files import Part, StoredFile, local_copy, write_file
from corpus.models import Caption, Collection, Gallery, Image, Sample

IMAGES = "images"
CAPTIONS = "captions"
ROWS = 262_144  # of a part of an imported gallery
SCHEMAS = {
    IMAGES: pa.schema(
        [
            pa.field("key", pa.string(), nullable=False),
            pa.field("file", pa.string(), nullable=False),
            pa.field("sha256", pa.string(), nullable=False),
        ]
    ),
    CAPTIONS: pa.schema(
        [
            pa.field("key", pa.string(), nullable=False),
            pa.field("text", pa.string(), nullable=False),
            pa.field("image", pa.int64(), nullable=False),
        ]
    ),
}


def write_part(prefix: str, items: pa.Table, first: int) -> Part:
    """Store items of one side as ``<prefix>-<first digits of the checksum>.parquet``. Equal items give equal bytes.

    ``items`` has the columns of one of ``SCHEMAS``.
    """
    buffer = BytesIO()
    # Spelled out, as another default of a later pyarrow would change the checksums of equal items.
    parquet.write_table(
        items.combine_chunks(),
        buffer,
        row_group_size=max(1, len(items)),
        version="2.6",
        data_page_version="1.0",
        compression="zstd",
        compression_level=1,
        use_dictionary=False,
        write_statistics=False,
    )
    content = buffer.getvalue()
    stored = write_file(f"{prefix}-{hashlib.sha256(content).hexdigest()[:12]}.parquet", content)
    return Part(stored.path, stored.sha256, first, len(items))


def read_part(part: Part) -> pa.Table:
    """Return the items of a part. Raises CounterpartError if its file is missing or was changed."""
    return parquet.read_table(local_copy(StoredFile(part.path, part.sha256)))


def parts_of(gallery: Gallery) -> dict[str, list[Part]]:
    """Return a gallery's parts by side, in order. Raises CounterpartError if their list is missing or was changed."""
    listed = json.loads(local_copy(StoredFile(gallery.file, gallery.sha256)).read_text())
    return {side: [Part(**part) for part in listed[side]] for side in SCHEMAS}


def images_of(part: Part) -> list[Image]:
    """Return the images of a part as rows that are not saved: with key, file and sha256."""
    return [Image(**item) for item in read_part(part).to_pylist()]


def captions_of(part: Part) -> list[Caption]:
    """Return the captions of a part as rows that are not saved: with key and text."""
    return [Caption(**item) for item in read_part(part).select(["key", "text"]).to_pylist()]


def parts_of_queries(sample: Sample, folder: str, rows_a_part: int) -> dict[str, list[Part]]:
    """Store the queries of a sample as parts, by side and in the order of their ids. Memory: as ``parts_of_rows``."""
    return _parts_of(sample.images.all(), sample.captions.all(), folder, rows_a_part)


def parts_of_rows(collection: Collection, folder: str, rows_a_part: int) -> dict[str, list[Part]]:
    """Store the gallery rows of a collection as parts, by side and in the order of their ids.

    Memory: the rows of one part, and the ids of the images.
    """
    return _parts_of(collection.images.gallery(), collection.captions.gallery(), folder, rows_a_part)


def _parts_of(
    images: QuerySet[Image], captions: QuerySet[Caption], folder: str, rows_a_part: int
) -> dict[str, list[Part]]:
    images = images.order_by("pk")
    captions = captions.order_by("pk")
    image_ids = np.fromiter(images.values_list("pk", flat=True).iterator(), np.int64)
    rows = {
        IMAGES: images.values_list("key", "file", "sha256").iterator(),
        CAPTIONS: captions.values_list("key", "text", "image_id").iterator(),
    }
    return {side: list(_written(side, rows[side], folder, rows_a_part, image_ids)) for side in SCHEMAS}


def _written(
    side: str, rows: Iterator[tuple[Any, ...]], folder: str, rows_a_part: int, image_ids: np.ndarray
) -> Iterator[Part]:
    first = 0
    while taken := list(islice(rows, rows_a_part)):
        columns: list[Any] = list(zip(*taken, strict=True))
        if side == CAPTIONS:
            places = np.searchsorted(image_ids, columns[2])
            known = np.isin(columns[2], image_ids)  # the image of a query need not be one
            columns[2] = np.where(known, places, -1)
        yield write_part(f"{folder}/{side}", pa.table(columns, schema=SCHEMAS[side]), first)
        first += len(taken)
