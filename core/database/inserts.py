"""Insert many rows into one table from columns of arrays, at the database's full speed and in bounded memory."""

from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from itertools import chain, repeat
from typing import Any

import numpy as np
from django.db import connection, models, transaction
from numpy.typing import NDArray

from core.progress import Progress, silent

CHUNK = 10_000  # rows in memory as Python objects at a time
ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})  # of PostgreSQL's COPY

Columns = Mapping[str, NDArray[Any] | int | float | str]
Values = Sequence[Any]  # a chunk of one column


def insert_rows(
    model: type[models.Model], columns: Columns, *, step: str = "writing", progress: Progress = silent
) -> None:
    """Insert a row for every entry of the arrays in ``columns``, in order: all rows or, after an error, none.

    ``columns`` are keyed by the fields' attribute names (``image_id``). Arrays are one-dimensional, of numbers or
    strings, and of equal length; a masked entry becomes NULL; a single value is used in every row. Omitted fields get
    the database's default, not the model's. Constraints are enforced; no instances are created and no signals
    sent. Ids increase in the order of the rows.

    Raises ValueError if the arrays differ in length, and the database's error for invalid rows.
    """
    fields = {field.attname: str(field.column) for field in model._meta.concrete_fields}
    names = [fields[name] for name in columns]
    total = _length(columns)
    with transaction.atomic(), connection.cursor() as cursor:
        write = _copy if connection.vendor == "postgresql" else _insert
        progress(step, 0, total)
        for start in range(0, total, CHUNK):
            stop = min(start + CHUNK, total)
            write(cursor, model._meta.db_table, names, [_part(column, start, stop) for column in columns.values()])
            progress(step, stop, total)


def _length(columns: Columns) -> int:
    lengths = {len(column) for column in columns.values() if isinstance(column, np.ndarray)}
    if len(lengths) != 1:
        raise ValueError(f"The arrays of {', '.join(columns)} must have the same length, not {sorted(lengths)}.")
    return lengths.pop()


def _part(column: NDArray[Any] | int | float | str, start: int, stop: int) -> Values:
    return column[start:stop].tolist() if isinstance(column, np.ndarray) else list(repeat(column, stop - start))


def _insert(cursor: Any, table: str, names: Sequence[str], values: Sequence[Values]) -> None:
    """Use statements of as many rows as SQLite allows: a statement costs several times as much as a row."""
    width = (connection.features.max_query_params or 999) // len(names)
    flat = [*chain.from_iterable(zip(*values, strict=True))]
    step = width * len(names)
    rest = len(values[0]) % width
    whole = len(flat) - rest * len(names)
    cursor.executemany(_statement(table, names, width), (flat[at : at + step] for at in range(0, whole, step)))
    if rest:
        cursor.execute(_statement(table, names, rest), flat[whole:])


def _statement(table: str, names: Sequence[str], rows: int) -> str:
    row = f"({', '.join(['%s'] * len(names))})"
    return f"INSERT INTO {_target(table, names)} VALUES {', '.join([row] * rows)}"  # noqa: S608  names of our own models


def _copy(cursor: Any, table: str, names: Sequence[str], values: Sequence[Values]) -> None:
    """Use PostgreSQL's COPY, one statement per chunk: during a statement ``progress`` could not use the database."""
    lines = map("\t".join, zip(*map(_texts, values), strict=True))
    with connection.wrap_database_errors:  # Django converts psycopg2's errors only for its own calls
        cursor.copy_expert(f"COPY {_target(table, names)} FROM STDIN", StringIO("\n".join(lines)))


def _texts(values: Values) -> Iterator[str]:
    for value in values:
        yield r"\N" if value is None else value.translate(ESCAPES) if isinstance(value, str) else str(value)


def _target(table: str, names: Sequence[str]) -> str:
    quoted = map(connection.ops.quote_name, names)
    return f"{connection.ops.quote_name(table)} ({', '.join(quoted)})"
