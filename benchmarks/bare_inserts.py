"""The baseline of functions that write rows: the same rows, inserted by plain statements of 100 rows each."""

from time import perf_counter

ROWS_PER_STATEMENT = 100


def insert_bare(rows, *, constrained: bool = False) -> float:
    """Insert a query's rows into a copy of their table, in one transaction; return the seconds.

    The copy has no constraints and no indexes or, with ``constrained``, all those of the table.
    """
    from django.db import connection, transaction

    names = [field.attname for field in rows.model._meta.concrete_fields]
    values = list(rows.order_by("pk").values_list(*names))
    with connection.cursor() as cursor:
        copy = _copy_of(cursor, rows.model._meta.db_table, constrained)
        begun = perf_counter()
        with transaction.atomic():
            for start in range(0, len(values), ROWS_PER_STATEMENT):
                _insert(cursor, copy, names, values[start : start + ROWS_PER_STATEMENT])
        seconds = perf_counter() - begun
        cursor.execute(f"DROP TABLE {copy}")
    return seconds


def _insert(cursor, table: str, columns: list[str], rows: list[tuple]) -> None:
    place = f"({', '.join(['%s'] * len(columns))})"
    cursor.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([place] * len(rows))}",
        [value for row in rows for value in row],
    )


def _copy_of(cursor, table: str, constrained: bool) -> str:
    copy = f"copy_of_{table}"
    if not constrained:
        cursor.execute(f"CREATE TABLE {copy} AS SELECT * FROM {table} LIMIT 0")
    elif cursor.db.vendor == "sqlite":
        _copy_in_sqlite(cursor, table, copy)
    else:
        _copy_in_postgresql(cursor, table, copy)
    return copy


def _copy_in_sqlite(cursor, table: str, copy: str) -> None:
    cursor.execute("SELECT sql FROM sqlite_master WHERE tbl_name = %s AND sql IS NOT NULL ORDER BY rowid", [table])
    for (statement,) in cursor.fetchall():
        # Index names are unique in the whole database; the table's name occurs in both kinds of statement.
        cursor.execute(statement.replace('INDEX "', 'INDEX "copy_of_', 1).replace(f'"{table}"', f'"{copy}"', 1))


def _copy_in_postgresql(cursor, table: str, copy: str) -> None:
    cursor.execute(f"CREATE TABLE {copy} (LIKE {table} INCLUDING ALL)")
    cursor.execute(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'f'", [table]
    )
    for (foreign_key,) in cursor.fetchall():
        cursor.execute(f"ALTER TABLE {copy} ADD {foreign_key}")
