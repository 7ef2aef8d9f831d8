"""What every caption reader yields: one caption and the image it was written for, checked at the door."""

from typing import NamedTuple

MAX_KEY = 120
MAX_FILE_NAME = 255
MAX_SPLIT = 20


class Record(NamedTuple):
    """One caption with its image; ``text`` None is an image for which the file has no caption.

    ``image`` and ``caption`` are keys in the collection's own terms. ``split`` is empty where the file has none.
    """

    image: str
    file_name: str
    caption: str
    text: str | None
    split: str


def caption_record(*, image: object, file_name: object, caption: object, text: object, split: object = "") -> Record:
    """Return a checked record. Raises ValueError saying what is missing or will not do."""
    key = key_of(image, "the image of this caption")
    if not isinstance(text, str) or not text:
        raise ValueError("the caption has no text")
    return Record(
        key,
        _storable(file_name, "file name", MAX_FILE_NAME),
        key_of(caption, "the caption"),
        _text(text),
        _split(split),
    )


def bare_image(*, image: object, file_name: object, split: object = "") -> Record:
    """Return the record of an image without captions. Raises ValueError as ``caption_record`` does."""
    key = key_of(image, "the image")
    return Record(key, _storable(file_name, "file name", MAX_FILE_NAME), "", None, _split(split))


def key_of(value: object, whose: str) -> str:
    """Return an id as text. Raises ValueError unless it is a whole number or a text of 1-120 characters."""
    if isinstance(value, bool) or value is None or value == "":
        raise ValueError(f"{whose} has no id")
    return _storable(str(value) if isinstance(value, int) else value, f"id of {whose}", MAX_KEY)


def _split(value: object) -> str:
    return _storable(value, "split", MAX_SPLIT) if value else ""


def _storable(value: object, what: str, longest: int) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"the {what} is missing or not a text")
    if len(value) > longest:
        raise ValueError(f"the {what} has {len(value)} characters, more than {longest}")
    return _text(value)


def _text(value: str) -> str:
    """Databases take neither NUL nor halves of surrogate pairs, which JSON can spell."""
    if "\0" in value:
        raise ValueError("a NUL character stands in it")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError("half of a surrogate pair stands in it") from error
    return value
