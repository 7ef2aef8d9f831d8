"""The four tables of a version as Parquet files: pairs, judgments, captions and images."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from dataset.exports.exported_tables import GROUP, with_ids, write_parquet
from dataset.exports.gallery_rows import gallery_captions, gallery_images, pairs_by_id, query_keys
from dataset.exports.judgments_long import long_batches
from dataset.exports.picture_column import AT_ONCE, PICTURE, pictured_images, with_features
from dataset.exports.specification import Export
from mitl.models import Direction

CAPTIONS = pa.schema(
    [("caption_id", pa.string()), ("image_id", pa.string()), ("text", pa.string()), ("query", pa.int8())]
)
IMAGES = pa.schema(
    [
        ("image_id", pa.string()),
        ("file_name", pa.string()),
        ("width", pa.int32()),
        ("height", pa.int32()),
        ("query", pa.int8()),
    ]
)
PICTURED_IMAGES = with_features(IMAGES.append(pa.field("image", PICTURE)))
ROWS = 10_000


def write_data_files(export: Export) -> dict[str, Path]:
    """Write ``data/<table>.parquet`` for every table that the version has; return table → path.

    The gallery's captions come with their texts, its images with file names and, if the export wants them, the
    pictures. ``query`` is 1 for queries. Raises CounterpartError for pictures that are missing or were changed.
    """
    queries = query_keys(export.version)
    image_queries = queries[Direction.IMAGE_TO_CAPTION]
    caption_queries = queries[Direction.CAPTION_TO_IMAGE]
    captions = ((*row, int(row.key in caption_queries)) for row in gallery_captions(export.version))
    tables = {"pairs": pairs_by_id(export)}
    if export.version.manifest["rounds"]:
        tables["judgments"] = with_ids(long_batches(export))
    tables |= {"captions": batches_of(captions, CAPTIONS), "images": _image_batches(export, image_queries)}
    folder = export.folder / "data"
    folder.mkdir()
    paths = {name: folder / f"{name}.parquet" for name in tables}
    for name, batches in tables.items():
        write_parquet(paths[name], batches, group=AT_ONCE if export.pictures and name == "images" else GROUP)
    return paths


def _image_batches(export: Export, queries: set[str]) -> Iterator[pa.RecordBatch]:
    if not export.pictures:
        images = ((*row[:4], int(row.key in queries)) for row in gallery_images(export.version))
        return batches_of(images, IMAGES)
    pictured = ((*row[:4], int(row.key in queries), picture) for row, picture in pictured_images(export))
    return batches_of(pictured, PICTURED_IMAGES, size=AT_ONCE)


def batches_of(rows: Iterable[tuple[Any, ...]], schema: pa.Schema, *, size: int = ROWS) -> Iterator[pa.RecordBatch]:
    """Yield the rows as batches of ``size``; an empty one first, so that there is at least one."""
    yield pa.RecordBatch.from_pylist([], schema=schema)
    rows = iter(rows)
    while some := list(islice(rows, size)):
        columns = zip(*some, strict=True)
        yield pa.record_batch(
            [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema
        )


def describe(path: Path) -> tuple[pa.Schema, int]:
    """Return the schema of a Parquet file and its number of rows."""
    with parquet.ParquetFile(path) as file:
        return file.schema_arrow, file.metadata.num_rows
