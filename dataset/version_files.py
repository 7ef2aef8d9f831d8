"""Files of a version: positives in both directions, all pairs with their verdicts, and all judgments.

They are written once, at the release. Exports and evaluation read them, and get the same data however rows changed
since.
"""

import csv
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from django.core.files.storage import default_storage

from annotation.models import Assignment, Judgment
from core.errors import CounterpartError
from core.files import StoredFile, local_copy, write_file
from core.progress import Progress
from corpus.models import Collection
from dataset.contents import Contents
from dataset.models import Version
from mitl.models import Direction

PAIRS, JUDGMENTS, MANIFEST = "pairs.csv", "judgments.csv", "manifest.json"
PAIR_COLUMNS = (
    *("image", "caption", "positive", "level", "votes"),
    *("share_1", "share_2", "share_3", "share_4", "confidence", "sources"),
)
Key = int | str
Positives = dict[Direction, dict[int, set[int]]]


class ReleasedJudgment(NamedTuple):
    """A row of the judgments file. ``image`` and ``caption`` are the collection's own ids; ``control`` is empty for
    a candidate; ``worker`` is a pseudonym of this release; ``counted`` is 1 if the judgment entered a verdict."""

    round: str
    hit: int
    place: int
    control: str
    worker: str
    image: str
    caption: str
    level: int
    shortcoming: str
    wrong_way: str
    counted: int


def positives_file(version: Version, direction: Direction) -> str:
    """Return the name of a direction's file, formed as in the public ECCV Caption dataset."""
    sides = {Direction.IMAGE_TO_CAPTION: "image_to_caption", Direction.CAPTION_TO_IMAGE: "caption_to_image"}
    return f"{version.name}_{sides[direction]}.json"


def render_files(version: Version, contents: Contents) -> dict[str, bytes]:
    """Return the content of every file but the manifest, by name. Equal contents give equal bytes."""
    keys = _Keys(version.collection)
    files = {positives_file(version, direction): _positives_json(contents, keys, direction) for direction in Direction}
    files[PAIRS] = _csv(PAIR_COLUMNS, _pair_rows(contents, keys))
    if version.rounds.exists():
        files[JUDGMENTS] = _csv(ReleasedJudgment._fields, _judgment_rows(version))
    return files


def describe_files(files: Mapping[str, bytes]) -> dict[str, dict[str, Any]]:
    """Return name → SHA-256 and size, for the manifest."""
    return {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)} for name, content in files.items()
    }


@contextmanager
def written_files(version: Version, files: Mapping[str, bytes], *, progress: Progress) -> Iterator[None]:
    """Write the files, then the manifest; if the body fails, remove them.

    A folder with a manifest holds a whole release, perhaps of a database that was lost since. It is kept as it is.
    Raises CounterpartError if its manifest is another one.
    """
    path = f"{version.folder}/{MANIFEST}"
    manifest = json.dumps(version.manifest, indent=2).encode() + b"\n"
    if released := default_storage.exists(path):
        with default_storage.open(path, "rb") as file:
            if file.read() != manifest:
                raise CounterpartError(
                    f"The storage holds another release in {version.folder}, which this database does not know. "
                    "Choose another name."
                )
    try:
        for done, (name, content) in enumerate(files.items(), 1):
            write_file(f"{version.folder}/{name}", content)
            progress("files", done, len(files))
        write_file(path, manifest)
        yield
    except BaseException:
        for name in () if released else (*files, MANIFEST):
            default_storage.delete(f"{version.folder}/{name}")
        raise


def manifest_in_storage(version: Version) -> bytes:
    """Return the manifest's file. Raises CounterpartError if it is missing or was changed."""
    path = f"{version.folder}/{MANIFEST}"
    if default_storage.exists(path):
        with default_storage.open(path, "rb") as file:
            content = file.read()
        with suppress(ValueError):
            if json.loads(content) == version.manifest:
                return content
    raise CounterpartError(f"The file {path} is missing or was changed; restore it from a backup.")


def checked_file(version: Version, name: str) -> Path:
    """Return a local copy of one of the version's files, checked against its manifest.

    Raises CounterpartError if the version has no such file, or if the file is missing or was changed.
    """
    described = version.manifest["files"].get(name)
    if described is None:
        raise CounterpartError(
            f"Version {version} has no {name}; its files are {', '.join(version.manifest['files'])}."
        )
    return local_copy(StoredFile(f"{version.folder}/{name}", described["sha256"]))


def load_positives(version: Version) -> Positives:
    """Return direction → query → its positives, in database ids, from the version's checked files.

    Queries without positives have an empty set. Raises CounterpartError if a file is missing or was changed, or names
    an image or caption that the collection no longer has.
    """
    sample, excluded = version.sample, version.manifest["excluded_captions"]
    images = dict(version.collection.images.values_list("key", "pk"))
    captions = dict(version.collection.captions.values_list("key", "pk"))
    image_queries = sample.images.order_by("pk").values_list("pk", flat=True)
    caption_queries = sample.captions.exclude(key__in=excluded).order_by("pk").values_list("pk", flat=True)
    i2t = _load_direction(version, Direction.IMAGE_TO_CAPTION, images, captions)
    t2i = _load_direction(version, Direction.CAPTION_TO_IMAGE, captions, images)
    return {
        Direction.IMAGE_TO_CAPTION: {query: i2t.get(query, set()) for query in image_queries},
        Direction.CAPTION_TO_IMAGE: {query: t2i.get(query, set()) for query in caption_queries},
    }


def load_judgments(version: Version) -> Iterator[ReleasedJudgment]:
    """Yield every judgment of the version, in the order of its file."""
    with checked_file(version, JUDGMENTS).open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            fields: Any = row | {name: int(row[name]) for name in ("hit", "place", "level", "counted")}
            yield ReleasedJudgment(**fields)


def _load_direction(
    version: Version, direction: Direction, queries: Mapping[str, int], items: Mapping[str, int]
) -> dict[int, set[int]]:
    listed = json.loads(checked_file(version, positives_file(version, direction)).read_bytes())
    try:
        return {queries[query]: {items[str(item)] for item in positives} for query, positives in listed.items()}
    except KeyError as error:
        raise CounterpartError(
            f"Version {version} names {error.args[0]}, which {version.collection} no longer has. Import it again."
        ) from error


class _Keys:
    """Database id → the collection's own id: a number if it is written like one, as COCO's are."""

    def __init__(self, collection: Collection) -> None:
        self.images = {pk: _number_or_text(key) for pk, key in collection.images.values_list("pk", "key")}
        self.captions = {pk: _number_or_text(key) for pk, key in collection.captions.values_list("pk", "key")}


def _number_or_text(key: str) -> Key:
    return int(key) if key.isascii() and key.isdigit() and str(int(key)) == key else key


def _sort_key(key: Key) -> tuple[bool, int, str]:
    """Sort numbers by size and before texts."""
    return (isinstance(key, str), key if isinstance(key, int) else 0, str(key))


def _positives_json(contents: Contents, keys: _Keys, direction: Direction) -> bytes:
    """{query: [items]} of the queries with positives; queries are texts, as JSON requires, items numbers."""
    found: dict[Key, list[Key]] = defaultdict(list)
    for image, caption in contents.positives:
        if direction == Direction.IMAGE_TO_CAPTION and image in contents.queries.images:
            found[keys.images[image]].append(keys.captions[caption])
        elif direction == Direction.CAPTION_TO_IMAGE and caption in contents.queries.captions:
            found[keys.captions[caption]].append(keys.images[image])
    ordered = {str(query): sorted(found[query], key=_sort_key) for query in sorted(found, key=_sort_key)}
    return json.dumps(ordered).encode()


def _csv(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> bytes:
    text = StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()


def _pair_rows(contents: Contents, keys: _Keys) -> Iterator[tuple[Any, ...]]:
    """Every positive or judged pair, by image and caption; unjudged pairs have empty level, votes and shares."""
    pairs = {(keys.images[image], keys.captions[caption]): (image, caption) for image, caption in contents.pairs}
    for image, caption in sorted(pairs, key=lambda pair: (_sort_key(pair[0]), _sort_key(pair[1]))):
        pair = pairs[image, caption]
        verdict = contents.verdicts.get(pair)
        shares = [f"{share:.6g}" for share in verdict.shares] if verdict else []
        judged = (verdict.level, verdict.votes, *shares, shares[verdict.level - 1]) if verdict else [""] * 7
        yield (image, caption, int(pair in contents.positives), *judged, ";".join(contents.sources_of(pair)))


def _judgment_rows(version: Version) -> Iterator[ReleasedJudgment]:
    """Every judgment of the version's rounds, including uncounted ones and controls, by round, HIT and seat."""
    workers: Mapping[int, str] = _Pseudonyms(version.name)
    judgments = Judgment.objects.filter(assignment__hit__round__in=version.rounds.all())
    ordered = judgments.order_by(
        "assignment__hit__round__name",
        "assignment__hit__number",
        "assignment__seat__number",
        "assignment",
        "item__place",
    )
    position = ("assignment__hit__round__name", "assignment__hit__number", "item__place", "item__control__polarity")
    answer = ("image__key", "caption__key", "level", "shortcoming", "wrong_way", "assignment__state")
    rows: Any = ordered.values_list(*position, "worker_id", *answer).iterator(chunk_size=10_000)
    for *start, worker, image, caption, level, shortcoming, wrong_way, state in rows:
        round, hit, place, polarity = start
        counted = int(state == Assignment.State.ACCEPTED)
        yield ReleasedJudgment(
            round, hit, place, polarity or "", workers[worker], image, caption, level, shortcoming, wrong_way, counted
        )


class _Pseudonyms(dict[int, str]):
    """A worker's name in one release: a keyed digest of the order in which workers first appear in its file.

    The file shows that order anyway and nothing else about a worker enters the digest: names of two releases cannot
    be linked, and the same release made again has the same names.
    """

    def __init__(self, version_name: str) -> None:
        super().__init__()
        self._key = hashlib.sha256(version_name.encode()).digest()

    def __missing__(self, worker_id: int) -> str:
        digest = hashlib.blake2b(str(len(self)).encode(), key=self._key, digest_size=6)
        return self.setdefault(worker_id, digest.hexdigest())
