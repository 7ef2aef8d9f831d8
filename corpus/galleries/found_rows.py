"""Rows for items of a gallery: those that a search found become images and captions of the gallery's collection."""

import hashlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
from django.db import transaction
from numpy.typing import NDArray

from core.errors import CounterpartError, some_of
from core.events import record
from core.files.stored_files import read_file
from core.progress import Progress, silent, tracked
from core.text import counted, is_url
from corpus.galleries.item_parts import CAPTIONS, IMAGES, SCHEMAS, parts_of, read_part
from corpus.models import Caption, Collection, Gallery, Image, Match
from corpus.pictures.stored_pictures import StoredPicture, store_picture
from corpus.readers.record import MAX_FILE_NAME

BATCH = 5_000
AT_ONCE = 16  # pictures, most of whose time goes by while others are waited for
LARGEST_PICTURE = 50_000_000  # bytes of one that is fetched
Ids = NDArray[np.int64]


def rows_of(gallery: Gallery, side: str, places: Ids, *, actor: str = "command", progress: Progress = silent) -> Ids:
    """Return the ids of the rows of items by their places, which ascend; rows that are missing are made.

    ``side`` is ``images`` or ``captions``. An item is the row with its key in the gallery's collection. A caption
    brings its image, and the ``original`` match of both; a new image's picture is checked and copied to the
    collection's pictures. New rows are in no split, and so in the collection's own gallery too. May run twice, also at
    the same time.

    Raises CounterpartError if a row with the key of an item differs from it or is for training, if a picture is missing
    or not the one that the gallery names, and if the gallery's files are missing. Then no row is made.
    """
    collection = gallery.collection
    items = _taken(gallery, side, places)
    images, image_of = (items, None) if side == IMAGES else _images_of_captions(gallery, items)
    pictures = _store_pictures(collection, images, progress)
    with transaction.atomic():
        image_ids, n_images = _image_rows(collection, images, pictures)
        ids, n_captions = (image_ids, 0) if image_of is None else _caption_rows(collection, items, image_ids[image_of])
        if n_images or n_captions:
            record("found", gallery, actor=actor, images=n_images, captions=n_captions)
    return ids


def check_same_items(collection: Collection, side: str, items: pa.Table) -> dict[str, int]:
    """Return the ids of the rows that have the key of an item, by key.

    Raises CounterpartError where a row's text or picture is another than the item's, or the row is for training.
    """
    rows, content = (
        (collection.images.values_list("key", "pk", "sha256", "split"), "sha256")
        if side == IMAGES
        else (collection.captions.values_list("key", "pk", "text", "image__split"), "text")
    )
    wanted = dict(zip(items["key"].to_pylist(), items[content].to_pylist(), strict=True))
    keys = list(wanted)
    ids = {}
    differing = []
    for start in range(0, len(keys), BATCH):
        for key, pk, known, split in rows.filter(key__in=keys[start : start + BATCH]):
            ids[key] = pk
            other = known and wanted[key] and known != wanted[key]
            if other or split in Image.TRAINING_SPLITS:
                differing.append(key)
    if differing:
        are = counted(len(differing), f"item of the {side} is", f"items of the {side} are")
        raise CounterpartError(
            f"{are} in {collection} with another {'picture' if side == IMAGES else 'text'}, or in a training split:"
            f" {some_of(differing)}. Leave them out of the gallery, or give them other keys."
        )
    return ids


def _taken(gallery: Gallery, side: str, places: Ids) -> pa.Table:
    """Return the items at some places. Memory: one part, and these items."""
    taken = [SCHEMAS[side].empty_table()]
    for part in parts_of(gallery)[side]:
        start, stop = np.searchsorted(places, [part.first, part.first + part.rows])
        if start < stop:
            taken.append(read_part(part).take(places[start:stop] - part.first).combine_chunks())
    return pa.concat_tables(taken).combine_chunks()


def _images_of_captions(gallery: Gallery, captions: pa.Table) -> tuple[pa.Table, Ids]:
    """Return the images of captions, each once, and for every caption the row of its image among them."""
    places, image_of = np.unique(captions["image"].to_numpy(), return_inverse=True)
    return _taken(gallery, IMAGES, places), image_of


def _store_pictures(collection: Collection, images: pa.Table, progress: Progress) -> dict[str, StoredPicture]:
    """Copy the pictures of images that have no row yet; return them by key. Those of a search that fails later are
    removed by the next import of pictures, as all that no row uses."""
    known = check_same_items(collection, IMAGES, images)
    new = [image for image in images.to_pylist() if image["key"] not in known and image["file"]]
    broken: list[str] = []

    def store(image: Mapping[str, str]) -> StoredPicture | None:
        try:
            return _copied(collection.name, **image)
        except CounterpartError as error:
            broken.append(str(error))
            return None

    with ThreadPoolExecutor(AT_ONCE) as threads:
        copied = list(tracked(threads.map(store, new), "storing found pictures", progress, total=len(new), every=50))
    if broken:
        pictures = counted(len(broken), "found picture", "found pictures")
        raise CounterpartError(f"{pictures} cannot be used: {some_of(sorted(broken))}")
    return {image["key"]: picture for image, picture in zip(new, copied, strict=True) if picture}


def _copied(collection_name: str, *, key: str, file: str, sha256: str) -> StoredPicture:
    content = _content(key, file)
    if sha256 not in ("", hashlib.sha256(content).hexdigest()):
        raise CounterpartError(f"{file} (image {key}) does not have the gallery's checksum; restore the original.")
    return store_picture(collection_name, key, file, content)


def _content(key: str, file: str) -> bytes:
    if is_url(file):
        from core.web.public_network import fetch  # with httpx, which takes a fifth of a second

        return fetch(file, at_most=LARGEST_PICTURE)
    try:
        return read_file(file)
    except FileNotFoundError as error:
        raise CounterpartError(f"{file} (image {key}) is missing from the storage; copy it there.") from error


def _image_rows(collection: Collection, items: pa.Table, pictures: Mapping[str, StoredPicture]) -> tuple[Ids, int]:
    """Return the ids of the items' rows, and how many were made."""
    known = check_same_items(collection, IMAGES, items)
    new = [
        Image(collection=collection, key=item["key"], file_name=_name_of(item["file"]) or item["key"])
        for item in items.to_pylist()
        if item["key"] not in known
    ]
    for image in new:
        if picture := pictures.get(image.key):
            image.file = picture.file
            image.sha256 = picture.sha256
            image.width = picture.width
            image.height = picture.height
    # Another process may make the same rows at the same time: both then use those of the first.
    Image.objects.bulk_create(new, batch_size=BATCH, ignore_conflicts=True)
    return _in_order(check_same_items(collection, IMAGES, items), items), len(new)


def _name_of(file: str) -> str:
    path = urlsplit(file).path if is_url(file) else file
    return path.rpartition("/")[2][:MAX_FILE_NAME]


def _caption_rows(collection: Collection, items: pa.Table, image_ids: Ids) -> tuple[Ids, int]:
    """Return the ids of the items' rows, and how many were made, each with its ``original`` match."""
    known = check_same_items(collection, CAPTIONS, items)
    new = [
        Caption(collection=collection, key=item["key"], text=item["text"], image_id=image)
        for item, image in zip(items.to_pylist(), image_ids.tolist(), strict=True)
        if item["key"] not in known
    ]
    Caption.objects.bulk_create(new, batch_size=BATCH, ignore_conflicts=True)
    ids = check_same_items(collection, CAPTIONS, items)
    matches = (
        Match(collection=collection, image_id=caption.image_id, caption_id=ids[caption.key], source=Match.ORIGINAL)
        for caption in new
    )
    Match.objects.bulk_create(matches, batch_size=BATCH, ignore_conflicts=True)
    return _in_order(ids, items), len(new)


def _in_order(ids: Mapping[str, int], items: pa.Table) -> Ids:
    return np.array([ids[key] for key in items["key"].to_pylist()], dtype=np.int64)
