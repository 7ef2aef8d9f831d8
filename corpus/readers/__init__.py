"""Readers of captioned-image collections, one module per format; each streams records from one path."""

from collections.abc import Callable, Iterator
from pathlib import Path

from core.errors import CounterpartError
from corpus.readers.coco import read_coco
from corpus.readers.flickr import read_flickr
from corpus.readers.folder import read_folder
from corpus.readers.jsonl import read_jsonl
from corpus.readers.karpathy import read_karpathy
from corpus.readers.record import Record

Reader = Callable[[Path], Iterator[Record]]

READERS: dict[str, Reader] = {
    "coco": read_coco,
    "karpathy": read_karpathy,
    "flickr": read_flickr,
    "jsonl": read_jsonl,
    "folder": read_folder,
}


def reader_of(format: str) -> Reader:
    """Return the reader of a format. Raises CounterpartError that lists the known formats."""
    if format not in READERS:
        raise CounterpartError(f"Unknown format {format!r}: use one of {', '.join(READERS)}.")
    return READERS[format]
