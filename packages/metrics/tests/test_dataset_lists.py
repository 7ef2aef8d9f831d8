"""Tables as Hugging Face's ``datasets`` writes them: on disk or in Parquet, a query or an entry a row."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from counterpart_metrics.dataset_lists import dataset_lists
from counterpart_metrics.errors import CounterpartError
from counterpart_metrics.ids import Ids
from counterpart_metrics.listed_queries import listed_blocks

IDS = Ids.of_numbers(images=range(1, 4), captions=range(10, 16))
LISTS = {"i2t": {"1": [10, 12], "3": [15], "2": [13, 11, 10]}, "t2i": {"14": [3, 1, 2], "10": [1]}}


def saved(folder, columns):
    """A table as ``Dataset.save_to_disk`` writes it."""
    path = folder / "data-00000-of-00001.arrow"
    table = pa.table(columns)
    with pa.ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table, max_chunksize=2)
    return path


def read(path):
    """The lists of a file, and their direction."""
    lists = {}
    for block in listed_blocks(path.name, dataset_lists(path, path.name), IDS):
        for query, row in zip(block.rankings.queries, block.rankings.items, strict=True):
            lists[str(query)] = row[row >= 0].tolist()
    return block.direction, lists


def wide(direction, *, scored=True):
    """A query a row."""
    lists = LISTS[direction]
    columns = {"query_id": [*lists], "corpus_ids": [[str(item) for item in items] for items in lists.values()]}
    if scored:
        columns["scores"] = [[1 / rank for rank, _ in enumerate(items, 1)] for items in lists.values()]
    return columns


def long(direction):
    """An entry a row, those of the queries mixed, the worst first."""
    rows = [(q, item, 1 / rank) for q, items in LISTS[direction].items() for rank, item in enumerate(items, 1)]
    query, item, score = zip(*sorted(rows, key=lambda row: row[2]), strict=True)
    return {"query-id": list(map(int, query)), "corpus-id": item, "score": score}


@pytest.mark.parametrize("columns", [wide, long, lambda side: wide(side, scored=False)])
@pytest.mark.parametrize("direction", LISTS)
def test_a_table_is_the_lists_of_one_direction_which_its_ids_give(tmp_path, columns, direction):
    assert read(saved(tmp_path, columns(direction))) == (direction, LISTS[direction])
    pq.write_table(pa.table(columns(direction)), tmp_path / "test.parquet")
    assert read(tmp_path / "test.parquet") == (direction, LISTS[direction])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": ["1"]}, "data-00000-of-00001.arrow has no column query_id, query-id, qid, query but id. Rename one"),
        ({"query_id": ["1"]}, "has no column corpus_ids, .* but query_id"),
        ({"query_id": ["1"], "corpus_id": ["10"]}, "an entry a row .*scores, score"),
        ({"query_id": ["1", None], "corpus_ids": [["10"], ["11"]]}, "has nulls in its column query_id"),
        (
            {"query_id": ["1"], "corpus_ids": [["10"]], "scores": [[1.0, 2.0]]},
            "has 1 items and 2 scores of the query 1",
        ),
        (
            {"query_id": ["1"], "corpus_id": ["10"], "score": [np.nan]},
            "has scores that are NaN, for example of the query 1",
        ),
        ({"query_id": ["1"], "corpus_id": ["10"], "score": ["high"]}, "is not a readable table of rankings"),
    ],
)
def test_tables_that_cannot_be_used_are_named(tmp_path, columns, message):
    with pytest.raises(CounterpartError, match=message):
        read(saved(tmp_path, columns))


def test_a_damaged_table_is_named(tmp_path):
    path = saved(tmp_path, wide("i2t"))
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(CounterpartError, match="arrow is not a readable table"):
        read(path)
