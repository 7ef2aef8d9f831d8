"""Logs without the secret parts of addresses: a reader of a log cannot work or be paid as a worker, or take over an
account."""

import json
import logging
import re
from collections import Counter
from datetime import UTC, datetime
from threading import Lock
from time import monotonic

from core.errors import outage_of

# After /judge/, or the site of a platform, comes a link's token, a join link's key or a platform's claims; after
# /password/ and a number comes the token of a password link; after /pictures/signed/ that of a picture.
_SECRETS = re.compile(
    r"""(?P<page>/(?:judge/(?:at/[^/\s]+/[^/\s]+(?:/session)?|[a-z-]+)|password/[^/\s]+|pictures/signed)/)(?:[^/\s?"'<>]+|\?[^\s"'<>]+)"""
    r"|[\w.-]+:[0-9A-Za-z]{6}:[\w-]{43}"  # a token by itself, as in the message of an exception
    r"|\b[0-9a-z]{6}-[0-9a-f]{32}\b"  # the same of a password link
)

REFUSED = 403
QUIET = 60  # seconds between two lines about one outage


def masked(text: str) -> str:
    """Return the text with *** in place of the tokens of links, join keys and what platforms add to our addresses."""
    return _SECRETS.sub(r"\g<page>***", text)


class RefusalFilter(logging.Filter):
    """Leaves out the traceback of a refused request (403), which says only which guard refused. Keeps every record."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", None) == REFUSED:
            record.exc_info = None
        return True


class OutageFilter(logging.Filter):
    """Keeps one record a minute, without a traceback, of what fails because the database or the disk cannot be used.

    Each request and task fails meanwhile; their tracebacks would fill the disk, or make its end harder to find. Records
    whose ``extra`` names an ``outage`` are treated alike.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()
        self._logged: dict[str, float] = {}  # by outage: when
        self._left_out: Counter[str] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        outage = outage_of(error) or getattr(record, "outage", "")
        if error and outage:
            record.msg = f"{record.getMessage()}: {' '.join(str(error).split())[:200]}"
            record.args = ()
            record.exc_info = None
            record.exc_text = None
        return not outage or self._is_due(record, outage)

    def _is_due(self, record: logging.LogRecord, outage: str) -> bool:
        with self._lock:
            if monotonic() - self._logged.get(outage, -QUIET) < QUIET:
                self._left_out[outage] += 1
                return False
            self._logged[outage] = monotonic()
            if left_out := self._left_out.pop(outage, 0):
                record.msg = f"{record.getMessage()} ({left_out} more like it since the last line)"
                record.args = ()
            return True


class MaskedFormatter(logging.Formatter):
    """Formats records, tracebacks included, and masks the secrets in them."""

    def format(self, record: logging.LogRecord) -> str:
        return masked(super().format(record))


class JsonFormatter(logging.Formatter):
    """Formats a record as one line of JSON, with the ``fields`` that its caller passed in ``extra``, and masks it."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            **getattr(record, "fields", {"message": record.getMessage()}),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps({key: masked(value) if isinstance(value, str) else value for key, value in line.items()})


def mask_gunicorn() -> None:
    """Mask what gunicorn writes into its access and error logs, however it was started."""
    for name in ("gunicorn.access", "gunicorn.error"):
        logging.getLogger(name).addFilter(_mask_record)


def _mask_record(record: logging.LogRecord) -> bool:
    record.msg = masked(record.getMessage())
    record.args = ()
    return True
