"""Input files for the corpus tests, written as their publishers write them."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from core.errors import CounterpartError
from corpus.readers import READERS
from corpus.readers.record import Notes, Record
from tests.factories import picture


def line(caption: object = 1, image: object = 10, text: object = "a cat", file_name: object = None, **more) -> dict:
    return {
        "caption_id": caption,
        "image_id": image,
        "file_name": f"{image}.jpg" if file_name is None else file_name,
        "text": text,
        **more,
    }


def jsonl(path: Path, *rows: dict) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def zipped(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content, mtime=0))
    return path


def written(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def picture_folder(path: Path, *names: str) -> Path:
    """A folder with a small picture of its own size under each name."""
    for i, name in enumerate(names):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(picture(size=(20 + i, 10)))
    return path


def gallery_folder(
    folder: Path,
    images: Sequence[dict[str, object]],
    captions: Sequence[dict[str, object]],
    *,
    rows_a_file: int = 1000,
    rows_a_group: int = 1000,
) -> Path:
    """A folder of images-*.parquet and captions-*.parquet with these items."""
    folder.mkdir(exist_ok=True)
    for side, items in (("images", images), ("captions", captions)):
        for number, start in enumerate(range(0, len(items), rows_a_file)):
            table = pa.Table.from_pylist(items[start : start + rows_a_file])
            parquet.write_table(table, folder / f"{side}-{number:03}.parquet", row_group_size=rows_a_group)
    return folder


def gallery_items(n: int = 5) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """``n`` images without pictures, with keys from i00, and a caption of each, from c00, the last first."""
    digits = len(str(max(n - 1, 10)))
    images = [{"key": f"i{place:0{digits}}", "file": "", "sha256": ""} for place in range(n)]
    captions = [
        {"key": f"c{place:0{digits}}", "text": f"a boat, number {place}", "image": n - 1 - place} for place in range(n)
    ]
    return images, captions


def records_of(format: str, path: Path, pictures: Path | None = None) -> list[Record]:
    """What the reader of a format yields. Raises CounterpartError for the first row that it leaves out."""
    notes = Notes(pictures or path.parent)
    records = list(READERS[format].read(path, notes))
    if notes.faults:
        raise CounterpartError(": ".join(notes.faults[0]) + ".")
    return records
