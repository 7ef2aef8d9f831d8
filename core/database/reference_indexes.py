"""Indexes for the time of a large deletion."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from django.db import connection
from django.db.models import ForeignKey, Model


@contextmanager
def indexed_references(*models: type[Model]) -> Iterator[None]:
    """Index, in the transaction of the caller, the foreign keys to rows of the models that have no index.

    The database looks for rows that point to each row that it deletes; without an index it reads the table each time.
    """
    quote = connection.ops.quote_name
    made = []
    with connection.cursor() as cursor:
        for relation in (one for model in models for one in model._meta.get_fields(include_hidden=True)):
            field = getattr(relation, "field", None)
            if relation.auto_created and isinstance(field, ForeignKey) and not getattr(field, "db_index", True):
                made.append(quote(f"references_{uuid4().hex[:12]}"))
                table = quote(field.model._meta.db_table)
                cursor.execute(f"CREATE INDEX {made[-1]} ON {table} ({quote(str(field.column))})")
        yield
        for name in made:
            cursor.execute(f"DROP INDEX {name}")
