"""Examples of search results: one annotator's lists for a few queries, or all annotators' lists for one query."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corpus.models import Caption, Collection, Image
from mitl.models import Annotator, Direction, Retrieval
from mitl.search.gallery import RankedLists, load_lists

PLACES = 5

SIDES: dict[Direction, tuple[type[Image] | type[Caption], type[Image] | type[Caption]]] = {
    Direction.IMAGE_TO_CAPTION: (Image, Caption),
    Direction.CAPTION_TO_IMAGE: (Caption, Image),
}


@dataclass(frozen=True)
class ListPlace:
    """One item of a ranked list; ``own`` if it forms an original pair with the query."""

    item: Image | Caption
    score: float
    own: bool


@dataclass(frozen=True)
class SearchExample:
    """One query with the top of its list, best first."""

    query: Image | Caption
    places: list[ListPlace]


@dataclass(frozen=True)
class AnnotatorRow:
    """The top of one annotator's list for a query; empty if the query was not part of its search."""

    annotator: Annotator
    places: list[ListPlace]


@dataclass(frozen=True)
class Comparison:
    """One query, its number from 0 among ``n_queries``, and each annotator's results (ECCV Caption, figure A.1)."""

    query: Image | Caption
    number: int
    n_queries: int
    rows: list[AnnotatorRow]


def examples(retrieval: Retrieval, *, start: int, queries: int) -> dict[str, list[SearchExample]]:
    """Return ``queries`` examples for each direction, starting at query ``start``.

    Raises CounterpartError if the lists are missing from storage.
    """
    return {
        direction.value: _examples(direction, ranked, slice(start, start + queries))
        for direction, ranked in load_lists(retrieval).items()
    }


def compared(collection: Collection, direction: Direction, number: int) -> Comparison | None:
    """Compare the annotators' newest searches on query ``number``, or on the last query if there are fewer.

    Returns None if no annotator has searched the collection in this direction. Raises CounterpartError if lists are
    missing from storage.
    """
    newest = {one.annotator_id: one for one in collection.retrievals.select_related("annotator").order_by("id")}
    by_annotator = {
        retrieval.annotator: lists[direction]
        for retrieval in sorted(newest.values(), key=lambda one: one.annotator.name)
        if direction in (lists := load_lists(retrieval))
    }
    if not by_annotator:
        return None
    queries = np.unique(np.concatenate([lists.queries for lists in by_annotator.values()]))
    number = min(number, len(queries) - 1)
    query = SIDES[direction][0].objects.get(pk=queries[number])
    rows = []
    for annotator, ranked in by_annotator.items():
        shown = _examples(direction, ranked, np.flatnonzero(ranked.queries == query.pk)[:1])
        rows.append(AnnotatorRow(annotator, shown[0].places if shown else []))
    return Comparison(query, number, len(queries), rows)


def _examples(direction: Direction, lists: RankedLists, chosen: Any) -> list[SearchExample]:
    """Return the ``chosen`` rows of ``lists``, a slice or indices. Items that pad short lists are left out."""
    asks, answers = SIDES[direction]
    item_ids = lists.items[chosen, :PLACES]
    scores = lists.scores[chosen, :PLACES]
    queries: dict[int, Any] = asks.objects.in_bulk(lists.queries[chosen].tolist())
    items: dict[int, Any] = answers.objects.in_bulk(np.unique(item_ids).tolist())
    return [
        SearchExample(
            queries[query],
            [
                ListPlace(items[item], score, _are_own(queries[query], items[item]))
                for item, score in zip(row.tolist(), row_scores.tolist(), strict=True)
                if item in items
            ],
        )
        for query, row, row_scores in zip(lists.queries[chosen].tolist(), item_ids, scores, strict=True)
    ]


def _are_own(query: Image | Caption, item: Image | Caption) -> bool:
    image, caption = (query, item) if isinstance(query, Image) else (item, query)
    return isinstance(caption, Caption) and caption.image_id == image.pk
