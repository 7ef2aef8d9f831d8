"""The lists of searches: examples for pages, and all places as rows with the collection's own ids."""

from collections.abc import Iterator
from typing import Any
from zipfile import ZipFile

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from core.files.stored_files import local_copy, row_blocks
from corpus.models import Caption, Collection, Image
from mitl.models import Direction, Retrieval
from mitl.search.gallery import RankedLists, load_lists

PLACES = 5
Example = tuple[Image | Caption, list[tuple[Image | Caption, float, bool]]]
"""A query with the top of its list, best first: items, their scores, and whether each is its original match."""

SIDES: dict[Direction, tuple[type[Image] | type[Caption], type[Image] | type[Caption]]] = {
    Direction.IMAGE_TO_CAPTION: (Image, Caption),
    Direction.CAPTION_TO_IMAGE: (Caption, Image),
}


def compared(collection: Collection, direction: Direction, number: int) -> dict[str, Any] | None:
    """Compare the annotators' newest searches on query ``number``, or on the last query if there are fewer: return the
    ``query``, its ``number`` from 0 among ``n_queries``, and ``rows`` of an annotator with the top of its list, which
    is empty if the query was not part of its search (ECCV Caption, figure A.1).

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
        shown = examples(direction, ranked, np.flatnonzero(ranked.queries == query.pk)[:1])
        rows.append((annotator, shown[0][1] if shown else []))
    return {"query": query, "number": number, "n_queries": len(queries), "rows": rows}


def examples(direction: Direction, lists: RankedLists, chosen: Any) -> list[Example]:
    """Return the ``chosen`` rows of ``lists``, a slice or indices. Items that pad short lists are left out."""
    asks, answers = SIDES[direction]
    item_ids = lists.items[chosen, :PLACES]
    scores = lists.scores[chosen, :PLACES]
    queries: dict[int, Any] = asks.objects.in_bulk(lists.queries[chosen].tolist())
    items: dict[int, Any] = answers.objects.in_bulk(np.unique(item_ids).tolist())
    return [
        (
            queries[query],
            [
                (items[item], score, _are_own(queries[query], items[item]))
                for item, score in zip(row.tolist(), row_scores.tolist(), strict=True)
                if item in items
            ],
        )
        for query, row, row_scores in zip(lists.queries[chosen].tolist(), item_ids, scores, strict=True)
    ]


def _are_own(query: Image | Caption, item: Image | Caption) -> bool:
    image, caption = (query, item) if isinstance(query, Image) else (item, query)
    return isinstance(caption, Caption) and caption.image_id == image.pk


LISTS = 2_000  # in memory at a time
IDS = 5_000  # asked for at a time; SQLite takes 32,766
COLUMNS = pa.schema(
    [
        ("query", pa.string()),
        ("item", pa.string()),
        ("rank", pa.int32()),
        ("score", pa.float64()),
        ("direction", pa.string()),
    ]
)


def ranked_rows(retrieval: Retrieval) -> Iterator[dict[str, Any]]:
    """Yield every place of every list: the keys of query and item, the rank from 1, the annotator's score, and the
    direction. Only some lists are in memory at a time. Raises CounterpartError for a missing or changed file."""
    with ZipFile(local_copy(retrieval.stored)) as archive:
        stored = archive.namelist()
    for direction in Direction:
        if f"{direction.value}_queries.npy" not in stored:
            continue
        query_type, item_type = SIDES[direction]
        parts = (
            row_blocks(retrieval.stored, f"{direction.value}_{part}", each=LISTS)
            for part in ("queries", "items", "scores")
        )
        for queries, items, scores in zip(*parts, strict=True):
            query_keys = _keys(query_type, queries)
            item_keys = _keys(item_type, items)
            for query, places, values in zip(queries.tolist(), items.tolist(), scores.tolist(), strict=True):
                for rank, (item, score) in enumerate(zip(places, values, strict=True), 1):
                    if item:  # 0 fills up shorter lists
                        row = {"query": query_keys[query], "item": item_keys[item], "rank": rank}
                        yield row | {"score": score, "direction": direction.value}


def _keys(side: type[Image] | type[Caption], ids: NDArray[np.int64]) -> dict[int, str]:
    wanted = np.unique(ids).tolist()
    parts = (wanted[first : first + IDS] for first in range(0, len(wanted), IDS))
    return {pk: key for part in parts for pk, key in side.objects.filter(pk__in=part).values_list("pk", "key")}
