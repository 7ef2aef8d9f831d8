"""The verdicts of a count of votes for programs, from rows and from files alike, and places in them."""

import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from core.errors import CounterpartError
from dataset.models import Aggregation
from dataset.verdict_files import SHARES, tables_from

COLUMNS = pa.schema(
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
READ = ("image__key", "caption__key", "level", "distribution", "confidence", "probability", "votes")
CHUNK = 10_000
PLACE = re.compile(r"\d{1,18}(\.\d{1,18}){1,2}", re.ASCII)
Line = dict[str, Any]


def verdict_lines(aggregation: Aggregation, after: str = "", n: int | None = None) -> Iterator[tuple[str, Line]]:
    """Yield the place of each verdict and its values of COLUMNS: the first ``n`` beyond the place ``after``, or all.

    Rows are in the order of the ids of image and caption, those of a file in that of its keys. Raises CounterpartError
    for a place that is none, or of verdicts that were replaced since.
    """
    place = _read_place(aggregation, after)
    found = _in_file(aggregation, *place) if aggregation.file else _in_rows(aggregation, *place, n=n)
    for where, line in found:
        yield ".".join(map(str, (aggregation.pk, *where))), line


def _read_place(aggregation: Aggregation, after: str) -> list[int]:
    if not after:
        return []
    counted, *place = map(int, after.split(".")) if PLACE.fullmatch(after) else [0]
    if len(place) != (1 if aggregation.file else 2):
        raise CounterpartError(f"The list has no place {after!r}. Take it from the answer before.")
    if counted != aggregation.pk:
        raise CounterpartError(f"The votes of {aggregation.round} were counted again since. Read from the start.")
    return place


def _in_rows(
    aggregation: Aggregation, image: int = 0, caption: int = 0, *, n: int | None
) -> Iterator[tuple[tuple[int, ...], Line]]:
    rows = aggregation.verdicts.filter(image_id__gte=image).exclude(image_id=image, caption_id__lte=caption)
    ordered = rows.order_by("image_id", "caption_id")[:n]
    for *where, image_key, caption_key, level, shares, confidence, probability, votes in ordered.values_list(
        "image_id", "caption_id", *READ
    ).iterator(chunk_size=CHUNK):
        values = (image_key, caption_key, level, shares, confidence, probability, votes)
        yield tuple(where), dict(zip(COLUMNS.names, values, strict=True))


def _in_file(aggregation: Aggregation, place: int = -1) -> Iterator[tuple[tuple[int, ...], Line]]:
    for table in tables_from(aggregation, place + 1):
        for row in table.to_pylist():
            place += 1
            shares = [row[share] for share in SHARES]
            yield (
                (place,),
                {
                    **{name: row.get(name) for name in COLUMNS.names},  # files of earlier programs have no probability
                    "distribution": shares,
                    "confidence": shares[row["level"] - 1],
                },
            )
