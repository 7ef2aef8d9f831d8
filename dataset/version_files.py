"""Files of a version: positives in both directions, all pairs with their verdicts, all judgments, reviews, the gallery.

They are written once, at the release. Exports and evaluation read them, and get the same data however rows changed
since.
"""

import csv
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from django.core.files.storage import default_storage

from core.errors import CounterpartError, some_of
from core.files import StoredFile, copy_file, files_in, local_copy, write_file
from core.progress import Progress
from core.text import counted
from counterpart_metrics.arrays import SIDES
from counterpart_metrics.ids import sort_key
from dataset.judgment_rows import NUMBERS, ReleasedJudgment
from dataset.models import Version
from dataset.rejections import AUTOMATIC
from mitl.models import Direction

PAIRS, JUDGMENTS, REVIEWS, REJECTIONS, GALLERY, MANIFEST = (
    *("pairs.csv", "judgments.csv", "reviews.csv", "rejections.csv", "gallery.csv"),
    "manifest.json",
)
UNSEALED = "manifest.json.unsealed"
FORM = 2  # of the files and the manifest; releases before 0.2.0 have none
Positives = dict[Direction, dict[int, set[int]]]


class ReleasedPair(NamedTuple):
    """A row of the pairs file: a positive, judged or automatically rejected pair, by the collection's own ids.

    ``positive`` is 0 or 1. ``level``, ``votes``, the shares of levels 1-4, ``confidence`` (the share of ``level``) and
    ``simulated_votes`` are empty for a pair that nobody judged; a pair that a reviewer gave a level without votes has
    no shares. ``review`` is a reviewer's level, if there is one; ``sources`` are separated by semicolons, and are
    ``automatic`` for a pair that was rejected by its probability alone. ``probability``: that the side of the votes'
    verdict, match or no match, is right; empty for a pair that nobody judged or a reviewer gave a level, and in a
    release without rounds or of an earlier program.
    """

    image: str
    caption: str
    positive: int
    level: str = ""
    votes: str = ""
    share_1: str = ""
    share_2: str = ""
    share_3: str = ""
    share_4: str = ""
    confidence: str = ""
    simulated_votes: str = ""
    review: str = ""
    sources: str = ""
    probability: str = ""

    @property
    def said(self) -> str:
        """What it says of the pair, in words."""
        said = "match" if self.positive else "no match"
        if self.sources == AUTOMATIC:
            return f"{said}, automatic"
        return f"{said}, level {self.level}" if self.level else f"{said}, unjudged"


class GalleryRow(NamedTuple):
    """An image or a caption (``kind``) by its id. ``image`` is the one that a caption was written for; ``sha256``
    covers the picture's bytes or the caption's text."""

    kind: str
    key: str
    image: str
    sha256: str


def positives_file(version: str, direction: Direction) -> str:
    """Return the name of a direction's file, formed as in the public ECCV Caption dataset."""
    return f"{version}_{SIDES[direction.value]}.json"


def pair_order(pair: tuple[str, str]) -> tuple[tuple[bool, int, str], tuple[bool, int, str]]:
    """Sort pairs by image, then by caption."""
    return sort_key(pair[0]), sort_key(pair[1])


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
        with default_storage.open(path, "rb") as stored:
            if stored.read() != manifest:
                raise CounterpartError(
                    f"The storage holds another release in {version.folder}, which this database does not know. "
                    "Choose another name."
                )
        _refuse_damaged(version)
    if not released:
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
        if not released:
            _clear(version.folder)
        raise


def _refuse_without_manifest(folder: str) -> None:
    whole = [file for file in files_in(folder) if not Path(file).name.startswith(".")]  # hidden: of a killed write
    if whole and not default_storage.exists(f"{folder}/{UNSEALED}"):
        raise CounterpartError(
            f"The storage holds files of a release in {folder}, and its {MANIFEST} is lost. Restore it from a backup, "
            "or choose another name."
        )


def _refuse_damaged(version: Version) -> None:
    damaged = []
    for name, described in version.manifest["files"].items():
        path = f"{version.folder}/{name}"
        if not default_storage.exists(path) or stored_sha256(path) != described["sha256"]:
            damaged.append(name)
    if damaged:
        raise CounterpartError(
            f"The storage holds this release in {version.folder}, with {counted(len(damaged), 'file')} missing or "
            f"changed: {some_of(damaged)}. Restore them from a backup, or choose another name."
        )


def seal_folder(version: Version) -> None:
    """Give the manifest its name, once the version is committed: a release that is killed before can be made again."""
    unsealed = f"{version.folder}/{UNSEALED}"
    if default_storage.exists(unsealed):
        with default_storage.open(unsealed, "rb") as stored:
            write_file(f"{version.folder}/{MANIFEST}", stored.read())
        default_storage.delete(unsealed)


def _clear(folder: str) -> None:
    """Delete the files of a release that came to nothing: of this one, or of one that was killed."""
    unsealed = f"{folder}/{UNSEALED}"
    for file in sorted(files_in(folder), key=unsealed.__eq__):  # last: it tells what the others are
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
        with default_storage.open(path, "rb") as file:
            content = file.read()
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
    sample, manifest = version.sample, version.manifest
    images = dict(version.collection.images.values_list("key", "pk"))
    captions = dict(version.collection.captions.values_list("key", "pk"))
    image_queries = sample.images.exclude(key__in=manifest.get("excluded_images", []))
    caption_queries = sample.captions.exclude(key__in=manifest["excluded_captions"])
    i2t = _load_direction(version, Direction.IMAGE_TO_CAPTION, images, captions)
    t2i = _load_direction(version, Direction.CAPTION_TO_IMAGE, captions, images)
    return {
        direction: {query: found.get(query, set()) for query in queries.order_by("pk").values_list("pk", flat=True)}
        for direction, found, queries in (
            (Direction.IMAGE_TO_CAPTION, i2t, image_queries),
            (Direction.CAPTION_TO_IMAGE, t2i, caption_queries),
        )
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


def _csv_rows(version: Version, name: str, columns: Sequence[str], *, optional: int = 0) -> Iterator[list[Any]]:
    """Yield the rows of a checked file, which may lack the last ``optional`` columns. Raises CounterpartError if it has
    other columns."""
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
