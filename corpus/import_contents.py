"""The contents of caption files, compared with those of a collection: what is new, and what conflicts."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import some_of
from core.text import counted
from corpus.batches import undone_in
from corpus.models import Collection, Image
from corpus.readers.layouts import Found
from corpus.readers.record import Record
from corpus.splits import SplitRule, splits_of_folders
from counterpart_metrics.text_files import comparable

ROWS = 5_000  # at once


@dataclass
class Contents:
    """The contents of caption files, split into new and existing rows.

    ``images`` maps the key of every image of the files to (file name, split). ``new_captions`` maps keys to (image,
    text), in the files' order. Keys of two different things are in ``image_conflicts`` and ``caption_conflicts``.
    """

    images: dict[str, tuple[str, str]] = field(default_factory=dict)
    new_images: list[str] = field(default_factory=list)
    new_captions: dict[str, tuple[str, str]] = field(default_factory=dict)
    captions_there: int = 0
    image_conflicts: dict[str, None] = field(default_factory=dict)
    caption_conflicts: dict[str, None] = field(default_factory=dict)
    language: str = ""
    undone: int = 0


def compare(records: Iterable[Record], collection: Collection | None, rule: SplitRule) -> Contents:
    """Read every record once, with the splits that the rule decides."""
    known_images = images_of(collection) if collection else {}
    known_captions = _captions_of(collection) if collection else {}
    images = {comparable(key): key for key in known_images}
    captions = {comparable(key): key for key in known_captions}
    contents = Contents(undone=undone_in(collection) if collection else 0)
    for record in records:
        split = rule(record.split)
        if not (record.image + record.caption).isascii():  # the first way to write an id holds
            image = images.setdefault(comparable(record.image), record.image)
            record = record._replace(image=image, caption=captions.get(comparable(record.caption), record.caption))
        if not _is_same_image(record, split, contents, known_images):
            contents.image_conflicts[record.image] = None
        if record.text is not None and not _is_same_caption(record, contents, known_captions):
            contents.caption_conflicts[record.caption] = None
    return contents


def take_splits_of_folders(found: Contents, files: Mapping[str, Path], folder: Path | None, rule: SplitRule) -> None:
    """Give images without a split that of the folder where their picture lies, in ``folder`` or by their file name.

    An image that the collection has in its gallery, and whose picture is for training, is a conflict.
    """
    undecided = [key for key, (_name, split) in found.images.items() if not split]
    if not undecided:
        return
    within = {key: file for key, file in files.items() if folder and file.is_relative_to(folder)}
    places = {
        key: within[key].relative_to(folder).as_posix() if folder and key in within else name
        for key, (name, _split) in found.images.items()
    }
    splits = splits_of_folders(set(places.values()))
    new = set(found.new_images)
    for key in undecided:
        split = rule(splits.get(places[key], ""))
        if key in new:
            found.images[key] = found.images[key][0], split
        elif split in Image.TRAINING_SPLITS:
            found.image_conflicts[key] = None


def images_of(collection: Collection) -> dict[str, tuple[str, str]]:
    rows = collection.images.values_list("key", "file_name", "split")
    return {key: (file_name, split) for key, file_name, split in rows.iterator(chunk_size=ROWS)}


def _captions_of(collection: Collection) -> dict[str, bytes]:
    rows = collection.captions.values_list("key", "image__key", "text")
    return {key: _digest(image, text) for key, image, text in rows.iterator(chunk_size=ROWS)}


def _digest(image: str, text: str) -> bytes:
    return hashlib.blake2b(f"{image}\n{text}".encode(), digest_size=16).digest()


def _is_same_image(record: Record, split: str, found: Contents, known: dict[str, tuple[str, str]]) -> bool:
    """Note the record's image; False if its key has another file name or split. An empty split matches any."""
    before = found.images.get(record.image) or known.get(record.image)
    if before is None:
        found.new_images.append(record.image)
    if record.image not in found.images:
        found.images[record.image] = before or (record.file_name, split)
    if before is None or before == (record.file_name, split):
        return True
    name, other = before
    same_split = split in ("", other) or (other == "" and split not in Image.TRAINING_SPLITS)
    return same_split and f"/{comparable(record.file_name)}".endswith(f"/{comparable(name)}")


def _is_same_caption(record: Record, found: Contents, known: dict[str, bytes]) -> bool:
    """Note the record's caption; False if its key has another text or image."""
    said = (record.image, record.text or "")
    if record.caption in known:
        found.captions_there += 1
        return known[record.caption] == _digest(*said)
    return found.new_captions.setdefault(record.caption, said) == said


def conflicts_of(found: Contents) -> Iterator[str]:
    """Yield a sentence on the ids of each kind that are used for two different things."""
    images = ("image", "file name or split", found.image_conflicts)
    captions = ("caption", "text or image", found.caption_conflicts)
    for thing, what, keys in (images, captions):
        if keys:
            have = counted(len(keys), f"{thing} has", f"{thing}s have")
            yield (
                f"{have} another {what} in this collection or earlier in the file: {some_of(list(keys))}. "
                "Give them unique ids, or import into a new collection."
            )


def unwanted_rows(
    contents: Contents, path: Path, found: Found, collection: Collection | None, append: bool
) -> Iterator[str]:
    """Yield a sentence on files without contents, and on new rows of an existing collection without ``append``."""
    if not contents.images:
        yield f"{path.name} contains no captions and no images. Is its format {found.layout.name}?"
    for thing, new in (("caption", list(contents.new_captions)), ("image", contents.new_images)):
        if collection and not append and new:
            are = counted(len(new), f"{thing} of {path.name} is", f"{thing}s of {path.name} are")
            yield (
                f"{are} not in collection {collection.name}: {some_of(new)}. "
                "Pass --append to add them, or choose another name."
            )
            return


def splits_of(collection: Collection | None) -> set[str]:
    return set(collection.images.order_by().values_list("split", flat=True).distinct()) if collection else set()
