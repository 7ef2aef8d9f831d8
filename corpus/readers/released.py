"""Exported versions as collections: the folders of ``hf``, and of ``mteb`` with its tasks of both directions."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus.readers.layouts import Layout
from corpus.readers.record import Notes, Record, bare_image, caption_record, noted
from corpus.readers.table import unpacked_picture
from corpus.tables import read_rows

TABLES = ("data/captions.parquet", "data/images.parquet")
TASKS = ("*_i2t/corpus/corpus.parquet", "*_t2i/corpus/corpus.parquet")
QRELS = "*/qrels/test.parquet"


def read_hf(path: Path, notes: Notes) -> Iterator[Record]:
    """Yield a record per caption, then the images without captions."""
    captions, images = (path / name for name in TABLES)
    columns = {"image": ("image_id",), "file": ("file_name",), "picture": ("image",)}
    names = {row["image"]: _file_name(row, notes) for _, row in read_rows(images, columns)}
    rows = read_rows(captions, {"image": ("image_id",), "caption": ("caption_id",), "text": ("text",)})
    yield from _records(captions, rows, names, notes)


def read_mteb(path: Path, notes: Notes) -> Iterator[Record]:
    """Yield a record per caption that has a match, with the image that matches it best, then the other images."""
    captions, images = (next(path.glob(name)) for name in TASKS)
    best: dict[str, tuple[float, str]] = {}
    for qrels in path.glob(QRELS):
        for _, row in read_rows(qrels, {"query": ("query-id",), "item": ("corpus-id",), "score": ("score",)}):
            caption, image = sorted((row["query"], row["item"]))  # their prefixes caption- and image-
            if row["score"] > best.get(caption, (0, ""))[0]:
                best[caption] = row["score"], image.removeprefix("image-")
    names = {}
    for _, row in read_rows(images, {"image": ("id",), "picture": ("image",)}):
        names[row["image"].removeprefix("image-")] = _file_name(row, notes)
    rows = (
        (n, {"image": best.get(row["id"], (0, None))[1], "caption": row["id"].removeprefix("caption-"), **row})
        for n, row in read_rows(captions, {"id": ("id",), "text": ("text",)})
    )
    yield from _records(captions, rows, names, notes)


def _file_name(row: dict[str, Any], notes: Notes) -> str:
    picture = row["picture"] or {}
    return str(unpacked_picture(row.get("file") or picture.get("path"), picture.get("bytes"), notes.pictures))


def _records(
    path: Path, rows: Iterator[tuple[int, dict[str, Any]]], names: dict[str, str], notes: Notes
) -> Iterator[Record]:
    without = dict(names)
    for number, row in rows:
        with noted(notes, path, "row", number):
            if row["image"] not in names:
                raise ValueError("no image of the folder matches this caption")
            without.pop(row["image"], None)
            described = {"image": row["image"], "file_name": names[row["image"]]}
            yield caption_record(**described, caption=row["caption"], text=row["text"])
    for image, name in without.items():
        yield bare_image(image=image, file_name=name)


HF = Layout(
    "hf", "an export for Hugging Face", read_hf, lambda path, head: all((path / name).is_file() for name in TABLES)
)
MTEB = Layout("mteb", "an export for MTEB", read_mteb, lambda path, head: all(any(path.glob(name)) for name in TASKS))
