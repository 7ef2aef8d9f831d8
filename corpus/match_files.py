"""Tells which kind of match file a path is, by its content, and whose ids stand in it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.errors import CounterpartError
from corpus.models import Collection
from corpus.readers import cxc, pairs_csv
from corpus.readers.opening import csv_header, lines
from corpus.readers.pair import Pair
from corpus.readers.pairs_json import (
    CAPTION_TO_IMAGE,
    IMAGE_TO_CAPTION,
    direction_in_name,
    keys_and_values,
    read_pairs_json,
)


@dataclass(frozen=True)
class Keys:
    """What files may call a collection's rows: images by key or file name, captions by key; to database ids."""

    images: dict[str, int]
    captions: dict[str, int]


def keys_of(collection: Collection) -> Keys:
    """Read the names of all rows. A file name that two images share names neither; a key goes before a file name."""
    rows = list(collection.images.values_list("pk", "key", "file_name"))
    shared = {name for name, count in Counter(file_name for _, _, file_name in rows).items() if count > 1}
    images = {file_name: pk for pk, _, file_name in rows if file_name not in shared}
    images.update({key: pk for pk, key, _ in rows})
    return Keys(images, dict(collection.captions.values_list("key", "pk")))


def read_pairs(path: Path, *, keys: Keys, direction: str = "") -> Iterator[Pair]:
    """Return the pairs of a match file of any known kind. Raises CounterpartError if it is of none."""
    if direction not in ("", IMAGE_TO_CAPTION, CAPTION_TO_IMAGE):
        raise CounterpartError(f"There is no direction {direction!r}; pass {IMAGE_TO_CAPTION} or {CAPTION_TO_IMAGE}.")
    if _is_json(path):
        return read_pairs_json(path, direction or direction_in_name(path) or _direction_by_ids(path, keys))
    if direction:
        raise CounterpartError(f"{path.name} is no JSON object; its columns say the direction, leave --direction out.")
    header = set(csv_header(path))
    if header == cxc.HEADER:
        return cxc.read_cxc(path)
    if pairs_csv.NEEDED <= header <= pairs_csv.ALLOWED:
        return pairs_csv.read_pairs_csv(path)
    raise CounterpartError(
        f"{path.name} is no match file: neither a JSON object nor a CSV with the columns image, caption "
        "[, score] [, grade] or CxC's caption, image, agg_score, sampling_method."
    )


def _is_json(path: Path) -> bool:
    return next((line.lstrip().startswith(("{", "[")) for _number, line in lines(path)), False)


def _direction_by_ids(path: Path, keys: Keys) -> str:
    """Read the mapping both ways; the one direction in which most pairs are known is it.

    Numbers of images and of captions overlap, so a few known pairs mean nothing.
    """
    pairs = list(keys_and_values(path))
    fits = {
        IMAGE_TO_CAPTION: sum(key in keys.images and item in keys.captions for key, item in pairs),
        CAPTION_TO_IMAGE: sum(key in keys.captions and item in keys.images for key, item in pairs),
    }
    likely = [direction for direction, known in fits.items() if known * 2 > len(pairs)]
    if pairs and len(likely) != 1:
        known = " and ".join(f"{count:,} as {direction}" for direction, count in fits.items())
        raise CounterpartError(
            f"{path.name} may be of either direction: of {len(pairs):,} pairs the collection knows {known}. "
            "Pass --direction."
        )
    return likely[0] if likely else IMAGE_TO_CAPTION
