"""The ids of a collection's images or captions as a file: a list of ids, or a table with what they name."""

from collections.abc import Iterator
from pathlib import Path

from core.errors import CounterpartError
from core.files.stored_files import whole_file
from core.text import csv_line
from corpus.models import Collection

COLUMNS = {"images": ("id", "file_name", "split"), "captions": ("id", "image", "text")}
FIELDS = {"id": "key", "image": "image__key"}
BATCH = 5_000


def id_rows(collection: Collection, what: str) -> Iterator[dict[str, str]]:
    """Yield the ids of the ``images`` or ``captions`` in their order, each with the other COLUMNS."""
    rows = collection.images if what == "images" else collection.captions
    fields = [FIELDS.get(column, column) for column in COLUMNS[what]]
    for row in rows.values_list(*fields).iterator(chunk_size=BATCH):
        yield dict(zip(COLUMNS[what], row, strict=True))


def id_lines(collection: Collection, what: str) -> Iterator[str]:
    """Yield the lines of a CSV file of the rows."""
    yield csv_line(COLUMNS[what])
    for row in id_rows(collection, what):
        yield csv_line(row.values())


def write_ids(collection: Collection, what: str, path: Path) -> int:
    """Write the ids to a file: a table (.csv, .parquet), or an id a line (.txt); return their number. Raises
    CounterpartError for another suffix."""
    with whole_file(path) as part:
        if path.suffix == ".parquet":
            import pyarrow as pa  # slow to import
            from pyarrow import parquet

            parquet.write_table(pa.Table.from_pylist(list(id_rows(collection, what))), part)
        elif path.suffix in (".csv", ".txt"):
            table = id_lines(collection, what) if path.suffix == ".csv" else id_rows(collection, what)
            with part.open("w", newline="", encoding="utf-8") as file:
                file.writelines(line if isinstance(line, str) else f"{line['id']}\n" for line in table)
        else:
            raise CounterpartError(f"Unknown suffix of {path}: use .txt for ids alone, .csv or .parquet for a table.")
    return (collection.images if what == "images" else collection.captions).count()
