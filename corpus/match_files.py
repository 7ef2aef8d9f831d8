"""Match files: pairs of an image and a caption from tables, such as our own exports and CxC's CSV; from qrels; and from
ECCV Caption's JSON."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import CounterpartError, some_of
from core.text import counted
from corpus.input_files import at, json_items, json_pairs, json_records, lines
from corpus.models import Collection
from corpus.readers.record import key_of
from corpus.tables import CAPTION_ID, IMAGE, WORKER, columns_of, is_json, read_rows
from counterpart_metrics.table_rows import ITEM, QUERY, SCORE, Row, found_columns, placed
from counterpart_metrics.text_files import comparable

IMAGE_TO_CAPTION = "i2t"
CAPTION_TO_IMAGE = "t2i"
IN_NAME = {IMAGE_TO_CAPTION: r"image_to_caption|\bi2t\b|_i2t", CAPTION_TO_IMAGE: r"caption_to_image|\bt2i\b|_t2i"}
COLUMNS = {
    "image": IMAGE,
    "caption": (*CAPTION_ID, "caption"),
    "query": QUERY,
    "item": ITEM,
    "label": ("positive", "match", "label", "relevance", "rel"),
    "score": SCORE,
    "grade": ("grade", "level"),
    "sources": ("sources",),
    "worker": (*WORKER, "annotation"),
}
COCO_LISTS = ("annotations", "negatives")
QREL = re.compile(r"\S+\s+\S+\s+\S+\s+-?\d+(\.\d+)?\s*")
AUTOMATIC = "automatic"
NO_MATCH = 4
WORST_MATCH = 2
LEVELS: dict[float, int] = {2: 1, 1: 2}
"""Labels of three grades → levels: a match, a partial one."""
ABOUT = re.compile(r"(.*/)?(README|LICEN[CS]E|CITATION|SHA256SUMS).*|(.*/)?[^/]*_about/.*")
IN_FOLDERS = (r"(.*/)?([^/]+_)?pairs\.\w+", r".*_to_(image|caption).*\.(json|qrels)", r"(.*/)?qrels/[^/]+", r".*")
"""The files of an export folder that hold its matches: the first pattern that occurs is read."""


class Pair(NamedTuple):
    """An image and a caption by the ids that the file uses. ``score`` is the source's own number; ``grade`` is a level
    1-4 (1 = 100% YES); None where the file has none. ``automatic``: a program rejected it, not a person."""

    image: str
    caption: str
    score: float | None = None
    grade: int | None = None
    automatic: bool = False


@dataclass(frozen=True)
class FileKeys:
    """The ids that a file may use for a collection's rows, mapped to database ids: images by key, file name or its last
    part, captions by key. Exports of MTEB's form write ``image-`` and ``caption-`` before them."""

    images: dict[str, int]
    captions: dict[str, int]

    def image(self, key: str) -> int | None:
        if (row := known_row(self.images, key, "image-")) is not None:
            return row
        parts = comparable(key).replace("\\", "/").removeprefix("./").split("/")
        paths = ("/".join(parts[start:]) for start in range(max(1, len(parts) - 1)))  # perhaps of another machine
        return next((self.images[path] for path in paths if path in self.images), None)

    def caption(self, key: str) -> int | None:
        return known_row(self.captions, key, "caption-")


def known_row(known: dict[str, int], key: str, prefix: str = "") -> int | None:
    """Return the row of ``rows_by_key`` that an id in a file names."""
    plain = comparable(key)
    return next((known[one] for one in (key, plain, plain.removeprefix(prefix)) if one in known), None)


def keys_of(collection: Collection) -> FileKeys:
    """Return the ids of all rows. A name that two images share is left out; a key goes before a file name, and that
    before its last part."""
    rows = list(collection.images.values_list("pk", "key", "file_name"))
    images: dict[str, int] = {}
    for names in ([(pk, name.rpartition("/")[2]) for pk, _, name in rows], [(pk, name) for pk, _, name in rows]):
        times = Counter(comparable(name) for _, name in names)
        images |= {comparable(name): pk for pk, name in names if times[comparable(name)] == 1}
    captions = rows_by_key(collection.captions.values_list("pk", "key"))
    return FileKeys(images | rows_by_key((pk, key) for pk, key, _ in rows), captions)


def rows_by_key(rows: Iterable[tuple[int, str]]) -> dict[str, int]:
    """Return the rows' ids by key, and by the key as ids are compared."""
    rows = list(rows)
    return {comparable(key): pk for pk, key in rows} | {key: pk for pk, key in rows}


def read_pairs(path: Path, *, keys: FileKeys, direction: str = "") -> tuple[Iterator[Pair], list[str]]:
    """Return the pairs of a match file, whose content shows its form, and the columns that are not read. In a folder
    the file is found by its name, or one for each direction.

    Labels of qrels and of a version's pairs are scores; a pair with the label 0 was judged not to match, so that
    its grade is 4. Raises CounterpartError for an unknown form, and for a folder that holds several.
    """
    if direction not in ("", IMAGE_TO_CAPTION, CAPTION_TO_IMAGE):
        raise CounterpartError(f"Invalid direction {direction!r}: pass {IMAGE_TO_CAPTION} or {CAPTION_TO_IMAGE}.")
    files = _files_of(path) if path.is_dir() else [path]
    read = [_read(file, keys, direction) for file in files]
    unread = dict.fromkeys(name for _, names in read for name in names)
    return chain.from_iterable(pairs for pairs, _ in read), list(unread)


def _files_of(folder: Path) -> list[Path]:
    inside = {file.relative_to(folder).as_posix(): file for file in sorted(folder.rglob("*")) if file.is_file()}
    inside = {name: file for name, file in inside.items() if not (file.name.startswith(".") or ABOUT.fullmatch(name))}
    for pattern in IN_FOLDERS:
        found = [file for name, file in inside.items() if re.fullmatch(pattern, name)]
        directions = {_direction_by_name(file) for file in found} - {""}
        if len(found) == 1 or (found and len(found) == len(directions)):
            return found
        if found:
            names = [name for name, file in inside.items() if file in found]
            raise CounterpartError(f"{folder} has {len(found)} files of matches: {some_of(names)}. Name one of them.")
    raise CounterpartError(f"{folder} holds no file of matches. Name the file.")


def _read(path: Path, keys: FileKeys, direction: str) -> tuple[Iterator[Pair], list[str]]:
    header = columns_of(path)
    found = found_columns(path.name, header, COLUMNS) if header else dict.fromkeys(COLUMNS)
    unread = [name for name in header if name.strip() and name not in found.values()]
    if found["image"] and found["caption"]:
        if direction:
            raise CounterpartError(f"The columns of {path.name} give the direction. Omit --direction.")
        if found["worker"]:
            raise CounterpartError(f"{path.name} has answers of people ({found['worker']}). Use import_judgments.")
        return _table_pairs(path, read_rows(path, COLUMNS)), unread
    if found["query"] and found["item"]:
        label = "label" if found["label"] else "score"
        listed = ((number, row["query"], row["item"], row[label]) for number, row in read_rows(path, COLUMNS))
        return _directed(path, _labelled(path, listed), keys, direction), unread
    if any(QREL.fullmatch(line) for _, line in islice(lines(path), 1)):
        return _directed(path, _labelled(path, _qrels(path)), keys, direction), []
    if is_json(path) and set(COCO_LISTS) & set(header):
        records = chain.from_iterable(json_items(path, f"{name}.item") for name in COCO_LISTS)
        return _table_pairs(path, placed(path.name, enumerate(records, 1), COLUMNS, ("image", "caption"))), []
    if is_json(path) and (header or not any(json_records(path))):
        return _directed(path, _json_pairs(path), keys, direction), []
    columns = f"its columns are {some_of(header)}" if header else "it has no columns"
    raise CounterpartError(
        f"{path.name} is not a match file: {columns}. Use a table with the columns image and caption, and perhaps "
        "score and grade; qrels; or a JSON object of one direction, {id: [ids]}."
    )


def _table_pairs(path: Path, rows: Iterator[Row]) -> Iterator[Pair]:
    """In the CSV of Crisscrossed Captions, the caption's id follows ``sentid:``."""
    for number, row in rows:
        with at(path, "line", number):
            caption = row["caption"]
            if isinstance(caption, str):
                caption = caption.rpartition("sentid:")[2]
            pair = Pair(key_of(row["image"], "the image"), key_of(caption, "the caption"), *_rating(row))
        yield pair._replace(automatic=row["sources"] == AUTOMATIC)


def _rating(row: dict[str, Any]) -> tuple[float | None, int | None]:
    label = number_of(row["label"], "label")
    score = number_of(row["score"], "score")
    grade = _grade(row["grade"])
    if label is None:
        return score, grade
    if label > 0 and grade is not None and grade > WORST_MATCH:
        grade = None  # a match by another source than the answers
    return label if score is None else score, NO_MATCH if label <= 0 and grade is None else grade


def number_of(value: Any, what: str) -> float | None:
    """Return a cell's number; None for an empty one. Raises ValueError for other text, and nan and infinity."""
    if value is None or (text := str(value).strip()) == "":
        return None
    try:
        number = float({"true": "1", "false": "0"}.get(text.lower(), text))
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise ValueError(f"the {what} {text!r} is not a number")
    return number


def _grade(value: Any) -> int | None:
    grade = number_of(value, "grade")
    if grade not in (None, 1, 2, 3, 4):
        raise ValueError(f"the grade {str(value)!r} is not 1, 2, 3 or 4")
    return None if grade is None else int(grade)


def _qrels(path: Path) -> Iterator[tuple[int, Any, Any, Any]]:
    for number, line in lines(path):
        if not QREL.fullmatch(line):
            raise CounterpartError(f"{path.name}, line {number}: not a line of qrels, query 0 item label.")
        query, _, item, label = line.split()
        yield number, query, item, label


def _labelled(path: Path, rows: Iterable[tuple[int, Any, Any, Any]]) -> Iterator[Pair]:
    """Yield queries and items as if they were images and captions, with the labels as scores."""
    read = []
    for number, query, item, label in rows:
        with at(path, "line", number):
            read.append((key_of(query, "the query"), key_of(item, "the item"), number_of(label, "label")))
    graded = path.stem.endswith("_graded") or max((label or 0 for *_, label in read), default=0) == max(LEVELS)
    for query, item, label in read:
        level = LEVELS.get(label or 0) if graded else None
        yield Pair(query, item, label, NO_MATCH if label is not None and label <= 0 else level)


def _json_pairs(path: Path) -> Iterator[Pair]:
    """ECCV Caption: an object that maps each query's id to the list of its matches' ids."""
    for number, (key, values) in enumerate(json_pairs(path), 1):
        with at(path, "entry", number):
            if not isinstance(values, list):
                raise ValueError(f"{key!r} does not map to a list of ids")
            query = key_of(key, "the query")
            items = [key_of(value, f"an item of {key!r}") for value in values]
        for item in items:
            yield Pair(query, item)


def _directed(path: Path, pairs: Iterator[Pair], keys: FileKeys, direction: str) -> Iterator[Pair]:
    """Turn pairs of a query and an item into those of an image and a caption."""
    listed = list(pairs)
    if (direction or _direction_by_name(path) or _direction_by_ids(path, listed, keys)) == IMAGE_TO_CAPTION:
        yield from listed
    else:
        yield from (pair._replace(image=pair.caption, caption=pair.image) for pair in listed)


def _direction_by_name(path: Path) -> str:
    """Read the direction from the file's name, or that of a folder that it is in, as MTEB's."""
    names = (path.name, *(parent.name for parent in path.parents[:2]))
    said = (direction for name in names for direction, part in IN_NAME.items() if re.search(part, name))
    return next(said, "")


def _direction_by_ids(path: Path, pairs: list[Pair], keys: FileKeys) -> str:
    """Read the pairs both ways and return the only direction in which most of them are in the collection.

    A few pairs prove nothing, because the ids of images and captions overlap.
    """
    fits = {
        IMAGE_TO_CAPTION: sum(None not in (keys.image(pair.image), keys.caption(pair.caption)) for pair in pairs),
        CAPTION_TO_IMAGE: sum(None not in (keys.image(pair.caption), keys.caption(pair.image)) for pair in pairs),
    }
    likely = [direction for direction, known in fits.items() if known * 2 > len(pairs)]
    if pairs and len(likely) != 1:
        known = " and ".join(f"{count:,} as {direction}" for direction, count in fits.items())
        raise CounterpartError(
            f"The direction of {path.name} is unclear: of its {counted(len(pairs), 'pair')} the collection has "
            f"{known}. Pass --direction."
        )
    return likely[0] if likely else IMAGE_TO_CAPTION
