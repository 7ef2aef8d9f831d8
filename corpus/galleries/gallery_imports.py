"""Import a gallery of items that stay in files: all of it, or nothing."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone
from pyarrow import compute

from core.errors import CounterpartError
from core.events import record
from core.files.parts import Part
from core.files.stored_files import StoredFile, files_in, folders_in, write_file
from core.progress import Progress, silent
from core.text import check_name
from corpus.galleries.found_rows import check_same_items
from corpus.galleries.gallery_files import item_tables
from corpus.galleries.item_parts import CAPTIONS, IMAGES, parts_of, write_part
from corpus.models import Collection, Gallery
from corpus.pictures.stored_pictures import ABANDONED

FOLDER = "galleries"
Parts = dict[str, list[Part]]


def import_gallery(
    name: str, *, collection: Collection, path: Path, actor: str = "command", progress: Progress = silent
) -> Gallery:
    """Make the gallery ``name`` of the items in ``path``: images-*.parquet with the columns key and optionally file and
    sha256, captions-*.parquet with key, text and image, the place of its image among all images.

    Keys ascend within a side, over its files in the order of their names. An item whose key the collection has is that
    row. Importing the same again changes nothing. Memory: about one part, and the keys of the collection's rows.

    Raises CounterpartError for files that break a rule, for an item that differs from the row with its key or is for
    training, and where another gallery has this name.
    """
    check_name(name)
    _remove_abandoned()
    # A folder of its own, so that a failed import removes its files and no others.
    folder = f"{FOLDER}/{name}-{uuid4().hex[:8]}"
    try:
        parts = _write_parts(folder, collection, path, progress)
        gallery = _store(name, collection, folder, parts, actor)
    except BaseException:
        _remove_folder(folder)
        raise
    return gallery


def files_of(gallery: Gallery) -> list[StoredFile]:
    """Return the stored files that are the gallery's own: the list of its parts, and the parts."""
    parts = [StoredFile(part.path, part.sha256) for side in parts_of(gallery).values() for part in side]
    return [StoredFile(gallery.file, gallery.sha256), *parts]


def _write_parts(folder: str, collection: Collection, path: Path, progress: Progress) -> Parts:
    images = list(_side(folder, IMAGES, collection, item_tables(path, IMAGES, 0, progress)))
    n_images = _count(images)
    captions = list(_side(folder, CAPTIONS, collection, item_tables(path, CAPTIONS, n_images, progress)))
    return {IMAGES: images, CAPTIONS: captions}


def _side(folder: str, side: str, collection: Collection, tables: Iterator[pa.Table]) -> Iterator[Part]:
    rows = collection.images if side == IMAGES else collection.captions
    known = pa.array(rows.values_list("key", flat=True).iterator(), pa.string())
    first = 0
    for items in tables:
        check_same_items(collection, side, items.filter(compute.is_in(items["key"], value_set=known)))
        yield write_part(f"{folder}/{side}", items, first)
        first += len(items)


def _count(parts: list[Part]) -> int:
    return sum(part.rows for part in parts)


def _store(name: str, collection: Collection, folder: str, parts: Parts, actor: str) -> Gallery:
    """Make the row of the gallery, or return the one that has the same items; then the new files are not needed."""
    checksums = "".join(part.sha256 for side in (IMAGES, CAPTIONS) for part in parts[side])
    digest = hashlib.sha256(checksums.encode()).hexdigest()
    listed = {side: [asdict(part) for part in some] for side, some in parts.items()}
    manifest = write_file(f"{folder}/parts.json", json.dumps(listed).encode())
    described = {
        "collection": collection,
        "n_images": _count(parts[IMAGES]),
        "n_captions": _count(parts[CAPTIONS]),
        "file": manifest.path,
        "sha256": manifest.sha256,
        "digest": digest,
    }
    with transaction.atomic():
        gallery, made = Gallery.objects.get_or_create(name=name, defaults=described)
        if made:
            counts = {"images": gallery.n_images, "captions": gallery.n_captions}
            record("gallery imported", gallery, actor=actor, digest=digest, **counts)
    if not made and (gallery.digest, gallery.collection_id) != (digest, collection.pk):
        raise CounterpartError(
            f"The gallery {name} already exists with other items, or of another collection ({gallery.collection})."
            " Choose another name."
        )
    if not made:
        _remove_folder(folder)
    return gallery


def _remove_abandoned() -> None:
    """Remove the files that imports which were killed have left: none that is at work is so old."""
    used = {file.rpartition("/")[0] for file in Gallery.objects.values_list("file", flat=True)}
    oldest = timezone.now() - ABANDONED
    for folder in folders_in(FOLDER):
        if folder not in used and all(default_storage.get_modified_time(file) < oldest for file in files_in(folder)):
            _remove_folder(folder)


def _remove_folder(folder: str) -> None:
    for inner in folders_in(folder):  # the embeddings
        _remove_folder(inner)
    for file in files_in(folder):
        default_storage.delete(file)
    default_storage.delete(folder)  # a folder of a disk; a bucket has none
