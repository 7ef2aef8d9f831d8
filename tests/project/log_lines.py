"""What the log would hold: lines of loggers as a formatter of the site writes them, and gunicorn's access log."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

from gunicorn.config import Config
from gunicorn.glogging import Logger

from config import gunicorn
from config.logs import mask_gunicorn


class Kept(logging.Handler):
    """A handler as in the settings, which keeps what it would write."""

    def __init__(self, formatter: logging.Formatter, *filters: logging.Filter) -> None:
        super().__init__()
        self.setFormatter(formatter)
        for each in filters:
            self.addFilter(each)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@contextmanager
def logged(kept: Kept, *names: str) -> Iterator[list[str]]:
    """Keep what these loggers write in the block, from INFO on."""
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(kept)
        logger.setLevel("INFO")
    yield kept.lines
    for logger, level in zip(loggers, levels, strict=True):
        logger.removeHandler(kept)
        logger.setLevel(level)


def access_line(address: str, path: Path, form: str = gunicorn.access_log_format) -> str:
    """What gunicorn writes for a request."""
    config = Config()
    config.set("accesslog", str(path))
    config.set("access_log_format", form)
    log = Logger(config)
    mask_gunicorn()
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": address, "RAW_URI": address, "SERVER_PROTOCOL": "HTTP/1.1"}
    answer = SimpleNamespace(status="200 OK", sent=5, headers=[])
    log.access(answer, SimpleNamespace(headers=[]), environ, timedelta(seconds=1))
    return path.read_text()
