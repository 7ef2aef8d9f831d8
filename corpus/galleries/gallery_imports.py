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
from pyarrow import compute, parquet

from core.errors import CounterpartError
from core.events import record
from core.files.stored_files import Part, StoredFile, files_in, folders_in, write_file
from core.progress import Progress, silent
from core.text import VISIBLE, check_name
from corpus.galleries.found_rows import check_same_items
from corpus.galleries.item_parts import CAPTIONS, IMAGES, ROWS, SCHEMAS, parts_of, write_part
from corpus.models import Collection, Gallery
from corpus.pictures.stored_pictures import ABANDONED
from corpus.readers.record import MAX_FILE_NAME, MAX_KEY, MAX_TEXT

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


BATCH = 65_536  # rows read at once
BUFFER = 1 << 20  # bytes of a column read at once, so that a large row group is never in memory whole
OPTIONAL = ("file", "sha256")
PICTURES = "pictures/"
"""The folder of the storage with the pictures of galleries. Nothing but their owner writes or deletes there, and no
other stored file can be named as a picture."""
BELOW_PICTURES = rf"^{PICTURES}([^/\\]+/)*[^/\\]+$"
DOTTED = r"(^|/)\.{1,2}(/|$)"
URL = r"^https?://[^/\s]+/\S+$"
MAX_URL = 2_000
Fault = tuple[pa.BooleanArray, str]


def item_tables(folder: Path, side: str, n_images: int, progress: Progress) -> Iterator[pa.Table]:
    """Yield the items of ``side``-*.parquet, in the order of the files' names, as tables of ``ROWS`` rows; the last may
    have fewer.

    ``n_images``: the number of images; each caption names one of them by its place. Memory: about one table.
    Raises CounterpartError that names the file and the row of what is wrong.
    """
    files = sorted(folder.glob(f"{side}-*.parquet"))
    if not files:
        raise CounterpartError(f"{folder} has no files {side}-*.parquet. Pass the folder with the gallery's items.")
    total = sum(_rows_of(file, side) for file in files)
    done = 0
    waiting = SCHEMAS[side].empty_table()
    for items in _checked(files, side, n_images):
        waiting = pa.concat_tables([waiting, items])
        while len(waiting) >= ROWS:
            yield waiting.slice(0, ROWS)
            waiting = waiting.slice(ROWS)
        done += len(items)
        progress(f"importing {side}", done, total)
    if len(waiting):
        yield waiting
    if not done:
        raise CounterpartError(f"The files {side}-*.parquet of {folder} have no {side}.")


def _rows_of(file: Path, side: str) -> int:
    try:
        rows: int = parquet.read_metadata(file).num_rows
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, side, error) from error
    return rows


def _unreadable(file: Path, side: str, error: Exception) -> CounterpartError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    needed = " and ".join(name for name in SCHEMAS[side].names if name not in OPTIONAL)
    return CounterpartError(
        f"{file.name} cannot be read as a Parquet file of {side} with {needed} ({reason}). Write it again."
    )


def _checked(files: list[Path], side: str, n_images: int) -> Iterator[pa.Table]:
    last = ""
    for file in files:
        first = 0
        for items in _read(file, side):
            _check(items, side, n_images, last, file, first)
            yield items
            first += len(items)
            last = items["key"][-1].as_py()


def _read(file: Path, side: str) -> Iterator[pa.Table]:
    """Yield a file's rows with the columns of its side; nulls become empty texts, and the place -1."""
    schema = SCHEMAS[side]
    try:
        with parquet.ParquetFile(file, buffer_size=BUFFER, pre_buffer=False) as opened:
            columns = opened.schema_arrow.names
            if missing := [name for name in schema.names if name not in (*columns, *OPTIONAL)]:
                raise CounterpartError(f"{file.name} has no column {' and no '.join(missing)}. Write it again.")
            wanted = [name for name in schema.names if name in columns]
            for batch in opened.iter_batches(BATCH, columns=wanted):
                batch.validate(full=True)  # texts may be any bytes
                if len(batch):
                    yield pa.table([_column(batch, field) for field in schema], schema=schema)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, side, error) from error


def _column(batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
    empty = pa.scalar("" if field.type == pa.string() else -1, field.type)
    if field.name not in batch.schema.names:
        return pa.repeat(empty, len(batch))
    return compute.fill_null(batch[field.name].cast(field.type), empty)


def _check(items: pa.Table, side: str, n_images: int, last: str, file: Path, first: int) -> None:
    """Raise CounterpartError for the first row that is wrong. ``last`` is the key before the first row."""
    faults = [*_faults_of_keys(items["key"].combine_chunks(), last), *_faults_of(items, side, n_images)]
    rows = [(compute.index(mask, True).as_py(), fault) for mask, fault in faults]  # -1: no row is wrong
    if faulty := [(row, fault) for row, fault in rows if row >= 0]:
        row, fault = min(faulty, key=lambda pair: pair[0])
        raise CounterpartError(
            f"{file.name}, row {first + row + 1} (key {items['key'][row].as_py()[:MAX_KEY]!r}): {fault}. Correct the"
            " file and import it again."
        )


def _faults_of_keys(keys: pa.StringArray, last: str) -> Iterator[Fault]:
    before = pa.concat_arrays([pa.array([last], pa.string()), keys[:-1]])
    yield compute.equal(keys, ""), "it has no key"
    unsorted = (
        "its key does not come after the key before it; keys ascend over all files of a side, by their bytes in UTF-8"
    )
    yield compute.less_equal(keys, before), unsorted
    yield compute.greater(compute.utf8_length(keys), MAX_KEY), f"its key has more than {MAX_KEY} characters"
    yield compute.match_substring(keys, "\0"), "its key contains a NUL character"


def _faults_of(items: pa.Table, side: str, n_images: int) -> Iterator[Fault]:
    if side == IMAGES:
        files = items["file"]
        checksums = items["sha256"]
        named = compute.and_(
            compute.match_substring_regex(files, BELOW_PICTURES),
            compute.invert(compute.match_substring_regex(files, DOTTED)),
        )
        urls = compute.match_substring_regex(files, URL)
        lengths = compute.utf8_length(files)
        known = compute.or_(compute.or_(named, urls), compute.equal(files, ""))
        yield compute.invert(known), f"its file is neither a path below {PICTURES} in the storage nor a URL"
        long = compute.and_(compute.invert(urls), compute.greater(lengths, MAX_FILE_NAME))
        yield long, f"its file has over {MAX_FILE_NAME} characters"
        yield compute.greater(lengths, MAX_URL), f"its URL has over {MAX_URL:,} characters"
        yield compute.match_substring(files, "\0"), "its file contains a NUL character"
        hexadecimal = compute.match_substring_regex(checksums, "^([0-9a-f]{64})?$")
        yield compute.invert(hexadecimal), "its sha256 is not 64 hexadecimal digits in lower case"
    if side == CAPTIONS:
        texts = items["text"]
        places = items["image"]
        yield compute.invert(compute.match_substring_regex(texts, VISIBLE)), "it has no text"
        yield compute.greater(compute.utf8_length(texts), MAX_TEXT), f"its text has over {MAX_TEXT:,} characters"
        yield compute.match_substring(texts, "\0"), "its text contains a NUL character"
        outside = compute.or_(compute.less(places, 0), compute.greater_equal(places, n_images))
        yield outside, f"its image is not the place of an image, 0 to {n_images - 1:,}"
