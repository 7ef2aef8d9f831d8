"""Tables of any origin: those of ``counterpart_metrics.table_rows``, JSON lines, or a JSON list of objects."""

from collections.abc import Collection, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

from core.errors import CounterpartError
from core.untrusted import read_json
from corpus.input_files import at, json_records, lines
from counterpart_metrics import table_rows
from counterpart_metrics.table_rows import Row, Wanted, beginning, is_parquet

IMAGE_ID = ("image_id", "img_id", "cocoid", "iid", "image_key", "images_id")
FILE_NAME = ("file_name", "filename", "file", "file_path", "filepath", "image_path", "path", "image_name", "img_path")
IMAGE = (*IMAGE_ID, "image", "img", *FILE_NAME, "picture")
CAPTION_ID = ("caption_id", "captions_id", "sentid", "sent_id", "sentence_id", "cid", "caption_key", "text_id")
TEXT = ("text", "caption", "description", "sentence", "raw", "comment", "caption_text", "title")
SPLIT = ("split", "set", "subset", "partition", "fold")
WORKER = ("worker", "worker_id", "annotator", "annotator_id", "user", "user_id", "performer", "rater")
ANSWER = ("level", "answer", "label", "grade", "judgment", "judgement", "annotation", "choice", "rating")


def columns_of(path: Path) -> list[str]:
    """Return the names of a table's columns as it writes them; [] for an empty file."""
    if is_json(path):
        return next((list(row) for _, row in _json_rows(path) if isinstance(row, dict)), [])
    return table_rows.table_columns(path, path.name)


def read_rows(path: Path, wanted: Wanted, *, required: Collection[str] = ()) -> Iterator[Row]:
    """Yield (number of the line, or of the row of a list or of Parquet, from 1; our name of a column → cell), as
    ``table_rows`` does. Raises CounterpartError as it does; the first row of JSON has the columns."""
    if not is_json(path):
        yield from table_rows.table_rows(path, path.name, wanted, required=required)
        return
    if not (header := columns_of(path)):
        raise CounterpartError(f"{path.name} is empty. Write it again, with a line of column names.")
    table_rows.found_columns(path.name, header, wanted, required)
    yield from table_rows.placed(path.name, _json_rows(path), wanted, required)


def is_json(path: Path) -> bool:
    """Whether the text begins as JSON does."""
    return not is_parquet(path, path.name) and beginning(path, path.name).lstrip().startswith(("{", "["))


def _json_rows(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the lines' objects by line; the elements of a list, and objects of several lines, by their place."""
    try:
        in_lines = isinstance(read_json(StringIO(beginning(path, path.name)).readline()), dict)
    except ValueError:
        in_lines = "jsonl" in path.name
    if not in_lines:
        yield from enumerate(json_records(path), 1)
        return
    for number, line in lines(path):
        with at(path, "line", number):
            value = read_json(line)
        yield number, value
