"""The lists of a search as rows with the collection's own ids."""

from collections.abc import Iterator
from typing import Any
from zipfile import ZipFile

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from console.annotators.search_examples import SIDES
from core.files.stored_files import local_copy, row_blocks
from corpus.models import Caption, Image
from mitl.models import Direction, Retrieval

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
    for direction in _searched(retrieval):
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


def _searched(retrieval: Retrieval) -> list[Direction]:
    """Return the directions that have lists."""
    with ZipFile(local_copy(retrieval.stored)) as archive:
        stored = archive.namelist()
    return [direction for direction in Direction if f"{direction.value}_queries.npy" in stored]


def _keys(side: type[Image] | type[Caption], ids: NDArray[np.int64]) -> dict[int, str]:
    wanted = np.unique(ids).tolist()
    parts = (wanted[first : first + IDS] for first in range(0, len(wanted), IDS))
    return {pk: key for part in parts for pk, key in side.objects.filter(pk__in=part).values_list("pk", "key")}
