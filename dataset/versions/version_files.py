"""Files of a version: positives in both directions, all pairs with their verdicts, all judgments, reviews, the gallery.

They are written once, at the release. Exports and evaluation read them, and get the same data however rows changed
since. The guards that scoring gives the version later are stored apart.
"""

import csv
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from django.core.files.storage import default_storage
from numpy.typing import NDArray

from core.errors import CounterpartError, some_of
from core.files.stored_files import (
    StoredFile,
    copy_file,
    files_in,
    local_copy,
    read_file,
    read_json,
    write_file,
    write_json,
)
from core.progress import Progress
from core.text import counted
from corpus.models import CaptionQuerySet, ImageQuerySet
from counterpart_metrics.arrays import SIDES
from dataset.models import Version
from dataset.versions.file_rows import NUMBERS, GalleryRow, ReleasedJudgment, ReleasedPair
from mitl.models import Direction

PAIRS = "pairs.csv"
JUDGMENTS = "judgments.csv"
REVIEWS = "reviews.csv"
REJECTIONS = "rejections.csv"
UNCOUNTED = "uncounted.csv"
GALLERY = "gallery.csv"
MANIFEST = "manifest.json"
UNSEALED = "manifest.json.unsealed"
FORM = 2  # of the files and the manifest; releases before 0.2.0 have none
Positives = dict[Direction, dict[int, set[int]]]
Guards = list[dict[str, Any]]
"""The estimates that audits give of a version's scores. Of each such round: its name, ``rows`` with a model's score in
a direction as the pool's verdicts count it, its estimate, the deviation, z in standard errors and whether it is
flagged; or the ``trouble`` that left it without."""


def positives_file(version: str, direction: Direction) -> str:
    """Return the name of a direction's file, formed as in the public ECCV Caption dataset."""
    return f"{version}_{SIDES[direction.value]}.json"


def describe_files(files: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """Return name → SHA-256 and size, for the manifest."""
    return {file.name: {"sha256": sha256_of(file), "bytes": file.stat().st_size} for file in files}


def sha256_of(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def stored_sha256(path: str) -> str:
    with default_storage.open(path, "rb") as file:
        digest = hashlib.sha256()
        while chunk := file.read(1 << 20):
            digest.update(chunk)
        return digest.hexdigest()


@contextmanager
def written_files(version: Version, files: Sequence[Path], *, progress: Progress) -> Iterator[None]:
    """Store the manifest under a name that ``seal_folder`` replaces, then the files; if the body fails, remove them.

    A sealed folder holds a whole release, perhaps of a database that was lost since. It is kept as it is. Raises
    CounterpartError if its manifest is lost or another one, or if a file is missing or was changed. A folder with an
    unsealed manifest was left by a release that never committed.
    """
    path = f"{version.folder}/{MANIFEST}"
    manifest = manifest_bytes(version.manifest)
    if released := default_storage.exists(path):
        if read_file(path) != manifest:
            raise CounterpartError(
                f"The storage holds another release in {version.folder}, which this database does not know. Choose "
                "another name."
            )
        if damaged := damaged_files(version):
            raise CounterpartError(
                f"The storage holds this release in {version.folder}, with {counted(len(damaged), 'file')} missing or "
                f"changed: {some_of(list(damaged))}. Restore them from a backup, or choose another name."
            )
    else:
        _refuse_without_manifest(version.folder)
        _clear(version.folder)
    try:
        if not released:
            write_file(f"{version.folder}/{UNSEALED}", manifest)
            for done, file in enumerate(files, 1):
                copy_file(file, f"{version.folder}/{file.name}")
                progress("files", done, len(files))
        yield
    except BaseException:
        if not released and not Version.objects.filter(folder=version.folder).exists():
            _clear(version.folder)
        raise


def _refuse_without_manifest(folder: str) -> None:
    whole = [file for file in files_in(folder) if not Path(file).name.startswith(".")]  # hidden: of a killed write
    if whole and not default_storage.exists(f"{folder}/{UNSEALED}"):
        raise CounterpartError(
            f"The storage holds files of a release in {folder}, and its {MANIFEST} is lost. Restore it from a backup, "
            "or choose another name."
        )


def damaged_files(version: Version) -> dict[str, str]:
    """Return the files that are missing or were changed, with a sentence that says so."""
    damaged = {}
    for name, described in version.manifest["files"].items():
        path = f"{version.folder}/{name}"
        if not default_storage.exists(path):
            damaged[name] = f"The file {path} is missing."
        elif (digest := stored_sha256(path)) != described["sha256"]:
            damaged[name] = f"The file {path} was changed: its SHA-256 is {digest}, not {described['sha256']}."
    return damaged


def seal_folder(version: Version) -> None:
    """Give the manifest its name, once the version is committed: a release that is killed before can be made again."""
    unsealed = f"{version.folder}/{UNSEALED}"
    if default_storage.exists(unsealed):
        write_file(f"{version.folder}/{MANIFEST}", read_file(unsealed))
        default_storage.delete(unsealed)


def _clear(folder: str) -> None:
    """Delete the files of a release that came to nothing: of this one, or of one that was killed."""
    unsealed = f"{folder}/{UNSEALED}"
    for file in sorted(files_in(folder), key=unsealed.__eq__):  # last: it lists the others
        default_storage.delete(file)
    if default_storage.exists(folder):  # not of a storage without folders
        default_storage.delete(folder)


def manifest_bytes(manifest: Mapping[str, Any]) -> bytes:
    return json.dumps(manifest, indent=2).encode() + b"\n"


def manifest_in_storage(version: Version) -> bytes:
    """Return the manifest's file. Raises CounterpartError if it is missing or was changed."""
    path = f"{version.folder}/{MANIFEST}"
    if not default_storage.exists(path):
        seal_folder(version)  # the release was killed just after it committed
    if default_storage.exists(path):
        content = read_file(path)
        # The row's copy is compared too: PostgreSQL keeps its values, but not the order of its names.
        known = version.manifest_sha256 in (hashlib.sha256(content).hexdigest(), "")  # empty before 0.2.0
        if known and json.loads(content) == version.manifest:
            return content
    raise CounterpartError(f"The file {path} is missing or was changed; restore it from a backup.")


def checked_file(version: Version, name: str) -> Path:
    """Return a local copy of one of the version's files or its manifest, checked against the manifest.

    Raises CounterpartError if the version has no such file, or if the file is missing or was changed.
    """
    return local_copy(StoredFile(f"{version.folder}/{name}", checksum_of(version, name)))


def checksum_of(version: Version, name: str) -> str:
    """Return the SHA-256 of one of the version's files or its manifest. Raises CounterpartError as ``checked_file``."""
    if name == MANIFEST:
        return hashlib.sha256(manifest_in_storage(version)).hexdigest()
    described = version.manifest["files"].get(name)
    if described is None:
        raise CounterpartError(
            f"Version {version} has no {name}; its files are {', '.join(version.manifest['files'])}."
        )
    return str(described["sha256"])


def load_positives(version: Version) -> Positives:
    """Return direction → query → its positives, in database ids, from the version's checked files.

    Queries without positives have an empty set. Raises CounterpartError if a file is missing or was changed, or names
    an image or caption that the collection no longer has.
    """
    images = dict(version.collection.images.values_list("key", "pk"))
    captions = dict(version.collection.captions.values_list("key", "pk"))
    found = {
        Direction.IMAGE_TO_CAPTION: _load_direction(version, Direction.IMAGE_TO_CAPTION, images, captions),
        Direction.CAPTION_TO_IMAGE: _load_direction(version, Direction.CAPTION_TO_IMAGE, captions, images),
    }
    return {
        direction: {query: found[direction].get(query, set()) for query in queries.tolist()}
        for direction, queries in query_ids(version).items()
    }


def released_queries(version: Version) -> dict[Direction, ImageQuerySet | CaptionQuerySet]:
    """Return the version's queries in each direction, without excluded ones."""
    images = version.sample.images.exclude(key__in=version.manifest.get("excluded_images", []))
    captions = version.sample.captions.exclude(key__in=version.manifest["excluded_captions"])
    return {Direction.IMAGE_TO_CAPTION: images, Direction.CAPTION_TO_IMAGE: captions}


def query_ids(version: Version) -> dict[Direction, NDArray[np.int64]]:
    """Return the ids of the version's queries in each direction, ascending."""
    return {
        direction: np.array(sorted(rows.values_list("pk", flat=True)), np.int64)
        for direction, rows in released_queries(version).items()
    }


def load_pairs(version: Version) -> Iterator[ReleasedPair]:
    """Yield every positive or judged pair of the version, in the order of its file."""
    for row in _csv_rows(version, PAIRS, ReleasedPair._fields, optional=1):
        row[2] = int(row[2])
        yield ReleasedPair(*row)


def load_judgments(version: Version) -> Iterator[ReleasedJudgment]:
    """Yield every judgment of the version, in the order of its file."""
    numbers = [ReleasedJudgment._fields.index(name) for name in NUMBERS]
    for row in _csv_rows(version, JUDGMENTS, ReleasedJudgment._fields, optional=1):
        for place in numbers:
            row[place] = int(row[place])
        yield ReleasedJudgment(*row)


def load_gallery(version: Version) -> Iterator[GalleryRow]:
    """Yield the images and captions that the version is about."""
    return map(GalleryRow._make, _csv_rows(version, GALLERY, GalleryRow._fields))


def keep_guards(version: Version, guards: Guards) -> None:
    """Store the guards of a version, once it is scored."""
    write_json(_guards_path(version), guards)


def kept_guards(version: Version) -> Guards | None:
    """Return what is kept; None before anything was estimated."""
    found: Guards | None = read_json(_guards_path(version))
    return found


def _guards_path(version: Version) -> str:
    return f"guards/{version.name}-{version.manifest_sha256}.json"


def _csv_rows(version: Version, name: str, columns: Sequence[str], *, optional: int = 0) -> Iterator[list[Any]]:
    """Yield the rows of a checked file, with or without the last ``optional`` columns. Raises for other columns."""
    with checked_file(version, name).open(newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        if next(rows) not in (list(columns), list(columns[: len(columns) - optional])):
            raise CounterpartError(f"The {name} of version {version} is in the form of an earlier program; use that.")
        yield from rows


def _load_direction(
    version: Version, direction: Direction, queries: Mapping[str, int], items: Mapping[str, int]
) -> dict[int, set[int]]:
    listed = json.loads(checked_file(version, positives_file(version.name, direction)).read_bytes())
    try:
        return {queries[query]: {items[str(item)] for item in positives} for query, positives in listed.items()}
    except KeyError as error:
        raise CounterpartError(
            f"Version {version} names {error.args[0]}, which {version.collection} no longer has. Import it again."
        ) from error
