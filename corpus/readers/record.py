"""The records that caption readers yield: a caption and its image, validated, and what they leave out."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from core.errors import some_of
from core.text import trimmed
from core.untrusted import unstorable
from corpus.splits import split_of_path
from counterpart_metrics.ids import plain_id
from counterpart_metrics.text_files import bare

MAX_KEY = 120
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


@dataclass
class Notes:
    """Notes of readers: ``faults`` as (place, reason), and ``left_out`` as (name of a file, reason). ``pictures`` is a
    folder for the pictures that a file has inside."""

    pictures: Path
    faults: list[tuple[str, str]] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)

    def fault(self, path: Path, place: str, number: int, error: ValueError) -> None:
        self.faults.append((f"{path.name}, {place} {number}", str(error)))

    def leave_out(self, names: Iterable[str]) -> None:
        """Note files that are neither pictures nor captions."""
        self.left_out += [(name, "no picture, no captions") for name in names]

    def said(self) -> str:
        """Return what is wrong with the faults, by kind, and the next step."""
        if len(self.faults) == 1:
            return f"{': '.join(self.faults[0])}. Correct it, or leave it out (--skip-broken)."
        kinds = Counter(why for _place, why in self.faults)
        named = [
            f"{why} ({n:,}: {some_of([place for place, reason in self.faults if reason == why])})"
            for why, n in kinds.most_common()
        ]
        return f"{len(self.faults):,} faults: {some_of(named)}. Correct them, or leave them out (--skip-broken)."


@contextmanager
def noted(notes: Notes, path: Path, place: str, number: int) -> Iterator[None]:
    """Note the ValueError of a bad record, which is left out, with its position."""
    try:
        yield
    except ValueError as error:
        notes.fault(path, place, number, error)


def caption_record(*, image: object, file_name: object, caption: object, text: object, split: object = "") -> Record:
    """Return a checked record. Raises ValueError for a missing or invalid field."""
    key = key_of(image, "the image of this caption")
    if not isinstance(text, str) or not trimmed(text):
        raise ValueError("the caption has no text")
    name = _file_name(file_name)
    return Record(key, name, key_of(caption, "the caption"), _storable(text, "caption", MAX_TEXT), _split(split, name))


def bare_image(*, image: object, file_name: object, split: object = "") -> Record:
    """Return the record of an image without captions. Raises ValueError as ``caption_record`` does."""
    key = key_of(image, "the image")
    name = _file_name(file_name)
    return Record(key, name, "", None, _split(split, name))


def key_of(value: object, whose: str) -> str:
    """Return an id as text, as ``plain_id`` has it.

    Raises ValueError unless it is a whole number or a string of 1-120 characters.
    """
    value = plain_id(value)
    if isinstance(value, bool) or value is None or value == "":
        raise ValueError(f"{whose} has no id")
    return _storable(value, f"id of {whose}", MAX_KEY)


def _file_name(value: object) -> str:
    return _storable(bare(value) if isinstance(value, str) else value, "file name", MAX_FILE_NAME)


def _split(value: object, file_name: str) -> str:
    """Return the split of an image, or that of the folder that its file is in."""
    if value:
        return _storable(value, "split", MAX_SPLIT)
    return split_of_path(file_name)


def _storable(value: object, what: str, longest: int) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"the {what} is missing or not a string")
    if len(value) > longest:
        raise ValueError(f"the {what} has {len(value):,} characters, more than {longest:,}")
    if fault := unstorable(value):  # also in the name of a file of a folder
        raise ValueError(f"it contains {fault}")
    return value
