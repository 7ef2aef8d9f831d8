"""Readers of captioned-image collections, one module per format; each streams records from one path."""

from collections.abc import Callable, Iterator
from pathlib import Path

from core.errors import CounterpartError
from core.extensions import COLLECTION_READERS, load
from corpus.readers.record import Record

Reader = Callable[[Path], Iterator[Record]]

READERS: dict[str, Reader] = load(COLLECTION_READERS)


def reader_of(format_name: str) -> Reader:
    """Return the reader of a format. Raises CounterpartError that lists the known formats."""
    if format_name not in READERS:
        raise CounterpartError(f"Unknown format {format_name!r}: use one of {', '.join(READERS)}.")
    return READERS[format_name]
