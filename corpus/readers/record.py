"""The records that caption readers yield: a caption and its image, validated."""

import re
from typing import NamedTuple

from core.text import trimmed
from core.untrusted import unstorable
from counterpart_metrics.text_files import bare

MAX_KEY = 120
WHOLE_FLOAT = re.compile(r"(0|[1-9][0-9]{0,15})\.0")
MAX_TEXT = 10_000
MAX_FILE_NAME = 255
MAX_SPLIT = 20


class Record(NamedTuple):
    """One caption with its image; ``text`` is None for an image without captions.

    ``image`` and ``caption`` are keys of the source data. ``split`` is empty if the file has none.
    """

    image: str
    file_name: str
    caption: str
    text: str | None
    split: str


def caption_record(*, image: object, file_name: object, caption: object, text: object, split: object = "") -> Record:
    """Return a checked record. Raises ValueError for a missing or invalid field."""
    key = key_of(image, "the image of this caption")
    if not isinstance(text, str) or not trimmed(text):
        raise ValueError("the caption has no text")
    return Record(
        key,
        _storable(file_name, "file name", MAX_FILE_NAME),
        key_of(caption, "the caption"),
        _storable(text, "caption", MAX_TEXT),
        _split(split),
    )


def bare_image(*, image: object, file_name: object, split: object = "") -> Record:
    """Return the record of an image without captions. Raises ValueError as ``caption_record`` does."""
    key = key_of(image, "the image")
    return Record(key, _storable(file_name, "file name", MAX_FILE_NAME), "", None, _split(split))


def key_of(value: object, whose: str) -> str:
    """Return an id as text, without blanks and invisible characters at its ends. A number such as 12.0, which pandas
    makes of ids in a column with a gap, is 12.

    Raises ValueError unless it is a whole number or a string of 1-120 characters.
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, str):
        value = bare(value)
        value = value.removesuffix(".0") if WHOLE_FLOAT.fullmatch(value) else value
    if isinstance(value, bool) or value is None or value == "":
        raise ValueError(f"{whose} has no id")
    return _storable(str(value) if isinstance(value, int) else value, f"id of {whose}", MAX_KEY)


def _split(value: object) -> str:
    return _storable(value, "split", MAX_SPLIT) if value else ""


def _storable(value: object, what: str, longest: int) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"the {what} is missing or not a string")
    if len(value) > longest:
        raise ValueError(f"the {what} has {len(value):,} characters, more than {longest:,}")
    if fault := unstorable(value):  # also in the name of a file of a folder
        raise ValueError(f"it contains {fault}")
    return value
