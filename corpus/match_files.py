"""Match files: pairs of an image and a caption from CxC's CSV, a general CSV, or ECCV Caption's JSON."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from core.errors import CounterpartError
from core.text import counted
from corpus.input_files import at, csv_header, csv_rows, json_pairs, lines
from corpus.models import Collection
from corpus.readers.record import key_of

CXC_COLUMNS = {"caption", "image", "agg_score", "sampling_method"}
REQUIRED_COLUMNS = {"image", "caption"}
COLUMNS = REQUIRED_COLUMNS | {"score", "grade"}
IMAGE_TO_CAPTION = "i2t"
CAPTION_TO_IMAGE = "t2i"
DIRECTION_IN_NAME = {"image_to_caption": IMAGE_TO_CAPTION, "caption_to_image": CAPTION_TO_IMAGE}


class Pair(NamedTuple):
    """An image and a caption by the ids that the file uses. ``score`` is the source's own number; ``grade`` is a level
    1-4 (1 = 100% YES); None where the file has none."""

    image: str
    caption: str
    score: float | None = None
    grade: int | None = None


@dataclass(frozen=True)
class FileKeys:
    """The ids that a file may use for a collection's rows, mapped to database ids: images by key or file name,
    captions by key."""

    images: dict[str, int]
    captions: dict[str, int]


def keys_of(collection: Collection) -> FileKeys:
    """Return the ids of all rows. A file name shared by two images is left out; a key goes before a file name."""
    rows = list(collection.images.values_list("pk", "key", "file_name"))
    shared = {name for name, count in Counter(file_name for _, _, file_name in rows).items() if count > 1}
    images = {file_name: pk for pk, _, file_name in rows if file_name not in shared}
    images.update({key: pk for pk, key, _ in rows})
    return FileKeys(images, dict(collection.captions.values_list("key", "pk")))


def read_pairs(path: Path, *, keys: FileKeys, direction: str = "") -> Iterator[Pair]:
    """Return the pairs of a match file; its content shows its format. Raises CounterpartError for an unknown format."""
    if direction not in ("", IMAGE_TO_CAPTION, CAPTION_TO_IMAGE):
        raise CounterpartError(f"Invalid direction {direction!r}: pass {IMAGE_TO_CAPTION} or {CAPTION_TO_IMAGE}.")
    if next((line.lstrip().startswith(("{", "[")) for _number, line in lines(path)), False):
        return _json_pairs(path, direction or _direction_by_name(path) or _direction_by_ids(path, keys))
    if direction:
        raise CounterpartError(f"{path.name} is not a JSON object: its columns give the direction. Omit --direction.")
    header = set(csv_header(path))
    if header == CXC_COLUMNS or REQUIRED_COLUMNS <= header <= COLUMNS:
        return _table_pairs(path, is_cxc=header == CXC_COLUMNS)
    raise CounterpartError(
        f"{path.name} is not a match file. Use a JSON object, a CSV with the columns image, caption "
        "[, score] [, grade], or CxC's CSV with caption, image, agg_score, sampling_method."
    )


def _table_pairs(path: Path, *, is_cxc: bool) -> Iterator[Pair]:
    """Read a CSV. In that of Crisscrossed Captions, the caption's id follows ``sentid:``, the score is 0-5."""
    for number, row in csv_rows(path):
        caption = row["caption"].rpartition("sentid:")[2] if is_cxc else row["caption"]
        with at(path, "line", number):
            pair = Pair(
                key_of(row["image"], "the image"),
                key_of(caption, "the caption"),
                _score(row.get("agg_score" if is_cxc else "score", "")),
                _grade(row.get("grade", "")),
            )
        yield pair


def _score(text: str) -> float | None:
    if not text.strip():
        return None
    try:
        score = float(text)
    except ValueError:
        score = float("nan")
    if not isfinite(score):
        raise ValueError(f"the score {text!r} is not a number")
    return score


def _grade(text: str) -> int | None:
    if not text.strip():
        return None
    if text.strip() not in ("1", "2", "3", "4"):
        raise ValueError(f"the grade {text!r} is not 1, 2, 3 or 4")
    return int(text)


def _json_pairs(path: Path, direction: str) -> Iterator[Pair]:
    """ECCV Caption: an object that maps each query's id to the list of its matches' ids."""
    for query, item in _keys_and_values(path):
        yield Pair(query, item) if direction == IMAGE_TO_CAPTION else Pair(item, query)


def _keys_and_values(path: Path) -> Iterator[tuple[str, str]]:
    for number, (key, values) in enumerate(json_pairs(path), 1):
        with at(path, "entry", number):
            if not isinstance(values, list):
                raise ValueError(f"{key!r} does not map to a list of ids")
            items = [key_of(value, f"an item of {key!r}") for value in values]
        for item in items:
            yield key, item


def _direction_by_name(path: Path) -> str:
    return next((direction for part, direction in DIRECTION_IN_NAME.items() if part in path.name), "")


def _direction_by_ids(path: Path, keys: FileKeys) -> str:
    """Read the mapping both ways and return the only direction in which most pairs are in the collection.

    A few pairs prove nothing, because the ids of images and captions overlap.
    """
    pairs = list(_keys_and_values(path))
    fits = {
        IMAGE_TO_CAPTION: sum(key in keys.images and item in keys.captions for key, item in pairs),
        CAPTION_TO_IMAGE: sum(key in keys.captions and item in keys.images for key, item in pairs),
    }
    likely = [direction for direction, known in fits.items() if known * 2 > len(pairs)]
    if pairs and len(likely) != 1:
        known = " and ".join(f"{count:,} as {direction}" for direction, count in fits.items())
        raise CounterpartError(
            f"The direction of {path.name} is unclear: of its {counted(len(pairs), 'pair')} the collection has "
            f"{known}. Pass --direction."
        )
    return likely[0] if likely else IMAGE_TO_CAPTION
