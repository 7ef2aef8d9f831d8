"""Holds a caption file against what a collection has already, before anything is written."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from core.errors import CounterpartError, some_of
from corpus.models import Collection
from corpus.readers.record import Record


@dataclass
class Comparison:
    """What a file holds, split into what is new to the collection and what is there.

    ``images`` maps the key of every captioned image of the file to (file name, split). ``new_captions`` maps
    keys to a digest of image and text, in the file's order. ``bare`` are the keys of images without captions.
    """

    images: dict[str, tuple[str, str]] = field(default_factory=dict)
    new_images: list[str] = field(default_factory=list)
    new_captions: dict[str, bytes] = field(default_factory=dict)
    captions_there: int = 0
    bare: list[str] = field(default_factory=list)


def compare(records: Iterable[Record], collection: Collection | None) -> Comparison:
    """Read every record once. Raises CounterpartError naming the ids that stand for two different things."""
    known_images, known_captions = _images_of(collection), _captions_of(collection)
    found = Comparison()
    image_clashes: dict[str, None] = {}
    caption_clashes: dict[str, None] = {}
    for record in records:
        if record.text is None:
            found.bare.append(record.image)
            continue
        if not _same_image(record, found, known_images):
            image_clashes[record.image] = None
        if not _same_caption(record, found, known_captions):
            caption_clashes[record.caption] = None
    _refuse("images", "file name or split", list(image_clashes))
    _refuse("captions", "text or image", list(caption_clashes))
    return found


def _images_of(collection: Collection | None) -> dict[str, tuple[str, str]]:
    if collection is None:
        return {}
    rows = collection.images.values_list("key", "file_name", "split")
    return {key: (file_name, split) for key, file_name, split in rows.iterator(chunk_size=5_000)}


def _captions_of(collection: Collection | None) -> dict[str, bytes]:
    if collection is None:
        return {}
    rows = collection.captions.values_list("key", "image__key", "text")
    return {key: _digest(image, text) for key, image, text in rows.iterator(chunk_size=5_000)}


def _digest(image: str, text: str) -> bytes:
    return hashlib.blake2b(f"{image}\n{text}".encode(), digest_size=16).digest()


def _same_image(record: Record, found: Comparison, known: dict[str, tuple[str, str]]) -> bool:
    """Note the record's image; False if its key stands for another file name or split. No split agrees with any."""
    before = found.images.get(record.image) or known.get(record.image)
    if before is None:
        found.new_images.append(record.image)
    if record.image not in found.images:
        found.images[record.image] = before or (record.file_name, record.split)
    return before is None or (record.file_name == before[0] and record.split in ("", before[1]))


def _same_caption(record: Record, found: Comparison, known: dict[str, bytes]) -> bool:
    """Note the record's caption; False if its key stands for another text or image."""
    digest = _digest(record.image, record.text or "")
    before = known.get(record.caption) or found.new_captions.get(record.caption)
    if before is None:
        found.new_captions[record.caption] = digest
    elif record.caption in known:
        found.captions_there += 1
    return before in (None, digest)


def _refuse(things: str, what: str, clashes: list[str]) -> None:
    if clashes:
        raise CounterpartError(
            f"{len(clashes):,} {things} stand for another {what} in this collection or earlier in the file: "
            f"{some_of(clashes)}. Give them ids of their own, or import into a collection of another name."
        )
