"""A few of a retrieval's lists as rows that a page can show: the query, and what the machine named for it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from corpus.models import Caption, Image
from mitl.models import Direction, Retrieval
from mitl.search.lists import RankedLists, load_lists


@dataclass(frozen=True)
class Place:
    """One named item: an Image for caption queries, a Caption for image queries."""

    item: Image | Caption
    score: float
    own: bool


@dataclass(frozen=True)
class Example:
    """One query with its first places, best first. ``own`` places are the collection's original pairs."""

    query: Image | Caption
    places: list[Place]


def examples(retrieval: Retrieval, *, start: int = 0, queries: int = 4, places: int = 5) -> dict[str, list[Example]]:
    """Return ``queries`` examples a direction from query ``start`` on.

    Raises CounterpartError if the lists are gone from the storage.
    """
    lists = load_lists(retrieval)
    cut = {direction.value: _cut(ranked, start, queries, places) for direction, ranked in lists.items()}
    image_ids = _ids(cut, Direction.IMAGE_TO_CAPTION, "queries") | _ids(cut, Direction.CAPTION_TO_IMAGE, "items")
    caption_ids = _ids(cut, Direction.CAPTION_TO_IMAGE, "queries") | _ids(cut, Direction.IMAGE_TO_CAPTION, "items")
    rows: dict[type, dict[int, Any]] = {
        Image: Image.objects.in_bulk(image_ids),
        Caption: Caption.objects.in_bulk(caption_ids),
    }
    sides = {Direction.IMAGE_TO_CAPTION.value: (Image, Caption), Direction.CAPTION_TO_IMAGE.value: (Caption, Image)}
    return {
        direction: _examples(ranked, *(rows[side] for side in sides[direction])) for direction, ranked in cut.items()
    }


def places_of(
    query: Image | Caption, named: list[int], scores: list[float], side: type[Image] | type[Caption]
) -> list[Place]:
    """Return what was named for a query, by ids of one side; padding names no item and is left out."""
    return _places(query, zip(named, scores, strict=True), side.objects.in_bulk(named))


def _cut(ranked: RankedLists, start: int, queries: int, places: int) -> RankedLists:
    rows = slice(start, start + queries)
    return RankedLists(ranked.queries[rows], ranked.items[rows, :places], ranked.scores[rows, :places])


def _ids(cut: dict[str, RankedLists], direction: Direction, part: str) -> set[int]:
    return set(getattr(cut[direction], part).ravel().tolist()) if direction in cut else set()


def _examples(ranked: RankedLists, queries: dict[int, Any], items: dict[int, Any]) -> list[Example]:
    return [
        Example(queries[query], _places(queries[query], zip(named, scores, strict=True), items))
        for query, named, scores in zip(
            ranked.queries.tolist(), ranked.items.tolist(), ranked.scores.tolist(), strict=True
        )
    ]


def _places(query: Image | Caption, named: Iterable[tuple[int, float]], items: dict[int, Any]) -> list[Place]:
    """Padding names no item and is left out."""
    return [Place(items[item], score, _are_own(query, items[item])) for item, score in named if item in items]


def _are_own(query: Image | Caption, item: Image | Caption) -> bool:
    image, caption = (query, item) if isinstance(query, Image) else (item, query)
    return isinstance(caption, Caption) and caption.image_id == image.pk
