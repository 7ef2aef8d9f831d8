"""Reads one direction of ECCV Caption's JSON: an object from each query's id to the list of its matches' ids."""

from collections.abc import Iterator
from pathlib import Path

from corpus.readers.opening import at, json_pairs
from corpus.readers.pair import Pair
from corpus.readers.record import key_of

IMAGE_TO_CAPTION, CAPTION_TO_IMAGE = "i2t", "t2i"
NAMED = {"image_to_caption": IMAGE_TO_CAPTION, "caption_to_image": CAPTION_TO_IMAGE}


def direction_in_name(path: Path) -> str:
    """Return the direction that the file's name tells, as ECCV Caption's do; empty where it tells none."""
    return next((direction for part, direction in NAMED.items() if part in path.name), "")


def read_pairs_json(path: Path, direction: str) -> Iterator[Pair]:
    """Yield a pair for every id in every list; ``direction`` says whether keys or values are images."""
    for query, item in keys_and_values(path):
        yield Pair(query, item) if direction == IMAGE_TO_CAPTION else Pair(item, query)


def keys_and_values(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (key, value) of the mapping, a pair for every value in a key's list."""
    for number, (key, values) in enumerate(json_pairs(path), 1):
        with at(path, "entry", number):
            if not isinstance(values, list):
                raise ValueError(f"{key!r} does not map to a list of ids")
            items = [key_of(value, f"an item of {key!r}") for value in values]
        for item in items:
            yield key, item
