"""Rows of tables of any origin: text with separated columns, plain or gzipped, or Parquet, read by one rule.

The content shows the form and the separator (comma, tab, semicolon or |). Columns are found by any of the names that
files give them: letter case, blanks, - and _ do not count. A file's ``name`` is that in errors.
"""

import csv
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import StringIO, TextIOWrapper
from itertools import count, islice
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterpart_metrics.errors import CounterpartError, counted, some_of
from counterpart_metrics.json_gate import LONGEST_LINE, unstorable
from counterpart_metrics.text_files import as_text, comparable, opened

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

QUERY = ("query_id", "query", "qid")
ITEM = ("corpus_id", "doc_id", "item", "item_id")
SCORE = ("score", "agg_score", "similarity", "rating", "value")

Wanted = Mapping[str, tuple[str, ...]]
"""Our name of a column → the names that a file may use; the first that it has counts."""
Row = tuple[int, dict[str, Any]]
Cells = tuple[int, list[str]]

PARQUET = b"PAR1"
SEPARATORS = ",\t;|"
SEEN = 1 << 16  # characters at the beginning that show the form


def table_columns(path: Path, name: str) -> list[str]:
    """Return the names of a table's columns as it writes them; [] for an empty file."""
    if is_parquet(path, name):
        with _parquet(path, name) as file:
            return list(file.schema_arrow.names)
    return next((header for _, header in _parsed(path, name, _separator(path, name))), [])


def table_rows(path: Path, name: str, wanted: Wanted, *, required: Collection[str] = ()) -> Iterator[Row]:
    """Yield (number of the line, or of the row of Parquet, from 1; our name of a column → cell).

    Cells of text are texts, others what Parquet has; None where a cell is empty, or the file does not have the column.
    Raises CounterpartError for a file that cannot be read so, for required columns that it does not have, for a wanted
    column that it has twice, and for a row of another length than the header.
    """
    if not (header := table_columns(path, name)):
        raise CounterpartError(f"{name} is empty. Write it again, with a line of column names.")
    places = found_columns(name, header, wanted, required)
    if is_parquet(path, name):
        yield from _parquet_rows(path, name, places)
    else:
        yield from placed(name, _text_rows(path, name), wanted, required)


def placed(name: str, rows: Iterable[tuple[int, Any]], wanted: Wanted, required: Collection[str] = ()) -> Iterator[Row]:
    """Yield rows by our names of their columns, as ``table_rows`` does; each may have columns of its own."""
    header: list[str] = []
    places: dict[str, str | None] = {}
    for number, row in rows:
        if not isinstance(row, dict):
            raise CounterpartError(f"{name}, row {number}: not a JSON object with a value for each column.")
        if (names := list(row)) != header:
            header = names
            places = found_columns(name, header, wanted, required)
        yield number, _by_our_names(row, places)


def found_columns(
    name: str, header: list[str], wanted: Wanted, required: Collection[str] = ()
) -> dict[str, str | None]:
    """Return our name of each column → the header's. Raises CounterpartError as ``table_rows`` does."""
    theirs: dict[str, list[str]] = {}
    for column in header:
        theirs.setdefault(folded(column), []).append(column)
    found: dict[str, str | None] = {}
    for ours, names in wanted.items():
        there = next((theirs[folded(one)] for one in names if folded(one) in theirs), [])
        if len(there) > 1:
            raise CounterpartError(f"{name} has {len(there)} columns {there[0]}: {some_of(there)}. Rename one.")
        found[ours] = there[0] if there else None
    if missing := [ours for ours in required if found[ours] is None]:
        asked = "; ".join(f"{ours} ({some_of(wanted[ours])})" for ours in missing)
        columns = some_of([column[:40] for column in header], at_most=12)
        raise CounterpartError(f"{name} has no column for {asked}. Its columns are: {columns}. Rename or add it.")
    return found


def folded(name: str) -> str:
    """Return the name of a column as it is compared: ``Image ID`` is ``image_id``, ``image-id`` and ``imageId``."""
    return "".join(sign for sign in comparable(name).casefold() if sign not in "-_" and not sign.isspace())


def beginning(path: Path, name: str) -> str:
    """Return the text's first characters, from the first line that is not blank."""
    with opened(path, name) as file, as_text(name, file, newline="") as text:
        return text.read(SEEN).lstrip("\r\n")


def bounded(name: str, text: TextIOWrapper) -> Iterator[str]:
    """Yield lines with their ends. Raises CounterpartError at one that is too long, before it is read to its end."""
    for number in count(1):
        line = text.readline(LONGEST_LINE + 1)
        if len(line) > LONGEST_LINE:
            raise CounterpartError(f"{name}, line {number}: longer than {LONGEST_LINE:,} characters. Break it up.")
        if fault := unstorable(line):
            raise CounterpartError(f"{name}, line {number}: it contains {fault}. Remove it.")
        if not line:
            return
        yield line


def _by_our_names(row: Mapping[str, Any], places: dict[str, str | None]) -> dict[str, Any]:
    return {ours: None if theirs is None else _cell(row[theirs]) for ours, theirs in places.items()}


def _cell(value: Any) -> Any:
    return None if value == "" or (isinstance(value, float) and isnan(value)) else value


def _text_rows(path: Path, name: str) -> Iterator[Row]:
    cells = _cells(path, name)
    for _, header in islice(cells, 1):
        # A repeated name gets blanks, which do not count when it is compared.
        names = [column + " " * header[:place].count(column) for place, column in enumerate(header)]
        for number, row in cells:
            if len(row) != len(names):
                fields = counted(len(row), "field")
                raise CounterpartError(f"{name}, line {number}: {fields}, but the header has {len(names)}.")
            yield number, dict(zip(names, row, strict=True))


def _cells(path: Path, name: str) -> Iterator[Cells]:
    separator = _separator(path, name)
    enclosed = True
    if separator in "\t|":
        # Such tables are often written without quotes: there a quote is a sign, as in the caption "Stop" says it all.
        try:
            enclosed = len({len(row) for _, row in _parsed(path, name, separator)}) == 1
        except CounterpartError:
            enclosed = False
    return _parsed(path, name, separator, quotes=enclosed)


def _parsed(path: Path, name: str, separator: str, *, quotes: bool = True) -> Iterator[Cells]:
    """Yield (line number, cells) of each row of separated text that is not empty, the header's first."""
    with opened(path, name) as file, as_text(name, file, newline="") as text:
        rows = _full(name, bounded(name, text), separator, quotes=quotes)
        for number, header in islice(rows, 1):
            yield number, [comparable(column) for column in header]
        yield from rows


def _full(name: str, text: Iterable[str], separator: str, *, quotes: bool = True) -> Iterator[Cells]:
    """Yield (line number, cells) of each row that is not empty; the lines of ``text`` keep their ends."""
    rows = csv.reader(text, strict=True, delimiter=separator, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE)
    try:
        for row in rows:
            is_hint = 0 < len(row) <= 2 and row[0].startswith("sep=")  # of Excel, in the first line
            if not is_hint and any(map(str.strip, row)):
                yield rows.line_num, row
    except csv.Error as error:
        raise CounterpartError(f"{name}, line {rows.line_num}: not valid CSV ({error}).") from error


def _separator(path: Path, name: str) -> str:
    """Return the separator with which most of the first rows have as many cells as the header, and the most of them."""
    begun = beginning(path, name)
    fits = {}
    for separator in SEPARATORS:
        sizes = []
        try:
            for _, row in _full(name, StringIO(begun, newline=""), separator):
                sizes.append(len(row))
        except CounterpartError:  # for the one that is chosen it is raised again
            pass
        if sizes and sizes[0] > 1:
            fits[separator] = (sizes.count(sizes[0]) / len(sizes), sizes[0])
    return max(fits, key=fits.__getitem__, default=",")


def is_parquet(path: Path, name: str) -> bool:
    """Whether the content is Parquet."""
    with opened(path, name) as file:
        return file.read(len(PARQUET)) == PARQUET


@contextmanager
def _parquet(path: Path, name: str) -> Iterator["ParquetFile"]:
    try:
        from pyarrow import ArrowException, parquet  # half a second, which only such files need
    except ImportError as error:
        raise CounterpartError(f"{name} is Parquet. Run pip install counterpart-metrics[parquet].") from error
    try:
        with parquet.ParquetFile(path) as file:
            yield file
    except (ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise CounterpartError(f"{name} is cut short or damaged ({reason}). Write it again.") from error


def _parquet_rows(path: Path, name: str, places: dict[str, str | None]) -> Iterator[Row]:
    with _parquet(path, name) as file:
        number = 0
        for batch in file.iter_batches(256, columns=[column for column in places.values() if column is not None]):
            for row in batch.to_pylist():
                number += 1
                yield number, _by_our_names(row, places)
