"""Imports a captioned-image collection from a file or folder: everything in it, or nothing."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from django.db import IntegrityError, connection, transaction

from core.errors import CounterpartError, some_of
from core.events import record as record_event
from core.naming import check_name
from core.progress import Progress, silent, tracked
from corpus.comparing import Comparison, compare
from corpus.models import Caption, Collection, Image, Match
from corpus.picture_folders import find_pictures, pictures_stored
from corpus.pictures import StoredPicture
from corpus.readers import reader_of
from corpus.readers.record import Record

BATCH = 5_000


@dataclass(frozen=True)
class ImportSummary:
    """What an import did, in counts. ``images_without_captions`` were in the file and left out."""

    collection: str
    captions_added: int
    captions_there: int
    images_added: int
    pictures_added: int
    images_without_captions: int

    def __str__(self) -> str:
        parts = [
            f"{self.captions_added:,} captions and {self.images_added:,} images added" if self.captions_added else "",
            f"{self.captions_there:,} captions already there" if self.captions_there else "",
            f"{self.pictures_added:,} pictures stored" if self.pictures_added else "",
            f"{self.images_without_captions:,} images without captions left out"
            if self.images_without_captions
            else "",
        ]
        said = "; ".join(part for part in parts if part)
        return f"{self.collection}: {said}{'.' if self.changed else '; nothing changed.'}"

    @property
    def changed(self) -> bool:
        return bool(self.captions_added or self.pictures_added)


def import_collection(
    name: str,
    *,
    format: str,
    path: Path,
    images: Path | None = None,
    append: bool = False,
    skip_missing: bool = False,
    progress: Progress = silent,
) -> ImportSummary:
    """Import ``path`` into the collection ``name``, with an ``original`` match for every caption and its image.

    ``images`` is a folder of pictures (the format ``folder`` brings its own); pictures may also be added by a
    later import of the same captions. Importing what is there changes nothing; more captions for an existing
    collection need ``append``. ``skip_missing`` lets images stay without a picture.

    Raises CounterpartError for a malformed file, ids that stand for two things, missing or broken pictures.
    """
    check_name(name)
    reader = reader_of(format)
    collection = Collection.objects.filter(name=name).first()
    if append and collection is None:
        raise CounterpartError(f"There is no collection {name!r} to append to; leave --append out to make it.")
    found = compare(tracked(reader(path), "checking captions", progress), collection)
    _refuse(found, path, format, collection, append)
    folder = path if format == "folder" and images is None else images
    known = _pictures_of(collection)
    files = _picture_files(folder, found, known, skip_missing) if folder else {}
    with pictures_stored(name, files, known=known, progress=progress) as pictures:
        _refuse_other_pictures(pictures, known)
        summary = ImportSummary(
            collection=name,
            captions_added=len(found.new_captions),
            captions_there=found.captions_there,
            images_added=len(found.new_images),
            pictures_added=len(pictures),
            images_without_captions=len(set(found.bare) - found.images.keys()),
        )
        if summary.changed:
            _write(summary, found, pictures, tracked(reader(path), "writing captions", progress))
    return summary


def _refuse(found: Comparison, path: Path, format: str, collection: Collection | None, append: bool) -> None:
    if not found.images:
        raise CounterpartError(f"{path.name} holds no captions; is its format {format}?")
    if collection and not append and found.new_captions:
        new = list(found.new_captions)
        raise CounterpartError(
            f"{len(new):,} captions of {path.name} are not in collection {collection.name}: {some_of(new)}. "
            "Pass --append to add them, or choose another name."
        )


def _pictures_of(collection: Collection | None) -> dict[str, tuple[str, str]]:
    """Map the keys of the images that have a picture to (file, sha256)."""
    if collection is None:
        return {}
    rows = collection.images.exclude(file="").values_list("key", "file", "sha256")
    return {key: (file, sha256) for key, file, sha256 in rows}


def _picture_files(
    folder: Path, found: Comparison, known: Mapping[str, tuple[str, str]], skip_missing: bool
) -> dict[str, Path]:
    files = find_pictures(folder, {key: file_name for key, (file_name, _split) in found.images.items()})
    lacking = [key for key, file in files.items() if file is None and key not in known]
    if lacking and not skip_missing:
        raise CounterpartError(
            f"{len(lacking):,} images lack a file in {folder}: {some_of(lacking)}. "
            "Put the files there, or pass --skip-missing."
        )
    return {key: file for key, file in files.items() if file is not None}


def _refuse_other_pictures(pictures: Mapping[str, StoredPicture], known: Mapping[str, tuple[str, str]]) -> None:
    other = [key for key, picture in pictures.items() if key in known and known[key][1] != picture.sha256]
    if other:
        raise CounterpartError(
            f"{len(other):,} images have another picture already: {some_of(other)}. "
            "Import into a collection of another name."
        )


def _write(
    summary: ImportSummary, found: Comparison, pictures: Mapping[str, StoredPicture], records: Iterator[Record]
) -> None:
    try:
        with transaction.atomic():
            collection, _made = Collection.objects.get_or_create(name=summary.collection)
            _add_images(collection, found)
            _add_captions(collection, dict(found.new_captions), records)
            _add_matches(collection)
            _attach(collection, pictures)
            record_event(
                "imported",
                collection,
                actor="command",
                captions=summary.captions_added,
                images=summary.images_added,
                pictures=summary.pictures_added,
            )
    except IntegrityError as error:
        raise CounterpartError(
            f"Collection {summary.collection} was changed by somebody else meanwhile; import again."
        ) from error


def _add_images(collection: Collection, found: Comparison) -> None:
    rows = (
        Image(collection_id=collection.pk, key=key, file_name=found.images[key][0], split=found.images[key][1])
        for key in found.new_images
    )
    Image.objects.bulk_create(rows, batch_size=BATCH)


def _add_captions(collection: Collection, awaited: dict[str, bytes], records: Iterator[Record]) -> None:
    """Write the captions that ``compare`` found new, each once."""
    images = dict(collection.images.values_list("key", "pk"))
    new = (record for record in records if awaited.pop(record.caption, None))
    while batch := list(islice(new, BATCH)):
        Caption.objects.bulk_create(
            Caption(
                collection_id=collection.pk,
                key=record.caption,
                image_id=images[record.image],
                text=record.text or "",
            )
            for record in batch
        )
    if awaited:
        raise CounterpartError(
            f"The caption file changed while it was read ({len(awaited):,} captions gone); try again."
        )


def _add_matches(collection: Collection) -> None:
    """Pair every caption that has no ``original`` match with its image: one statement, for objects take longer."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO corpus_match (collection_id, image_id, caption_id, source)"
            " SELECT c.collection_id, c.image_id, c.id, %s FROM corpus_caption c WHERE c.collection_id = %s"
            " AND NOT EXISTS (SELECT 1 FROM corpus_match m WHERE m.collection_id = c.collection_id AND m.source = %s"
            " AND m.image_id = c.image_id AND m.caption_id = c.id) ORDER BY c.id",
            [Match.ORIGINAL, collection.pk, Match.ORIGINAL],
        )


def _attach(collection: Collection, pictures: Mapping[str, StoredPicture]) -> None:
    rows = [image for image in collection.images.iterator() if image.key in pictures] if pictures else []
    for image in rows:
        picture = pictures[image.key]
        image.file, image.sha256 = picture.file, picture.sha256
        image.width, image.height = picture.width, picture.height
    fields = ["file", "sha256", "width", "height"]
    Image.objects.bulk_create(rows, batch_size=BATCH, update_conflicts=True, unique_fields=["id"], update_fields=fields)
