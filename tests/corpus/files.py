"""Input files for the corpus tests, written as their publishers write them."""

import gzip
import json
from pathlib import Path

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
