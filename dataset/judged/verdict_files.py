"""Verdicts of large aggregations: a Parquet file by image and caption, and rows for the pairs under review only.

Pages ask here, and get the same verdicts from rows and from files.
"""

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import dataset, parquet

from core.errors import CounterpartError
from core.files.stored_files import StoredFile, copy_file, local_copy
from corpus.models import Caption, Collection, Image
from dataset.models import Aggregation, Case, Review, Verdict
from dataset.versions.version_files import sha256_of
from hits.question import Level

LARGE = 1_000_000
"""Aggregations of more pairs have their verdicts in a file."""
_IMAGES = 500  # whose pairs under review get their rows at once
_PAIRS = 1_000  # whose ids are looked up at once
SHARES = [f"share_{level}" for level in Level.values]
SCHEMA = pa.schema(
    [
        ("image", pa.string()),
        ("caption", pa.string()),
        ("level", pa.int8()),
        *((share, pa.float64()) for share in SHARES),
        ("votes", pa.int32()),
        ("probability", pa.float64()),
    ]
)
CONFIDENCE = pc.choose(pc.field("level") - 1, *(pc.field(share) for share in SHARES))
"""The share of a verdict's own level."""
Order = Sequence[tuple[str, str]]
"""Columns to sort by, each ``ascending`` or ``descending``."""
_PAIR: Order = [("image", "ascending"), ("caption", "ascending")]
LEAST_CERTAIN: Order = [("probability", "ascending"), *_PAIR]
BY_LEVEL: Order = [("level", "ascending"), ("confidence", "descending"), *_PAIR]
LINE = pa.schema(
    [
        ("image", pa.string()),
        ("caption", pa.string()),
        ("level", pa.int8()),
        ("distribution", pa.list_(pa.float64())),
        ("confidence", pa.float64()),
        ("probability", pa.float64()),
        ("votes", pa.int32()),
    ]
)
"""The columns of a verdict as programs get it."""
READ = ("image__key", "caption__key", "level", "distribution", "confidence", "probability", "votes")
CHUNK = 10_000
TABLE = ["image", "caption", "level", "votes", "probability"]
PLACE = re.compile(r"\d{1,18}(\.\d{1,18}){1,2}", re.ASCII)
Line = dict[str, Any]


def write_verdicts(prefix: str, parts: Iterable[pa.Table]) -> StoredFile:
    """Store verdicts as ``<prefix>-<first digits of the checksum>.parquet``.

    ``parts`` have the columns of SCHEMA and follow one another by image and caption; each becomes a row group, so that
    a pair is found in one or two of them.
    """
    with tempfile.TemporaryDirectory() as folder:
        local = Path(folder) / "verdicts.parquet"
        with parquet.ParquetWriter(local, SCHEMA, compression="zstd", version="2.6") as writer:
            for part in parts:
                writer.write_table(part)
        sha256 = sha256_of(local)
        stored = StoredFile(f"{prefix}-{sha256[:12]}.parquet", sha256)
        copy_file(local, stored.path)
    return stored


def count_verdicts(aggregation: Aggregation) -> int:
    """Return the number of verdicts of an aggregation."""
    if not aggregation.file:
        return aggregation.verdicts.count()
    return int(parquet.read_metadata(local_copy(aggregation.stored)).num_rows)


def verdicts_on(
    aggregations: Sequence[Aggregation], images: Sequence[Image], captions: Sequence[Caption]
) -> list[Verdict]:
    """Return the verdicts on pairs of one of the images with one of the captions, in the order of the aggregations.

    Those from a file have no database id.
    """
    in_rows = [one for one in aggregations if not one.file]
    by_aggregation: dict[int, list[Verdict]] = {}
    for row in Verdict.objects.filter(aggregation__in=in_rows, image__in=images, caption__in=captions):
        by_aggregation.setdefault(row.aggregation_id, []).append(row)
    found = []
    for one in aggregations:
        for verdict in _in_file(one, images, captions) if one.file else by_aggregation.get(one.pk, []):
            verdict.aggregation = one
            found.append(verdict)
    return found


def least_certain(aggregation: Aggregation, n: int) -> list[Verdict]:
    """Return the ``n`` verdicts of the lowest known probability, in order. Those from a file have no database id."""
    if not aggregation.file:
        known = aggregation.verdicts.exclude(probability=None)
        return list(known.order_by("probability", "image_id", "caption_id")[:n])
    (least,) = _in_order(aggregation, pc.field("probability").is_valid(), LEAST_CERTAIN, n)
    return _verdicts(aggregation, least, *_ids_of(aggregation, least))


def pairs_in_file(
    aggregation: Aggregation, wanted: pc.Expression | None, by: Order = (), n: int | None = None
) -> Iterator[list[tuple[int, int]]]:
    """Yield the ids of image and caption of the rows of a file that are ``wanted``, some at a time, as they follow one
    another there; or, sorted ``by`` columns, the first ``n`` of them or all."""
    for rows in _in_order(aggregation, wanted, by, n):
        for start in range(0, len(rows), _PAIRS):
            some = rows.slice(start, _PAIRS)
            images, captions = _ids_of(aggregation, some)
            yield [(images[row["image"]], captions[row["caption"]]) for row in some.to_pylist()]


def judged_pairs(query: Image | Caption) -> set[tuple[int, int]]:
    """Return the pairs of an image or a caption on which there is a verdict."""
    side, other = ("image", "caption") if isinstance(query, Image) else ("caption", "image")
    rows = Verdict.objects.filter(**{side: query}).values_list(f"{other}_id", flat=True)
    found = set(rows)
    collection = query.collection if isinstance(query, Image) else query.image.collection
    of_other = collection.captions if side == "image" else collection.images
    for one in _with_files(collection):
        keys = _read(one, pc.field(side) == query.key, columns=[other])[other].to_pylist()
        found |= set(of_other.filter(key__in=keys).values_list("pk", flat=True))
    return {(query.pk, one) if side == "image" else (one, query.pk) for one in found}


def verdict_lines(aggregation: Aggregation, after: str = "", n: int | None = None) -> Iterator[tuple[str, Line]]:
    """Yield the place of each verdict and its values of LINE: the first ``n`` beyond the place ``after``, or all.

    Rows are in the order of the ids of image and caption, those of a file in that of its keys. Raises CounterpartError
    for an invalid place, and for one of verdicts that were replaced since.
    """
    place = _read_place(aggregation, after)
    found = _file_lines(aggregation, *place) if aggregation.file else _row_lines(aggregation, *place, n=n)
    for where, line in found:
        yield ".".join(map(str, (aggregation.pk, *where))), line


def verdict_tables(aggregation: Aggregation) -> Iterator[pd.DataFrame]:
    """Yield the verdicts some at a time, with the columns ``image`` and ``caption`` (keys), ``level``, ``votes`` and
    ``probability``, NaN where it is unknown."""
    if aggregation.file:
        file = dataset.dataset(local_copy(aggregation.stored), schema=SCHEMA)  # files of earlier programs have less
        yield from (part.to_pandas() for part in file.to_batches(columns=TABLE, batch_size=CHUNK))
        return
    found = aggregation.verdicts.values_list("image__key", "caption__key", *TABLE[2:]).iterator(chunk_size=CHUNK)
    while part := list(islice(found, CHUNK)):
        yield pd.DataFrame(part, columns=TABLE).astype({"probability": float})


def _read_place(aggregation: Aggregation, after: str) -> list[int]:
    if not after:
        return []
    counted, *place = map(int, after.split(".")) if PLACE.fullmatch(after) else [0]
    if len(place) != (1 if aggregation.file else 2):
        raise CounterpartError(f"Invalid place {after!r}: use the one in the previous answer.")
    if counted != aggregation.pk:
        raise CounterpartError(f"The votes of {aggregation.round} were counted again. Read the list from the start.")
    return place


def _row_lines(
    aggregation: Aggregation, image: int = 0, caption: int = 0, *, n: int | None
) -> Iterator[tuple[tuple[int, ...], Line]]:
    rows = aggregation.verdicts.filter(image_id__gte=image).exclude(image_id=image, caption_id__lte=caption)
    ordered = rows.order_by("image_id", "caption_id")[:n]
    read = ordered.values_list("image_id", "caption_id", *READ).iterator(chunk_size=CHUNK)
    for image_id, caption_id, *values in read:
        yield (image_id, caption_id), dict(zip(LINE.names, values, strict=True))


def _file_lines(aggregation: Aggregation, place: int = -1) -> Iterator[tuple[tuple[int, ...], Line]]:
    for table in _tables_from(aggregation, place + 1):
        for row in table.to_pylist():
            place += 1
            line = {name: row.get(name) for name in LINE.names}  # files of earlier programs have no probability
            line["distribution"] = [row[share] for share in SHARES]
            line["confidence"] = line["distribution"][row["level"] - 1]
            yield (place,), line


def _tables_from(aggregation: Aggregation, first: int) -> Iterator[pa.Table]:
    """Yield the rows of an aggregation's file from the row ``first`` on, counted from 0, some at a time."""
    file = parquet.ParquetFile(local_copy(aggregation.stored))
    for group in range(file.num_row_groups):
        rows = file.metadata.row_group(group).num_rows
        if first < rows:
            table = file.read_row_group(group)
            for start in range(first, rows, _PAIRS):
                yield table.slice(start, _PAIRS)
        first = max(0, first - rows)


def add_rows_under_review(collection: Collection) -> None:
    """Give the pairs of cases and reviews their rows of the verdicts that are in files: filters of pages need them."""
    for aggregation in _with_files(collection):
        known = set(aggregation.verdicts.values_list("image_id", "caption_id"))
        cases = Case.objects.filter(collection=collection).values_list("image_id", "caption_id")
        reviews = Review.objects.filter(collection=collection, image__isnull=False, caption__isnull=False)
        wanted = {*cases, *reviews.order_by().values_list("image_id", "caption_id")} - known
        images = collection.images.filter(pk__in={image for image, _ in wanted}).order_by("key")
        rows = images.iterator(chunk_size=_IMAGES)  # by key, as in the file: some of its row groups have them
        while some := {image.pk: image for image in islice(rows, _IMAGES)}:
            asked = {caption for image, caption in wanted if image in some}
            captions = list(collection.captions.filter(pk__in=asked))
            found = _in_file(aggregation, list(some.values()), captions)
            under_review = [row for row in found if (row.image_id, row.caption_id) in wanted]
            Verdict.objects.bulk_create(under_review, batch_size=2_000, ignore_conflicts=True)


def _with_files(collection: Collection) -> Iterable[Aggregation]:
    return Aggregation.objects.filter(round__pool__collection=collection).exclude(file="")


def _in_file(aggregation: Aggregation, images: Sequence[Image], captions: Sequence[Caption]) -> list[Verdict]:
    """Return the verdicts of the file on pairs of the images and captions, as rows that are not saved."""
    image_ids = {image.key: image.pk for image in images}
    caption_ids = {caption.key: caption.pk for caption in captions}
    if not image_ids or not caption_ids:
        return []
    image = pc.field("image")
    between = (image >= min(image_ids)) & (image <= max(image_ids))
    wanted = between & image.isin(list(image_ids)) & pc.field("caption").isin(list(caption_ids))
    return _verdicts(aggregation, _read(aggregation, wanted), image_ids, caption_ids)


def _in_order(aggregation: Aggregation, wanted: pc.Expression | None, by: Order, n: int | None) -> Iterator[pa.Table]:
    """Yield rows of a file as ``pairs_in_file`` says, with their confidence; those that are sorted, in one table."""
    file = dataset.dataset(local_copy(aggregation.stored), schema=SCHEMA)  # files of earlier programs have less
    columns = {name: pc.field(name) for name in SCHEMA.names} | {"confidence": CONFIDENCE}
    scanner = file.scanner(columns=columns, filter=wanted)
    rows = (pa.table(batch) for batch in scanner.to_batches())
    if not by:
        yield from rows
        return
    kept = [scanner.projected_schema.empty_table()]
    for some in rows:
        kept.append(some)
        if n is not None:
            kept = [pa.concat_tables(kept).sort_by(by)[:n]]
    yield pa.concat_tables(kept).sort_by(by)


def _ids_of(aggregation: Aggregation, rows: pa.Table) -> tuple[dict[str, int], dict[str, int]]:
    """Return the ids of the images and of the captions of some rows, by key."""
    collection = aggregation.round.pool.collection
    images, captions = (rows[side].unique().to_pylist() for side in ("image", "caption"))
    return (
        dict(collection.images.filter(key__in=images).values_list("key", "pk")),
        dict(collection.captions.filter(key__in=captions).values_list("key", "pk")),
    )


def _verdicts(
    aggregation: Aggregation, rows: pa.Table, image_ids: Mapping[str, int], caption_ids: Mapping[str, int]
) -> list[Verdict]:
    """Return rows of the file as rows of the database that are not saved."""
    return [
        Verdict(
            aggregation=aggregation,
            image_id=image_ids[row["image"]],
            caption_id=caption_ids[row["caption"]],
            level=row["level"],
            distribution=[row[share] for share in SHARES],
            confidence=row[f"share_{row['level']}"],
            votes=row["votes"],
            probability=row.get("probability"),  # files of earlier programs have none
        )
        for row in rows.to_pylist()
    ]


def _read(aggregation: Aggregation, wanted: pc.Expression, columns: list[str] | None = None) -> pa.Table:
    return parquet.read_table(local_copy(aggregation.stored), filters=wanted, columns=columns)
