"""The error that people read: it names the offender, the count and the next step."""

from collections.abc import Sequence
from errno import EDQUOT, ENOSPC

from django.db import InterfaceError, OperationalError

DATABASE_LOST = (OperationalError, InterfaceError)  # the connection was cut, or the database is too busy


class CounterpartError(Exception):
    """Invalid input or an impossible request. Its text is one clear line; nothing was changed."""


def some_of(offenders: Sequence[object], *, at_most: int = 5) -> str:
    """List the first few offenders: ``12, 40, 77 and 9 more``."""
    shown = ", ".join(str(offender) for offender in offenders[:at_most])
    rest = len(offenders) - at_most
    return f"{shown} and {rest} more" if rest > 0 else shown


def is_full(error: BaseException | None) -> bool:
    """Whether the disk of the files or of an SQLite database was full."""
    return (isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT)) or "disk is full" in str(error)
