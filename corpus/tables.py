"""Tables of any origin: text with separated columns, JSON lines, a JSON list of objects, or Parquet, read by one rule.

The content shows the form and the separator (comma, tab, semicolon or |). Columns are found by any of the names that
files give them: letter case, blanks, - and _ do not count.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import StringIO
from itertools import islice
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import untrusted
from core.errors import CounterpartError, one_line, some_of
from core.text import counted
from core.untrusted import read_json
from corpus.input_files import at, bounded, json_records, lines, opened
from counterpart_metrics.text_files import as_text, comparable

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

IMAGE_ID = ("image_id", "img_id", "cocoid", "iid", "image_key", "images_id")
FILE_NAME = ("file_name", "filename", "file", "file_path", "filepath", "image_path", "path", "image_name", "img_path")
IMAGE = (*IMAGE_ID, "image", "img", *FILE_NAME, "picture")
CAPTION_ID = ("caption_id", "captions_id", "sentid", "sent_id", "sentence_id", "cid", "caption_key", "text_id")
TEXT = ("text", "caption", "description", "sentence", "raw", "comment", "caption_text", "title")
SPLIT = ("split", "set", "subset", "partition", "fold")
SCORE = ("score", "agg_score", "similarity", "rating", "value")
WORKER = ("worker", "worker_id", "annotator", "annotator_id", "user", "user_id", "performer", "rater")
ANSWER = ("level", "answer", "label", "grade", "judgment", "judgement", "annotation", "choice", "rating")

Wanted = Mapping[str, tuple[str, ...]]
"""Our name of a column → the names that a file may use; the first that it has counts."""
Row = tuple[int, dict[str, Any]]
Cells = tuple[int, list[str]]

PARQUET = b"PAR1"
SEPARATORS = ",\t;|"
SEEN = 1 << 16  # characters at the beginning that show the form


def columns_of(path: Path) -> list[str]:
    """Return the names of a table's columns as it writes them; [] for an empty file."""
    if _is_parquet(path):
        with _parquet(path) as file:
            return list(file.schema_arrow.names)
    if is_json(path):
        return next((list(row) for _, row in _json_rows(path) if isinstance(row, dict)), [])
    return next((header for _, header in _parsed(path, _separator(path))), [])


def read_rows(path: Path, wanted: Wanted, *, required: Collection[str] = ()) -> Iterator[Row]:
    """Yield (number of the line, or of the row of a list or of Parquet, from 1; our name of a column → cell).

    Cells of text are texts, others what JSON or Parquet has; None where a cell is empty, or the file does not have the
    column. Raises CounterpartError for a file that cannot be read so, for required columns that it does not have, for
    a wanted column that it has twice, and for a row of another length than the header.
    """
    if _is_parquet(path):
        yield from _parquet_rows(path, wanted, required)
        return
    if not (header := columns_of(path)):
        raise CounterpartError(f"{path.name} is empty. Write it again, with a line of column names.")
    found_columns(path, header, wanted, required)
    yield from placed(path, _json_rows(path) if is_json(path) else _text_rows(path), wanted, required)


def placed(
    path: Path, rows: Iterable[tuple[int, Any]], wanted: Wanted, required: Collection[str] = ()
) -> Iterator[Row]:
    """Yield rows by our names of their columns, as ``read_rows`` does; each may have columns of its own."""
    header: list[str] = []
    places: dict[str, str | None] = {}
    for number, row in rows:
        if not isinstance(row, dict):
            raise CounterpartError(f"{path.name}, row {number}: not a JSON object with a value for each column.")
        if (names := list(row)) != header:
            header = names
            places = found_columns(path, header, wanted, required)
        yield number, {ours: None if theirs is None else _cell(row[theirs]) for ours, theirs in places.items()}


def found_columns(
    path: Path, header: list[str], wanted: Wanted, required: Collection[str] = ()
) -> dict[str, str | None]:
    """Return our name of each column → the header's. Raises CounterpartError as ``read_rows`` does."""
    theirs: dict[str, list[str]] = {}
    for name in header:
        theirs.setdefault(folded(name), []).append(name)
    found: dict[str, str | None] = {}
    for ours, names in wanted.items():
        there = next((theirs[folded(name)] for name in names if folded(name) in theirs), [])
        if len(there) > 1:
            raise CounterpartError(f"{path.name} has {len(there)} columns {there[0]}: {some_of(there)}. Rename one.")
        found[ours] = there[0] if there else None
    if missing := [ours for ours in required if found[ours] is None]:
        asked = "; ".join(f"{ours} ({some_of(wanted[ours])})" for ours in missing)
        columns = some_of([name[:40] for name in header], at_most=12)
        raise CounterpartError(f"{path.name} has no column for {asked}. Its columns are: {columns}. Rename or add it.")
    return found


def folded(name: str) -> str:
    """Return the name of a column as it is compared: ``Image ID`` is ``image_id``, ``image-id`` and ``imageId``."""
    return "".join(sign for sign in comparable(name).casefold() if sign not in "-_" and not sign.isspace())


def is_json(path: Path) -> bool:
    """Whether the text begins as JSON does."""
    return _beginning(path).lstrip().startswith(("{", "["))


def _beginning(path: Path) -> str:
    """Return the text's first characters, from the first line that is not blank."""
    with opened(path) as file, as_text(path.name, file, newline="") as text:
        return text.read(SEEN).lstrip("\r\n")


def _cell(value: Any) -> Any:
    return None if value == "" or (isinstance(value, float) and isnan(value)) else value


def _text_rows(path: Path) -> Iterator[Row]:
    cells = _cells(path)
    for _, header in islice(cells, 1):
        # A repeated name gets blanks, which do not count when it is compared.
        names = [name + " " * header[:place].count(name) for place, name in enumerate(header)]
        for number, row in cells:
            if len(row) != len(names):
                fields = counted(len(row), "field")
                raise CounterpartError(f"{path.name}, line {number}: {fields}, but the header has {len(names)}.")
            yield number, dict(zip(names, row, strict=True))


def _cells(path: Path) -> Iterator[Cells]:
    separator = _separator(path)
    enclosed = True
    if separator in "\t|":
        # Such tables are often written without quotes: there a quote is a sign, as in the caption "Stop" says it all.
        try:
            enclosed = len({len(row) for _, row in _parsed(path, separator)}) == 1
        except CounterpartError:
            enclosed = False
    return _parsed(path, separator, quotes=enclosed)


def _parsed(path: Path, separator: str, *, quotes: bool = True) -> Iterator[Cells]:
    """Yield (line number, cells) of each row of separated text that is not empty, the header's first."""
    with opened(path) as file, as_text(path.name, file, newline="") as text:
        rows = _full(path, bounded(path, text), separator, quotes=quotes)
        for number, header in islice(rows, 1):
            yield number, [comparable(name) for name in header]
        yield from rows


def _full(path: Path, text: Iterable[str], separator: str, *, quotes: bool = True) -> Iterator[Cells]:
    for number, row in untrusted.csv_cells(path.name, text, delimiter=separator, quotes=quotes):
        is_hint = len(row) <= 2 and row[0].startswith("sep=")  # of Excel, in the first line
        if not is_hint and any(map(str.strip, row)):
            yield number, row


def _separator(path: Path) -> str:
    """Return the separator with which most of the first rows have as many cells as the header, and the most of them."""
    beginning = _beginning(path)
    fits = {}
    for separator in SEPARATORS:
        sizes = []
        try:
            for _, row in _full(path, StringIO(beginning, newline=""), separator):
                sizes.append(len(row))
        except CounterpartError:  # for the one that is chosen it is raised again
            pass
        if sizes and sizes[0] > 1:
            fits[separator] = (sizes.count(sizes[0]) / len(sizes), sizes[0])
    return max(fits, key=fits.__getitem__, default=",")


def _json_rows(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the lines' objects by line; the elements of a list, and objects of several lines, by their place."""
    try:
        in_lines = isinstance(read_json(StringIO(_beginning(path)).readline()), dict)
    except ValueError:
        in_lines = "jsonl" in path.name
    if not in_lines:
        yield from enumerate(json_records(path), 1)
        return
    for number, line in lines(path):
        with at(path, "line", number):
            value = read_json(line)
        yield number, value


def _is_parquet(path: Path) -> bool:
    with opened(path) as file:
        return file.read(len(PARQUET)) == PARQUET


@contextmanager
def _parquet(path: Path) -> Iterator["ParquetFile"]:
    from pyarrow import ArrowException, parquet  # half a second, which only such files need

    try:
        with parquet.ParquetFile(path) as file:
            yield file
    except (ArrowException, OSError) as error:
        raise CounterpartError(f"{path.name} is cut short or damaged ({one_line(error)}). Write it again.") from error


def _parquet_rows(path: Path, wanted: Wanted, required: Collection[str]) -> Iterator[Row]:
    with _parquet(path) as file:
        places = found_columns(path, list(file.schema_arrow.names), wanted, required)
        number = 0
        for batch in file.iter_batches(256, columns=[name for name in places.values() if name is not None]):
            for row in batch.to_pylist():
                number += 1
                yield number, {ours: _cell(row[theirs]) if theirs else None for ours, theirs in places.items()}
