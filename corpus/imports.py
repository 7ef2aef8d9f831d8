"""Import a captioned-image collection from a file or folder: all of it, or nothing."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from django.db import IntegrityError, connection, transaction

from core.errors import CounterpartError, some_of
from core.events import record as record_event
from core.progress import Progress, silent, tracked
from core.text import check_name, counted
from corpus.batches import begin_batch
from corpus.models import Batch, Caption, Collection, Image, Match
from corpus.pictures.stored_pictures import StoredPicture, find_pictures, pictures_stored
from corpus.readers import reader_of
from corpus.readers.record import Record

BATCH = 5_000


@dataclass(frozen=True)
class ImportSummary:
    """The counts of an import. ``images_without_captions`` counts those of the whole collection, ``language`` is
    noted as that of its captions now. ``undo`` takes ``batch`` back; it is empty where nothing changed."""

    collection: str
    captions_added: int
    captions_there: int
    images_added: int
    pictures_added: int
    images_without_captions: int = 0
    language: str = ""
    batch: str = ""

    def __str__(self) -> str:
        parts = [
            f"{counted(self.captions_added, 'caption')} and {counted(self.images_added, 'image')} added"
            if self.captions_added
            else "",
            f"{counted(self.images_added, 'image')} added" if self.images_added and not self.captions_added else "",
            f"{counted(self.captions_there, 'caption')} already imported" if self.captions_there else "",
            f"{counted(self.pictures_added, 'picture')} stored" if self.pictures_added else "",
            f"{counted(self.images_without_captions, 'image has', 'images have')} no caption"
            if self.images_without_captions
            else "",
            f"captions are in {self.language}" if self.language else "",
            f"undo {self.batch} takes it back" if self.batch else "",
        ]
        text = "; ".join([part for part in parts if part] + ([] if self.changed else ["nothing changed"]))
        return f"{self.collection}: {text}."

    @property
    def changed(self) -> bool:
        return bool(self.captions_added or self.images_added or self.pictures_added or self.language)


@dataclass
class _Comparison:
    """The contents of a caption file, split into new and existing rows.

    ``images`` maps the key of every image of the file to (file name, split). ``new_captions`` maps keys to (image,
    text), in the file's order.
    """

    images: dict[str, tuple[str, str]] = field(default_factory=dict)
    new_images: list[str] = field(default_factory=list)
    new_captions: dict[str, tuple[str, str]] = field(default_factory=dict)
    captions_there: int = 0
    language: str = ""


def import_collection(
    name: str,
    *,
    format: str,
    path: Path,
    images: Path | None = None,
    language: str = "",
    append: bool = False,
    skip_missing: bool = False,
    actor: str = "command",
    progress: Progress = silent,
) -> ImportSummary:
    """Import ``path`` into the collection ``name``, with an ``original`` match for every caption and its image.

    ``images`` is a folder of pictures (the format ``folder`` contains its own); a later import of the same captions
    may add the pictures. Images may have no caption. Importing the same again changes nothing; new captions and images
    for an existing collection need ``append``. ``skip_missing`` accepts images without a picture. ``language``
    is a BCP 47 tag.

    Raises CounterpartError for a malformed file, conflicting ids or languages, and missing or broken pictures.
    """
    check_name(name)
    reader = reader_of(format)
    collection = Collection.objects.filter(name=name).first()
    if append and collection is None:
        raise CounterpartError(f"Unknown collection {name!r}: omit --append to create it.")
    if collection and language and collection.language not in ("", language):
        raise CounterpartError(
            f"The captions of {name} are in {collection.language}, not {language}. Choose another name, or omit the "
            "language."
        )
    comparison = _compare(tracked(reader(path), "checking captions", progress), collection)
    comparison.language = "" if collection and collection.language else language
    _check_new(comparison, path, format, collection, append)
    folder = path if format == "folder" and images is None else images
    files = _picture_files(folder, comparison, name, skip_missing) if folder else {}
    return _store(name, comparison, files, path, actor, progress)


def import_pictures(
    collection: Collection,
    images: Path,
    *,
    skip_missing: bool = False,
    actor: str = "command",
    progress: Progress = silent,
) -> ImportSummary:
    """Store the pictures of an existing collection's images from a folder, found by file name.

    Raises CounterpartError as ``import_collection`` does, and where no file has the name of a picture.
    """
    comparison = _Comparison(images=_images_of(collection))
    files = _picture_files(images, comparison, collection.name, skip_missing)
    if not files:
        wanted = some_of([file_name for file_name, _split in comparison.images.values()])
        raise CounterpartError(f"No file has the name of a picture of {collection}: {wanted}. Rename the files.")
    return _store(collection.name, comparison, files, images, actor, progress)


def _store(
    name: str, found: _Comparison, files: Mapping[str, Path], path: Path, actor: str, progress: Progress
) -> ImportSummary:
    known = _known_pictures(name)
    with pictures_stored(name, files, known=known, progress=progress) as pictures:
        _check_same_pictures(pictures, known)
        summary = ImportSummary(
            collection=name,
            captions_added=len(found.new_captions),
            captions_there=found.captions_there,
            images_added=len(found.new_images),
            pictures_added=len(pictures),
            language=found.language,
        )
        if summary.changed:
            summary = replace(summary, batch=_write(summary, found, pictures, path, actor, progress).name)
    bare = Image.objects.filter(collection__name=name).uncaptioned().count()
    return replace(summary, images_without_captions=bare)


def _compare(records: Iterable[Record], collection: Collection | None) -> _Comparison:
    """Read every record once. Raises CounterpartError that lists the ids used for two different things."""
    known_images = _images_of(collection) if collection else {}
    known_captions = _captions_of(collection) if collection else {}
    comparison = _Comparison()
    image_conflicts: dict[str, None] = {}
    caption_conflicts: dict[str, None] = {}
    for record in records:
        if not _is_same_image(record, comparison, known_images):
            image_conflicts[record.image] = None
        if record.text is not None and not _is_same_caption(record, comparison, known_captions):
            caption_conflicts[record.caption] = None
    _check_conflicts("image", "file name or split", list(image_conflicts))
    _check_conflicts("caption", "text or image", list(caption_conflicts))
    return comparison


def _images_of(collection: Collection) -> dict[str, tuple[str, str]]:
    rows = collection.images.values_list("key", "file_name", "split")
    return {key: (file_name, split) for key, file_name, split in rows.iterator(chunk_size=BATCH)}


def _captions_of(collection: Collection) -> dict[str, bytes]:
    rows = collection.captions.values_list("key", "image__key", "text")
    return {key: _digest(image, text) for key, image, text in rows.iterator(chunk_size=BATCH)}


def _digest(image: str, text: str) -> bytes:
    return hashlib.blake2b(f"{image}\n{text}".encode(), digest_size=16).digest()


def _is_same_image(record: Record, found: _Comparison, known: dict[str, tuple[str, str]]) -> bool:
    """Note the record's image; False if its key has another file name or split. An empty split matches any."""
    before = found.images.get(record.image) or known.get(record.image)
    if before is None:
        found.new_images.append(record.image)
    if record.image not in found.images:
        found.images[record.image] = before or (record.file_name, record.split)
    return before is None or (record.file_name == before[0] and record.split in ("", before[1]))


def _is_same_caption(record: Record, found: _Comparison, known: dict[str, bytes]) -> bool:
    """Note the record's caption; False if its key has another text or image."""
    said = (record.image, record.text or "")
    if record.caption in known:
        found.captions_there += 1
        return known[record.caption] == _digest(*said)
    return found.new_captions.setdefault(record.caption, said) == said


def _check_conflicts(thing: str, what: str, keys: list[str]) -> None:
    if keys:
        raise CounterpartError(
            f"{counted(len(keys), thing + ' has', thing + 's have')} another {what} in this collection or earlier in "
            f"the file: {some_of(keys)}. Give them unique ids, or import into a new collection."
        )


def _check_new(found: _Comparison, path: Path, format_name: str, collection: Collection | None, append: bool) -> None:
    if not found.images:
        raise CounterpartError(f"{path.name} contains no captions and no images. Is its format {format_name}?")
    for thing, new in (("caption", list(found.new_captions)), ("image", found.new_images)):
        if collection and not append and new:
            are = counted(len(new), f"{thing} of {path.name} is", f"{thing}s of {path.name} are")
            raise CounterpartError(
                f"{are} not in collection {collection.name}: {some_of(new)}. "
                "Pass --append to add them, or choose another name."
            )


def _known_pictures(name: str) -> dict[str, tuple[str, str]]:
    """Map the keys of the collection's images that have a picture to (file, sha256)."""
    rows = Image.objects.filter(collection__name=name).exclude(file="").values_list("key", "file", "sha256")
    return {key: (file, sha256) for key, file, sha256 in rows}


def _picture_files(folder: Path, found: _Comparison, name: str, skip_missing: bool) -> dict[str, Path]:
    known = _known_pictures(name)
    files = find_pictures(folder, {key: file_name for key, (file_name, _split) in found.images.items()})
    missing = [key for key, file in files.items() if file is None and key not in known]
    if missing and not skip_missing:
        names = [f"{found.images[key][0]} (image {key})" for key in missing]
        raise CounterpartError(
            f"{counted(len(missing), 'picture is', 'pictures are')} missing: {some_of(names)}. "
            "Add the files, or accept images without a picture (--skip-missing)."
        )
    return {key: file for key, file in files.items() if file is not None}


def _check_same_pictures(pictures: Mapping[str, StoredPicture], known: Mapping[str, tuple[str, str]]) -> None:
    other = [key for key, picture in pictures.items() if key in known and known[key][1] != picture.sha256]
    if other:
        raise CounterpartError(
            f"{counted(len(other), 'image already has', 'images already have')} a different picture: {some_of(other)}."
            " Import into a new collection."
        )


def _write(
    summary: ImportSummary,
    found: _Comparison,
    pictures: Mapping[str, StoredPicture],
    path: Path,
    actor: str,
    progress: Progress,
) -> Batch:
    counts = {"captions": summary.captions_added, "images": summary.images_added, "pictures": summary.pictures_added}
    kind = Batch.Kind.COLLECTION if summary.captions_added or summary.images_added else Batch.Kind.PICTURES
    try:
        with transaction.atomic():
            collection, _made = Collection.objects.get_or_create(name=summary.collection)
            if summary.language:
                collection.language = summary.language
                collection.save(update_fields=["language"])
            batch = begin_batch(collection, kind, actor=actor, path=path, language=summary.language, **counts)
            _add_images(batch, found)
            _add_captions(batch, found, progress)
            _add_matches(collection)
            _attach(batch, pictures)
            record_event("imported", collection, actor=actor, batch=batch.name, **counts)
            return batch
    except IntegrityError as error:
        raise CounterpartError(
            f"Another process changed collection {summary.collection} at the same time. Import again."
        ) from error


def _add_images(batch: Batch, found: _Comparison) -> None:
    owner = {"collection_id": batch.collection_id, "batch_id": batch.pk}
    rows = (
        Image(key=key, file_name=found.images[key][0], split=found.images[key][1], **owner) for key in found.new_images
    )
    Image.objects.bulk_create(rows, batch_size=BATCH)


def _add_captions(batch: Batch, found: _Comparison, progress: Progress) -> None:
    """Write the captions that ``_compare`` found new."""
    owner = {"collection_id": batch.collection_id, "batch_id": batch.pk}
    images = dict(batch.collection.images.values_list("key", "pk"))
    new = tracked(found.new_captions.items(), "writing captions", progress, total=len(found.new_captions))
    while some := list(islice(new, BATCH)):
        Caption.objects.bulk_create(
            Caption(key=key, image_id=images[image], text=text, **owner) for key, (image, text) in some
        )


def _add_matches(collection: Collection) -> None:
    """Pair every caption that has no ``original`` match with its image: one statement, faster than objects."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO corpus_match (collection_id, image_id, caption_id, source, batch_id)"
            " SELECT c.collection_id, c.image_id, c.id, %s, c.batch_id FROM corpus_caption c WHERE c.collection_id = %s"
            " AND NOT EXISTS (SELECT 1 FROM corpus_match m WHERE m.collection_id = c.collection_id AND m.source = %s"
            " AND m.image_id = c.image_id AND m.caption_id = c.id) ORDER BY c.id",
            [Match.ORIGINAL, collection.pk, Match.ORIGINAL],
        )


def _attach(batch: Batch, pictures: Mapping[str, StoredPicture]) -> None:
    rows = [image for image in batch.collection.images.iterator() if image.key in pictures] if pictures else []
    for image in rows:
        picture = pictures[image.key]
        image.file = picture.file
        image.sha256 = picture.sha256
        image.width = picture.width
        image.height = picture.height
        image.picture_batch = batch
    fields = ["file", "sha256", "width", "height", "picture_batch"]
    Image.objects.bulk_create(rows, batch_size=BATCH, update_conflicts=True, unique_fields=["id"], update_fields=fields)
