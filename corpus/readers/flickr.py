"""Captions of Flickr8k and Flickr30k: the token file, or the CSV with | between its columns."""

import re
from collections.abc import Iterator
from pathlib import Path

from corpus.input_files import lines
from corpus.readers.layouts import Layout
from corpus.readers.record import Notes, Record, caption_record, noted
from corpus.splits import split_of_name

TOKEN = re.compile(r"(?P<file_name>[^\t#]+)#(?P<place>\d+)\t(?P<text>.*)")
# One row of the published CSV has white space instead of the second |.
BARRED = re.compile(r"(?P<file_name>[^|]+?)\s*\|\s*(?P<place>\d+)\s*(?:\||\s)\s?(?P<text>.*)")
HEADER = re.compile(r"image(_name)?\s*\|\s*comment_number\s*\|\s*comment\s*")


def read_flickr(path: Path, notes: Notes) -> Iterator[Record]:
    """Yield a record per line. Images are keyed by file name, captions by ``<file name>#<place>``."""
    shape = TOKEN
    split = split_of_name(path.name)
    for number, line in lines(path):
        if number == 1 and HEADER.fullmatch(line):
            shape = BARRED
            continue
        with noted(notes, path, "line", number):
            yield _record(line, shape, split)


def _record(line: str, shape: re.Pattern[str], split: str) -> Record:
    parts = shape.fullmatch(line)
    if parts is None:
        expected = "name.jpg#0, a tab, the text" if shape is TOKEN else "name.jpg| 0| the text"
        raise ValueError(f"expected {expected}")
    file_name = parts["file_name"]
    caption = f"{file_name}#{parts['place']}"
    return caption_record(image=file_name, file_name=file_name, caption=caption, text=parts["text"], split=split)


def is_flickr(path: Path, head: str) -> bool:
    first = head.partition("\n")[0].removesuffix("\r")
    return bool(HEADER.fullmatch(first) or TOKEN.fullmatch(first))


LAYOUT = Layout("flickr", "Flickr's token file or CSV with |", read_flickr, is_flickr)
