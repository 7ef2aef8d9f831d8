"""Long lists as one file, in bounded memory: JSON lines while they are read, or Parquet."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from tempfile import TemporaryFile
from typing import Any, Literal

import pyarrow as pa
from django.http import FileResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from pyarrow import parquet

Format = Literal["json", "jsonl", "parquet"]
LINES = "application/jsonl"
PARQUET = "application/vnd.apache.parquet"
LINES_A_CHUNK = 1_000
ROWS_A_GROUP = 50_000
FILES = {
    LINES: {"schema": {"type": "string", "description": "With `format=jsonl`: all rows, one a line."}},
    PARQUET: {"schema": {"type": "string", "format": "binary", "description": "With `format=parquet`: all rows."}},
}
"""The description of what a list answers as a file."""


def as_file(rows: Iterable[dict[str, Any]], columns: pa.Schema, format_name: Format, name: str) -> HttpResponseBase:
    """Return the rows, whose values are JSON's, as a download."""
    if format_name == "parquet":
        return _parquet(iter(rows), columns, name)
    answer = StreamingHttpResponse(_lines(iter(rows)), content_type=LINES)
    answer["Content-Disposition"] = f'attachment; filename="{name}.jsonl"'
    return answer


def _lines(rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    while chunk := list(islice(rows, LINES_A_CHUNK)):
        yield "".join(f"{json.dumps(row)}\n" for row in chunk)


def _parquet(rows: Iterator[dict[str, Any]], columns: pa.Schema, name: str) -> FileResponse:
    file = TemporaryFile()  # noqa: SIM115  the answer closes it
    with parquet.ParquetWriter(file, columns, compression="zstd") as writer:
        while group := list(islice(rows, ROWS_A_GROUP)):
            writer.write_table(pa.Table.from_pylist(group, columns))
    file.seek(0)
    return FileResponse(file, content_type=PARQUET, as_attachment=True, filename=f"{name}.parquet")
