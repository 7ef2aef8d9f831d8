"""A version's judgments and pairs as streams of Arrow record batches, and such streams as CSV and Parquet files.

Memory does not grow with the rows: a batch holds some thousands of them, and a row group of Parquet ``GROUP``.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import compute, csv, parquet

from core.progress import Progress
from dataset.models import Version
from dataset.versions.version_files import JUDGMENTS, PAIRS, checked_file

Batches = Iterable[pa.RecordBatch]

GROUP = 65_536  # rows
BLOCK = 1 << 19  # bytes of CSV that become one batch; the reader holds some dozens of them

_SMALL = ("level", "control_retired", "simulated", "counted", "positive", "review")
_WHOLE = ("hit", "assignment", "place", "position", "active_seconds", "seconds", "wording", "votes", "simulated_votes")
_SHARES = ("share_1", "share_2", "share_3", "share_4", "confidence", "probability")
NUMBERS = {
    **dict.fromkeys(_SMALL, pa.int8()),
    **dict.fromkeys(_WHOLE, pa.int32()),
    **dict.fromkeys(_SHARES, pa.float64()),
}


def judgment_batches(version: Version, progress: Progress, *, columns: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
    """Yield the version's judgments in the order of their file, with its columns or those named; an empty number
    becomes null.

    Raises CounterpartError if the file is missing or was changed.
    """
    return _reported(_read(checked_file(version, JUDGMENTS), columns), "judgments", progress)


def pair_batches(version: Version, progress: Progress) -> Iterator[pa.RecordBatch]:
    """Yield the version's pairs in the order of their file, with its columns and those of ``with_labels``.

    Raises CounterpartError if the file is missing or was changed.
    """
    return _reported(map(with_labels, _read(checked_file(version, PAIRS))), "pairs", progress)


def pair_rows(version: Version, progress: Progress) -> Iterator[dict[str, Any]]:
    """Yield the version's pairs as ``pair_batches`` does, one by one."""
    for batch in pair_batches(version, progress):
        yield from batch.to_pylist()


def with_labels(pairs: pa.RecordBatch) -> pa.RecordBatch:
    """Append the columns ``strict`` and ``graded`` to pairs.

    ``strict`` is 1 for a positive whose level is 1, and for one that was not judged but is a match by a merged source.
    ``graded`` is the sum of ``positive`` and ``strict``: 2, 1 or 0. Half of it is the pair's gain: that of its level
    (ECCV Caption, equation E.4), but 1 for an unjudged match by a merged source, and 0.5 for one that people judged
    level 3 or 4.
    """
    by_level = compute.fill_null(compute.equal(pairs["level"], 1), True)
    strict = compute.multiply(pairs["positive"], compute.cast(by_level, pa.int8()))
    return pairs.append_column("strict", strict).append_column("graded", compute.add(pairs["positive"], strict))


def with_ids(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Yield the batches with the columns ``image`` and ``caption``, which hold ids, as ``image_id`` and
    ``caption_id``: readers of Parquet expect a picture and a text under the short names."""
    for batch in batches:
        yield batch.rename_columns(
            [f"{name}_id" if name in ("image", "caption") else name for name in batch.schema.names]
        )


def write_csv(path: Path, batches: Callable[[], Batches]) -> None:
    """Write the batches of a call of ``batches``; of a second call with quotes where a text has a comma or a quote."""
    try:
        _write_csv(path, batches(), "none")
    except pa.ArrowInvalid:
        _write_csv(path, batches(), "needed")


def write_parquet(path: Path, batches: Batches, *, group: int = GROUP) -> None:
    """Write the batches, of which there is at least one, in row groups of about ``group`` rows."""
    batches = iter(batches)
    first = next(batches)
    waiting = [first]
    with parquet.ParquetWriter(path, first.schema, compression="zstd") as writer:
        for batch in batches:
            waiting.append(batch)
            if sum(map(len, waiting)) >= group:
                writer.write_table(pa.Table.from_batches(waiting))
                waiting = []
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting))


def _read(path: Path, columns: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
    with path.open(encoding="utf-8") as file:
        columns = columns or file.readline().rstrip("\n").split(",")
    types = {name: NUMBERS.get(name, pa.string()) for name in columns}
    yield pa.RecordBatch.from_pylist([], schema=pa.schema(list(types.items())))
    yield from csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=BLOCK),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types=types, include_columns=columns, null_values=[""], strings_can_be_null=False
        ),
    )


def _reported(batches: Batches, step: str, progress: Progress) -> Iterator[pa.RecordBatch]:
    done = 0
    for batch in batches:
        yield batch
        done += len(batch)
        progress(step, done, None)


def _write_csv(path: Path, batches: Batches, quoting: str) -> None:
    batches = iter(batches)
    first = next(batches)
    options = csv.WriteOptions(quoting_style=quoting, quoting_header="none")
    with csv.CSVWriter(path, first.schema, write_options=options) as writer:
        for batch in chain([first], batches):
            writer.write(batch)
