"""The error with a message for people, which the scorer outside the site raises too, and errors of the services."""

import re
from errno import EDQUOT, ENOSPC, EROFS

from django.db import InterfaceError, OperationalError

from counterpart_metrics.errors import CounterpartError, some_of

__all__ = ["DATABASE_LOST", "CounterpartError", "outage_of", "said_of_database", "some_of"]

DATABASE_LOST = (OperationalError, InterfaceError)  # the connection was cut, or the database is too busy
FULL = "disk is full|No space left on device"
READ_ONLY = "readonly database|read-only transaction"
TROUBLES = {
    FULL: ("The disk of the database is full", "Free some space, then run the command again."),
    READ_ONLY: ("The database is read-only", "Copy it to storage that can be written, then run the command again."),
    "is locked|lock timeout|deadlock|could not obtain lock|too many clients|connection slots": (
        "The database is busy",
        "Another program is writing, or holds its connections: run the command again.",
    ),
    "no such (table|column)|^(?!.*connect).*does not exist": (
        "The database does not have what this program needs",
        "Run migrate first, then the command again.",
    ),
    "connect|unable to open|could not translate|authentication": (
        "The database cannot be reached",
        "Check DATABASE_URL and that its server runs, then run the command again.",
    ),
}
"""Words of SQLite's and PostgreSQL's messages → what has happened, and what to do. The first that fits counts."""


def outage_of(error: BaseException | None) -> str:
    """Return which service an error shows to be out of order: "full disk", "read-only storage" or "database"; an empty
    text for all other errors, such as a table that does not exist."""
    code = error.errno if isinstance(error, OSError) else None
    if code in (ENOSPC, EDQUOT) or re.search(FULL, str(error)):
        return "full disk"
    if code == EROFS or re.search(READ_ONLY, str(error)):
        return "read-only storage"
    is_lost = isinstance(error, DATABASE_LOST) and "no such" not in str(error)
    return "database" if is_lost else ""


def said_of_database(error: Exception) -> str:
    """Return one line on why the database could not be used, with its own message, and what to do."""
    text = " ".join(str(error).split())
    fitting = (said for words, said in TROUBLES.items() if re.search(words, text))
    happened, remedy = next(fitting, ("The database refused", "Correct that, then run the command again."))
    return f"{happened} ({text[:200]}). {remedy}"


def one_line(error: Exception) -> str:
    """Return the message of an error, shortened to a line; its class name if it has no message."""
    return " ".join(str(error).split())[:200] or type(error).__name__
