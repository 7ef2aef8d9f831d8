"""Import a captioned-image collection from files of any layout: all of it, or nothing."""

from collections.abc import Collection as Several
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from django.db import IntegrityError, connection, transaction

from core.errors import CounterpartError, some_of
from core.events import record as record_event
from core.files.stored_files import scratch_folder
from core.progress import Progress, silent, tracked
from core.text import check_name, counted
from corpus.batches import begin_batch, refuse_undone, undone_in
from corpus.import_contents import (
    Contents,
    compare,
    conflicts_of,
    images_of,
    splits_of,
    take_splits_of_folders,
    unwanted_rows,
)
from corpus.models import Batch, Caption, Collection, Image, Match
from corpus.pictures.stored_pictures import StoredPicture, find_pictures, pictures_stored
from corpus.readers import READERS
from corpus.readers.layouts import CaptionSearch, Found, unpacked
from corpus.readers.record import Notes
from corpus.splits import SplitRule

BATCH = 5_000


@dataclass(frozen=True)
class ImportSummary:
    """The counts of an import. ``images_without_captions`` counts those of the whole collection, ``language`` is
    noted as that of its captions now, ``skipped`` names bad rows and pictures that were left out. ``undo`` takes
    ``batch`` back; it is empty where nothing changed."""

    collection: str
    captions_added: int
    captions_there: int
    images_added: int
    pictures_added: int
    images_without_captions: int = 0
    language: str = ""
    batch: str = ""
    skipped: tuple[str, ...] = ()

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
            f"{counted(len(self.skipped), 'fault')} left out: {some_of(list(self.skipped))}" if self.skipped else "",
        ]
        text = "; ".join([part for part in parts if part] + ([] if self.changed else ["nothing changed"]))
        return f"{self.collection}: {text}."

    @property
    def changed(self) -> bool:
        return bool(self.captions_added or self.images_added or self.pictures_added or self.language)


@dataclass
class PreparedImport:
    """Captions and pictures that were read and compared with the collection, before anything is written.

    ``files`` maps images to the files of their pictures in ``folder``, ``missing`` names the pictures that were not
    found. ``undecided`` are splits to decide about, ``troubles`` the reasons why the import is refused.
    """

    name: str
    path: Path
    found: Found
    contents: Contents
    notes: Notes
    files: dict[str, Path]
    missing: list[str]
    troubles: list[str]
    skip_broken: bool = False
    folder: Path | None = None
    undecided: Several[str] = ()

    def store(self, *, actor: str = "command", progress: Progress = silent) -> ImportSummary:
        """Write all of it. Raises CounterpartError for its troubles, and for broken pictures."""
        if self.troubles:
            raise CounterpartError(" ".join(self.troubles))
        skipped = [f"{place} ({why})" for place, why in self.notes.faults]
        broken: list[str] | None = [] if self.skip_broken else None
        summary = _store(self.name, self.contents, self.files, self.path, actor, progress, broken)
        missing = [f"{name} (missing)" for name in self.missing] if self.skip_broken else []
        return replace(summary, skipped=(*skipped, *missing, *(broken or [])))


def import_collection(
    name: str, *, actor: str = "command", progress: Progress = silent, **wanted: Any
) -> ImportSummary:
    """Import captions and pictures into the collection ``name``, as ``prepared_import`` reads them with the same
    arguments, with an ``original`` match for every caption and its image.

    Importing the same again changes nothing; a later import of the same captions may add the pictures. Raises
    CounterpartError for malformed files, conflicting ids or languages, undecided splits, and missing or broken
    pictures.
    """
    with prepared_import(name, progress=progress, **wanted) as prepared:
        return prepared.store(actor=actor, progress=progress)


@contextmanager
def prepared_import(
    name: str,
    *,
    path: Path,
    format: str = "",
    images: Path | None = None,
    language: str = "",
    append: bool = False,
    gallery: Several[str] = (),
    skip_missing: bool = False,
    skip_broken: bool = False,
    progress: Progress = silent,
) -> Iterator[PreparedImport]:
    """Read what lies under ``path`` for the collection ``name``, once, and give it until the body ends.

    ``format`` is needed where several layouts fit. ``images`` is a folder or an archive of pictures, where they are not
    with the captions. New captions and images for an existing collection need ``append``. ``gallery`` are splits to
    search, as ``SplitRule`` has it. ``skip_missing`` accepts images without a picture, ``skip_broken`` also leaves out
    bad rows and broken pictures. ``language`` is a BCP 47 tag.

    Raises CounterpartError for files that cannot be read and for conflicting languages.
    """
    check_name(name)
    collection = Collection.objects.filter(name=name).first()
    _check_known(name, collection, language, append)
    with scratch_folder() as room:
        notes = Notes(pictures=room)
        search = CaptionSearch(READERS, notes, format=format)
        found = search.find(path, progress)
        rule = SplitRule(gallery, splits_of(collection))
        contents = compare(tracked(found.records(notes), "checking captions", progress), collection, rule)
        contents.language = "" if collection and collection.language else language
        files, missing = dict[str, Path](), list[str]()
        folder = unpacked(images, notes, progress) if images else found.pictures
        unfound: list[str] = []
        try:
            files, missing = _picture_files(folder, contents, name, room)
        except CounterpartError as error:
            unfound = [str(error)]
        take_splits_of_folders(contents, files, folder, rule)
        faults = [f"{notes.said()}{search.guess(found)}"] if notes.faults and not skip_broken else []
        troubles = [*faults, *conflicts_of(contents), *rule.troubles()]
        if contents.images or not troubles:
            troubles += unwanted_rows(contents, path, found, collection, append)
        troubles += unfound
        if missing and not (skip_missing or skip_broken):
            troubles.append(_missing(missing))
        yield PreparedImport(
            name, path, found, contents, notes, files, missing, troubles, skip_broken, folder, tuple(rule.unknown)
        )


def _check_known(name: str, collection: Collection | None, language: str, append: bool) -> None:
    if append and collection is None:
        raise CounterpartError(f"Unknown collection {name!r}: omit --append to create it.")
    if collection and language and collection.language not in ("", language):
        raise CounterpartError(
            f"The captions of {name} are in {collection.language}, not {language}. Choose another name, or omit the "
            "language."
        )


def import_pictures(
    collection: Collection,
    images: Path,
    *,
    skip_missing: bool = False,
    skip_broken: bool = False,
    actor: str = "command",
    progress: Progress = silent,
) -> ImportSummary:
    """Store the pictures of an existing collection's images from a folder or an archive, found by file name.

    Raises CounterpartError as ``import_collection`` does, and where no file has the name of a picture.
    """
    contents = Contents(images=images_of(collection), undone=undone_in(collection))
    with scratch_folder() as room:
        notes = Notes(pictures=room)
        files, missing = _picture_files(unpacked(images, notes, progress), contents, collection.name, room)
        if not files:
            wanted = some_of([file_name for file_name, _split in contents.images.values()])
            raise CounterpartError(f"No file has the name of a picture of {collection}: {wanted}. Rename the files.")
        if missing and not (skip_missing or skip_broken):
            raise CounterpartError(_missing(missing))
        found = Found(READERS["folder"], (images,))
        prepared = PreparedImport(collection.name, images, found, contents, notes, files, missing, [], skip_broken)
        return prepared.store(actor=actor, progress=progress)


def _store(
    name: str,
    found: Contents,
    files: Mapping[str, Path],
    path: Path,
    actor: str,
    progress: Progress,
    broken: list[str] | None,
) -> ImportSummary:
    known = _known_pictures(name)
    with pictures_stored(name, files, known=known, broken=broken, progress=progress) as pictures:
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


def _known_pictures(name: str) -> dict[str, tuple[str, str]]:
    """Map the keys of the collection's images that have a picture to (file, sha256)."""
    rows = Image.objects.filter(collection__name=name).exclude(file="").values_list("key", "file", "sha256")
    return {key: (file, sha256) for key, file, sha256 in rows}


def _picture_files(folder: Path | None, found: Contents, name: str, inside: Path) -> tuple[dict[str, Path], list[str]]:
    """Return the file of each image and the names of those that are missing; ``inside`` has pictures of the file's."""
    names = {key: file_name for key, (file_name, _split) in found.images.items()}
    files = {key: inside / name for key, name in names.items()} if any(inside.iterdir()) else {}
    files = {key: file for key, file in files.items() if file.is_file()}
    if folder is None:
        return files, []
    known = _known_pictures(name)
    looked_for = find_pictures(folder, {key: file for key, file in names.items() if key not in files})
    missing = [f"{names[key]} (image {key})" for key, file in looked_for.items() if file is None and key not in known]
    return files | {key: file for key, file in looked_for.items() if file is not None}, missing


def _missing(names: list[str]) -> str:
    return (
        f"{counted(len(names), 'picture is', 'pictures are')} missing: {some_of(names)}. "
        "Add the files, or accept images without a picture (--skip-missing)."
    )


def _check_same_pictures(pictures: Mapping[str, StoredPicture], known: Mapping[str, tuple[str, str]]) -> None:
    other = [key for key, picture in pictures.items() if key in known and known[key][1] != picture.sha256]
    if other:
        raise CounterpartError(
            f"{counted(len(other), 'image already has', 'images already have')} a different picture: {some_of(other)}."
            " Import into a new collection."
        )


def _write(
    summary: ImportSummary,
    found: Contents,
    pictures: Mapping[str, StoredPicture],
    path: Path,
    actor: str,
    progress: Progress,
) -> Batch:
    counts: dict[str, Any] = {
        "captions": summary.captions_added,
        "images": summary.images_added,
        "pictures": summary.pictures_added,
    }
    kind = Batch.Kind.COLLECTION if summary.captions_added or summary.images_added else Batch.Kind.PICTURES
    try:
        with transaction.atomic():
            collection, _made = Collection.objects.get_or_create(name=summary.collection)
            refuse_undone(collection, found.undone)
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


def _add_images(batch: Batch, found: Contents) -> None:
    owner = {"collection_id": batch.collection_id, "batch_id": batch.pk}
    rows = (
        Image(key=key, file_name=found.images[key][0], split=found.images[key][1], **owner) for key in found.new_images
    )
    Image.objects.bulk_create(rows, batch_size=BATCH)


def _add_captions(batch: Batch, found: Contents, progress: Progress) -> None:
    """Write the captions that ``compare`` found new."""
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
