"""Files as answers: whole, a part of one (``Range``), or nothing where a caller has it; and long lists as one file."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Literal

import pyarrow as pa
from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header, quote_etag
from pyarrow import parquet

from console.api.problems import Problem
from core.errors import CounterpartError
from core.untrusted import MOST_DIGITS

MEDIA_TYPE = "application/octet-stream"
BLOCK = 1 << 16  # bytes in memory
RANGE = re.compile(rf"bytes=(\d{{0,{MOST_DIGITS}}})-(\d{{0,{MOST_DIGITS}}})", re.ASCII)


def send_file(request: HttpRequest, file: Path, *, sha256: str, name: str) -> HttpResponseBase:
    """Answer with a file that never changes, or with the requested part of it.

    Several ranges, an invalid range and a range of another file (``If-Range``) are answered with the whole file.
    Raises Problem for a range beyond its end.
    """
    etag = quote_etag(sha256)
    size = file.stat().st_size
    response: HttpResponseBase | None = get_conditional_response(request, etag=etag)
    if response is None:
        part = _part(request, etag, size) if request.method == "GET" else None
        response = _content(request, file, size) if part is None else _content_of_part(file, part, size)
        response["Content-Disposition"] = content_disposition_header(True, name)
    response["ETag"] = etag
    response["Accept-Ranges"] = "bytes"
    response["Cache-Control"] = "private, no-cache"
    return response


@contextmanager
def missing_as_404(name: str) -> Iterator[None]:
    """Refuse a file that the body finds missing or changed, without its place in the storage."""
    try:
        yield
    except CounterpartError as error:
        raise Problem(404, f"The file {name} is missing or was changed. Restore it from a backup.") from error


def _content(request: HttpRequest, file: Path, size: int) -> HttpResponseBase:
    if request.method == "HEAD":
        return HttpResponse(content_type=MEDIA_TYPE, headers={"Content-Length": str(size)})
    return FileResponse(file.open("rb"), content_type=MEDIA_TYPE)


def _content_of_part(file: Path, part: range, size: int) -> HttpResponseBase:
    headers = {"Content-Range": f"bytes {part.start}-{part.stop - 1}/{size}", "Content-Length": str(len(part))}
    return StreamingHttpResponse(_blocks(file, part), status=206, content_type=MEDIA_TYPE, headers=headers)


def _blocks(file: Path, part: range) -> Iterator[bytes]:
    with file.open("rb") as content:
        content.seek(part.start)
        for first in range(part.start, part.stop, BLOCK):
            yield content.read(min(BLOCK, part.stop - first))


def _part(request: HttpRequest, etag: str, size: int) -> range | None:
    """Return the places of the bytes that are asked for (RFC 9110, 14.1.2); None for the whole file."""
    asked = RANGE.fullmatch(request.headers.get("Range", "").replace(" ", ""))
    if asked is None or not any(asked.groups()) or request.headers.get("If-Range", etag) != etag:
        return None
    first, last = (int(text) if text else None for text in asked.groups())
    if first is None:
        part = range(max(0, size - (last or 0)), size)
    elif last is not None and last < first:
        return None
    else:
        part = range(first, size if last is None else min(last + 1, size))
    if not part:
        raise Problem(
            416, f"The file has {size:,} bytes. Request a range within them.", {"Content-Range": f"bytes */{size}"}
        )
    return part


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
