"""Logs without the secret parts of addresses: nobody who reads a log can work or be paid as a worker, or take an
account, by it."""

import json
import logging
import re
from datetime import UTC, datetime

# After /judge/, or the site of a platform, comes a link's token, a join link's key or a platform's claims; after
# /password/ and a number comes the token of a password link; after /pictures/signed/ that of a picture.
_SECRETS = re.compile(
    r"""(?P<page>/(?:judge/(?:at/[^/\s]+/[^/\s]+(?:/session)?|[a-z-]+)|password/[^/\s]+|pictures/signed)/)(?:[^/\s?"'<>]+|\?[^\s"'<>]+)"""
    r"|[\w.-]+:[0-9A-Za-z]{6}:[\w-]{43}"  # a token by itself, as in the message of an exception
    r"|\b[0-9a-z]{6}-[0-9a-f]{32}\b"  # the same of a password link
)

REFUSED = 403


def masked(text: str) -> str:
    """Return the text with *** in place of the tokens of links, join keys and what platforms add to our addresses."""
    return _SECRETS.sub(r"\g<page>***", text)


class RefusalFilter(logging.Filter):
    """Leaves out the traceback of a refused request (403), which says only which guard refused. Keeps every record."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", None) == REFUSED:
            record.exc_info = None
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
    record.msg, record.args = masked(record.getMessage()), ()
    return True
