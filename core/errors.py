"""The error that people read, which the scorer outside the site raises too, and errors of the services."""

from errno import EDQUOT, ENOSPC

from django.db import InterfaceError, OperationalError

from counterpart_metrics.errors import CounterpartError, some_of

__all__ = ["DATABASE_LOST", "CounterpartError", "is_full", "some_of"]

DATABASE_LOST = (OperationalError, InterfaceError)  # the connection was cut, or the database is too busy


def is_full(error: BaseException | None) -> bool:
    """Whether the disk of the files or of an SQLite database was full."""
    return (isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT)) or "disk is full" in str(error)
