"""The files of a version: positives in both directions, every pair with what is known of it, every judgment."""

import csv
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

from django.core.files.storage import default_storage

from annotation.models import Assignment, Judgment
from core.errors import CounterpartError
from core.files import StoredFile, local_copy, write_file
from core.progress import Progress
from corpus.models import Collection
from dataset.harvest import Harvest
from dataset.models import Version
from mitl.models import Direction

PAIRS, JUDGMENTS, MANIFEST = "pairs.csv", "judgments.csv", "manifest.json"
PAIR_COLUMNS = (
    *("image", "caption", "positive", "level", "votes"),
    *("share_1", "share_2", "share_3", "share_4", "confidence", "sources"),
)
JUDGMENT_COLUMNS = (
    *("round", "hit", "place", "control", "worker", "image", "caption"),
    *("level", "shortcoming", "wrong_way", "counted"),
)
Key = int | str


class Keys:
    """A collection's own ids behind database ids: numbers where they are written like numbers, as COCO's are."""

    def __init__(self, collection: Collection) -> None:
        self.images = {pk: number_or_text(key) for pk, key in collection.images.values_list("pk", "key")}
        self.captions = {pk: number_or_text(key) for pk, key in collection.captions.values_list("pk", "key")}


def number_or_text(key: str) -> Key:
    return int(key) if key.isascii() and key.isdigit() and str(int(key)) == key else key


def in_order(key: Key) -> tuple[bool, int, str]:
    """Sort numbers by size and before texts."""
    return (isinstance(key, str), key if isinstance(key, int) else 0, str(key))


def positives_file(version: Version, direction: Direction) -> str:
    """Name the file of one direction as the public dataset names its own."""
    sides = {Direction.IMAGE_TO_CAPTION: "image_to_caption", Direction.CAPTION_TO_IMAGE: "caption_to_image"}
    return f"{version.name}_{sides[direction]}.json"


def write_version_files(version: Version, harvest: Harvest, *, progress: Progress) -> dict[str, dict[str, Any]]:
    """Write every file but the manifest; return name → SHA-256 and size. Same content, same bytes."""
    keys = Keys(version.collection)
    contents = {
        positives_file(version, direction): _positives_json(harvest, keys, direction) for direction in Direction
    }
    contents[PAIRS] = _table(PAIR_COLUMNS, _pair_rows(harvest, keys))
    if version.rounds.exists():
        contents[JUDGMENTS] = _table(JUDGMENT_COLUMNS, _judgment_rows(version))
    described = {}
    for done, (name, content) in enumerate(contents.items(), 1):
        stored = write_file(f"{version.folder}/{name}", content)
        described[name] = {"sha256": stored.sha256, "bytes": len(content)}
        progress("files", done, len(contents))
    return described


def write_manifest(version: Version) -> None:
    write_file(f"{version.folder}/{MANIFEST}", json.dumps(version.manifest, indent=2).encode() + b"\n")


def checked_file(version: Version, name: str) -> Path:
    """Return a local copy of one of the version's files, checked against its manifest.

    Raises CounterpartError if the version has no such file, or it is gone or was changed.
    """
    described = version.manifest["files"].get(name)
    if described is None:
        raise CounterpartError(
            f"Version {version} has no {name}; its files are {', '.join(version.manifest['files'])}."
        )
    return local_copy(StoredFile(f"{version.folder}/{name}", described["sha256"]))


@contextmanager
def removed_on_error(version: Version) -> Iterator[None]:
    """Take the version's files out of the storage again if the release fails after writing some."""
    try:
        yield
    except BaseException:
        names = (*(positives_file(version, direction) for direction in Direction), PAIRS, JUDGMENTS, MANIFEST)
        for name in names:
            default_storage.delete(f"{version.folder}/{name}")
        raise


def _positives_json(harvest: Harvest, keys: Keys, direction: Direction) -> bytes:
    """{query: [items]} of the queries that have positives; queries are texts, as JSON wants, items numbers."""
    found: dict[Key, list[Key]] = defaultdict(list)
    for image, caption in harvest.positives:
        if direction == Direction.IMAGE_TO_CAPTION and image in harvest.queries.images:
            found[keys.images[image]].append(keys.captions[caption])
        elif direction == Direction.CAPTION_TO_IMAGE and caption in harvest.queries.captions:
            found[keys.captions[caption]].append(keys.images[image])
    ordered = {str(query): sorted(found[query], key=in_order) for query in sorted(found, key=in_order)}
    return json.dumps(ordered).encode()


def _table(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> bytes:
    text = StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()


def _pair_rows(harvest: Harvest, keys: Keys) -> Iterator[tuple[Any, ...]]:
    """Every positive or judged pair, by image and caption; unjudged pairs have empty level, votes and shares."""
    pairs = {(keys.images[image], keys.captions[caption]): (image, caption) for image, caption in harvest.pairs}
    for image, caption in sorted(pairs, key=lambda pair: (in_order(pair[0]), in_order(pair[1]))):
        pair = pairs[image, caption]
        said = harvest.opinions.get(pair)
        shares = [f"{share:.6g}" for share in said.shares] if said else [""] * 4
        judged = (said.level, said.votes, *shares, shares[said.level - 1]) if said else [""] * 7
        yield (image, caption, int(pair in harvest.positives), *judged, ";".join(harvest.sources_of(pair)))


def _judgment_rows(version: Version) -> Iterator[tuple[Any, ...]]:
    """Every judgment of the version's rounds, uncounted ones and controls included, by round, HIT and seat."""
    workers: Mapping[int, str] = _Pseudonyms(version.name)
    judgments = Judgment.objects.filter(assignment__hit__round__in=version.rounds.all())
    ordered = judgments.order_by(
        "assignment__hit__round__name",
        "assignment__hit__number",
        "assignment__seat__number",
        "assignment",
        "item__place",
    )
    before = ("assignment__hit__round__name", "assignment__hit__number", "item__place", "item__control__polarity")
    after = ("image__key", "caption__key", "level", "shortcoming", "wrong_way", "assignment__state")
    for *place, worker, image, caption, level, shortcoming, wrong_way, state in ordered.values_list(
        *before, "worker_id", *after
    ).iterator(chunk_size=10_000):
        counted = int(state == Assignment.State.ACCEPTED)
        yield (*place, workers[worker], image, caption, level, shortcoming, wrong_way, counted)


class _Pseudonyms(dict[int, str]):
    """A worker's name in one release: a keyed digest of when they first appear in its file.

    Nothing about a worker enters it but that order, which the file shows anyway: names of two releases cannot
    be joined, and the same release made again gets the same names.
    """

    def __init__(self, version_name: str) -> None:
        super().__init__()
        self._key = hashlib.sha256(version_name.encode()).digest()

    def __missing__(self, worker_id: int) -> str:
        digest = hashlib.blake2b(str(len(self)).encode(), key=self._key, digest_size=6)
        return self.setdefault(worker_id, digest.hexdigest())
