"""Rankings: read from a file with the collection's ids, or taken from the lists that annotators retrieved."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import CounterpartError, some_of
from corpus.models import Collection
from dataset.models import Version
from mitl.models import Direction, Retrieval
from mitl.search.gallery import load_lists

Ranked = Mapping[int, Sequence[int]]
"""Query → items, best first, in database ids."""


@dataclass(frozen=True)
class Rankings:
    """One model's rankings by direction. ``sha256`` is the checksum of their file."""

    model: str
    sha256: str
    lists: Mapping[Direction, Ranked]


def read_rankings(path: Path, collection: Collection) -> Rankings:
    """Read ``{"i2t": {image_id: [caption_id, …]}, "t2i": {caption_id: [image_id, …]}}``; one direction is enough.

    Ids are those of the source data, as numbers or strings; the file's name is the model's name. Raises
    CounterpartError for a malformed file and for unknown ids.
    """
    content = _content(path)
    images = dict(collection.images.values_list("key", "pk"))
    captions = dict(collection.captions.values_list("key", "pk"))
    sides = {Direction.IMAGE_TO_CAPTION: (images, captions), Direction.CAPTION_TO_IMAGE: (captions, images)}
    listed = _parse(path, content)
    lists = {
        direction: _translate(path, listed[direction], queries, items)
        for direction, (queries, items) in sides.items()
        if direction in listed
    }
    return Rankings(path.name.removesuffix(".json"), hashlib.sha256(content).hexdigest(), lists)


def annotators_rankings(version: Version) -> Iterator[Rankings]:
    """Yield the retrieved lists of every annotator behind the version's rounds, by name.

    Lists end at the retrieval's depth. Raises CounterpartError for a version without rounds.
    """
    retrievals = Retrieval.objects.filter(pools__rounds__versions=version).select_related("annotator").distinct()
    latest = {retrieval.annotator.name: retrieval for retrieval in retrievals.order_by("annotator__name", "id")}
    if not latest:
        raise CounterpartError(f"Version {version} has no rounds and therefore no annotators. Pass --rankings FILE.")
    for name, retrieval in latest.items():
        lists = {
            direction: {
                query: [item for item in row if item]
                for query, row in zip(ranked.queries.tolist(), ranked.items.tolist(), strict=True)
            }
            for direction, ranked in load_lists(retrieval).items()
        }
        yield Rankings(name, retrieval.sha256, lists)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CounterpartError(f"Cannot read the rankings {path}: {error.strerror}.") from error


def _parse(path: Path, content: bytes) -> dict[str, dict[str, list[Any]]]:
    try:
        listed = json.loads(content)
    except ValueError as error:
        raise CounterpartError(f"{path} is not valid JSON ({error}). Write the rankings again.") from error
    if not isinstance(listed, dict) or not set(listed) & set(Direction.values):
        raise CounterpartError(f'{path} has neither "i2t" nor "t2i". Write {{"i2t": {{image: [captions]}}, …}}.')
    for direction in set(listed) & set(Direction.values):
        rankings = listed[direction]
        if not isinstance(rankings, dict) or not all(isinstance(row, list) for row in rankings.values()):
            raise CounterpartError(f'"{direction}" of {path} is not an object of query: [items, best first].')
    return listed


def _translate(
    path: Path, rankings: Mapping[str, Sequence[Any]], queries: Mapping[str, int], items: Mapping[str, int]
) -> dict[int, list[int]]:
    unknown = {query for query in rankings if query not in queries}
    unknown |= {str(item) for row in rankings.values() for item in row if str(item) not in items}
    if unknown:
        raise CounterpartError(
            f"{len(unknown)} ids of {path} are not in the collection: {some_of(sorted(unknown))}. Use its ids."
        )
    return {queries[query]: [items[str(item)] for item in row] for query, row in rankings.items()}
