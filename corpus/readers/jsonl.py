"""JSON lines: an object per line with caption_id, image_id, file_name, text and optionally split. Where caption_id and
text are null, it is an image without a caption."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.untrusted import read_json
from corpus.input_files import at, lines
from corpus.readers.record import Record, bare_image, caption_record, key_of

FIELDS = ("caption_id", "image_id", "file_name", "text")


def read_jsonl(path: Path) -> Iterator[Record]:
    """Yield a record per line. A null caption_id is replaced by one computed from the image id and the text."""
    nameless: Counter[str] = Counter()
    for number, line in lines(path):
        with at(path, "line", number):
            fields = _fields(line)
            record = _record(fields, nameless)
        yield record


def _record(fields: dict[str, Any], nameless: Counter[str]) -> Record:
    caption = fields["caption_id"]
    text = fields["text"]
    image = {"image": fields["image_id"], "file_name": fields["file_name"], "split": fields.get("split", "")}
    if caption is None and text is None:
        return bare_image(**image)
    return caption_record(**image, caption=_made_key(fields, nameless) if caption is None else caption, text=text)


def _fields(line: str) -> dict[str, Any]:
    fields = read_json(line)
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")
    missing = [name for name in FIELDS if name not in fields]
    if missing:
        raise ValueError(f"{' and '.join(missing)} missing")
    return fields


def _made_key(fields: dict[str, Any], nameless: Counter[str]) -> str:
    """Return a key computed from image and text, the same in every import; equal captions of an image are numbered."""
    image = key_of(fields["image_id"], "the image of this caption")
    digest = hashlib.sha256(str(fields["text"]).encode()).hexdigest()[:16]
    key = f"{image}-{digest}"
    nameless[key] += 1
    return key if nameless[key] == 1 else f"{key}-{nameless[key]}"
