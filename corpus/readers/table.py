"""Any table of captions: CSV, TSV, JSON lines, a JSON list as BLIP and LAVIS have, or Parquet, with or without the
pictures inside."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from core.errors import CounterpartError
from core.text import trimmed
from corpus.readers.layouts import Layout
from corpus.readers.record import Notes, Record, bare_image, caption_record, key_of, noted
from corpus.splits import split_of_name
from corpus.tables import CAPTION_ID, FILE_NAME, IMAGE_ID, SPLIT, TEXT, columns_of, read_rows
from counterpart_metrics.table_rows import found_columns

PICTURE = ("image", "img", "picture", "photo")
WANTED = {
    "file": (*FILE_NAME, *PICTURE),
    "picture": PICTURE,
    "image": IMAGE_ID,
    "caption": (*CAPTION_ID, "sentids", "caption_ids"),
    "text": (*TEXT, "captions", "sentences", "texts"),
    "split": SPLIT,
}


def read_table(path: Path, notes: Notes, *, folder: str = "", split: str = "") -> Iterator[Record]:
    """Yield a record per caption; a row may have one or a list of them. Then the images whose rows have no text.

    Images are keyed by the column of their id, or by file name; captions by the column of theirs, which is computed
    from image and text where it is empty, or without it by image and number. File names begin at ``folder``. The split
    of a row without one is that of the file's name, or ``split``.
    """
    columns = found_columns(path.name, columns_of(path), WANTED, ("text",))
    has_ids = columns["caption"] is not None
    places: Counter[str] = Counter()
    captioned = set[str]()
    bare: dict[str, tuple[int, Record]] = {}
    split = split_of_name(path.name) or split
    for number, row in read_rows(path, WANTED):
        with noted(notes, path, "line", number):
            described = _image(row, columns, notes, folder) | {"split": row["split"] or split}
            texts = row["text"] if isinstance(row["text"], list) else [row["text"]]
            if row["caption"] is None and not any(isinstance(text, str) and trimmed(text) for text in texts):
                record = bare_image(**described)
                bare.setdefault(record.image, (number, record))
                continue
            image = key_of(described["image"], "the image of this caption")
            for place, text in enumerate(texts):
                with noted(notes, path, "line", number):
                    caption = _caption(row["caption"], place, len(texts))
                    key = _made(image, text, places, has_ids=has_ids) if caption is None else caption
                    captioned.add(image)
                    yield caption_record(**described, caption=key, text=text)
    for number, record in bare.values():
        if record.image in captioned and not has_ids:
            notes.faults.append((f"{path.name}, line {number}", "the caption has no text"))
        else:
            yield record


def is_table(path: Path) -> bool:
    """Whether the file has columns of images and captions."""
    try:
        found = found_columns(path.name, columns_of(path), WANTED, ("text",))
    except (CounterpartError, ValueError):
        return False
    return any(found[name] for name in ("file", "picture", "image"))


def _image(row: dict[str, Any], columns: dict[str, Any], notes: Notes, folder: str) -> dict[str, Any]:
    """Return the key and the file name of a row's image; its picture is written to a file if the row has it."""
    name = row["file"]
    if isinstance(row["picture"], dict):
        named = row["picture"].get("path") if isinstance(name, dict) or name is None else name
        name = unpacked_picture(named, row["picture"].get("bytes"), notes.pictures)
    elif columns["file"] is None:
        name = key_of(row["image"], "the image of this caption")
    elif isinstance(name, str) and folder:
        name = f"{folder}/{name}"
    return {"image": name if columns["image"] is None else row["image"], "file_name": name}


def unpacked_picture(name: Any, content: Any, folder: Path) -> Any:
    """Write a picture to the folder; return its name, another one if a different picture has it already."""
    if not isinstance(content, bytes):
        return name
    sha256 = hashlib.sha256(content).hexdigest()
    plain = PurePosixPath(str(name or sha256[:32]).replace("\\", "/")).name
    for file in (folder / plain, folder / f"{sha256[:16]}-{plain}"):
        if not file.exists():
            file.write_bytes(content)
        if file.read_bytes() == content:
            return file.name
    raise ValueError(f"the picture {plain} is there twice, with other contents")


def _caption(ids: Any, place: int, n: int) -> Any:
    """Return the id of a row's caption at this place; None without one."""
    if isinstance(ids, list):
        return ids[place] if place < len(ids) else None
    return ids if ids is None or n == 1 else f"{ids}#{place}"


def _made(image: str, text: object, places: Counter[str], *, has_ids: bool) -> str:
    """Return a key that every import computes again: of image and text, or of image and number in a table without ids;
    equal captions of an image are numbered."""
    digest = hashlib.sha256(str(text).encode()).hexdigest()[:16]
    key = f"{image}-{digest}" if has_ids else image
    places[key] += 1
    if not has_ids:
        return f"{key}#{places[key] - 1}"
    return key if places[key] == 1 else f"{key}-{places[key]}"


JSONL = Layout("jsonl", "JSON lines", read_table, lambda path, head: head.startswith("{") and is_table(path))
LAYOUT = Layout("table", "a table of images and captions", read_table, lambda path, head: is_table(path))
