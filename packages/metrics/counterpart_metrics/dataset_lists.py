"""Lists in tables that Hugging Face's ``datasets`` writes: the Arrow files of ``save_to_disk``, or Parquet.

A row is a query with its list (``query_id``, ``corpus_ids``, perhaps ``scores``), or an entry of one (``query_id``,
``corpus_id``, ``score``); columns may have the other usual names too. One file at a time is in memory.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from counterpart_metrics.errors import CounterpartError, some_of
from counterpart_metrics.listed_queries import ListedQuery

SUFFIXES = (".arrow", ".parquet")
_QUERY = ("query_id", "query-id", "qid", "query")
_ITEMS = ("corpus_ids", "corpus-ids", "corpus_id", "corpus-id", "doc_ids", "doc_id", "docid", "items", "item", "pid")
_SCORES = ("scores", "score", "similarities", "similarity")
_ROWS = 1000  # that become Python values at a time


def dataset_lists(path: Path, name: str) -> Iterator[ListedQuery]:
    """Yield the list of each query of a file. Raises CounterpartError for missing columns, nulls and other types."""
    try:
        if path.suffix == ".parquet":
            table = pq.read_table(path)
        else:
            with pa.memory_map(str(path)) as file:
                table = pa.ipc.open_stream(file).read_all()
        query, items = (_column(name, table, names) for names in (_QUERY, _ITEMS))
        found = [column for column in _SCORES if column in table.column_names]
        columns = {"query": query, "items": items} | ({"scores": found[0]} if found else {})
        table = pa.table({wanted: table.column(column) for wanted, column in columns.items()})
        if nulls := [columns[wanted] for wanted in table.column_names if table.column(wanted).null_count]:
            raise CounterpartError(f"{name} has nulls in its column {some_of(nulls)}. Write it again without them.")
        if hasattr(table.schema.field("items").type, "value_type"):
            yield from _rows(name, table)
        elif found:
            yield from _entries(table)
        else:
            raise CounterpartError(f"{name} has an entry a row but no scores: add a column {some_of(_SCORES)}.")
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, ValueError, TypeError) as error:
        reason = str(error).split("\n")[0][:100]
        raise CounterpartError(f"{name} is not a readable table of rankings ({reason}). Write it again.") from error


def _column(name: str, table: pa.Table, usual: Sequence[str]) -> str:
    found = next((column for column in usual if column in table.column_names), None)
    if found is None:
        raise CounterpartError(
            f"{name} has no column {some_of(usual, at_most=12)} but {some_of(table.column_names)}. Rename one."
        )
    return found


def _rows(name: str, table: pa.Table) -> Iterator[ListedQuery]:
    """Yield the lists of a table with a query a row."""
    for batch in table.to_batches(max_chunksize=_ROWS):
        rows = batch.to_pydict()
        for query, items, scores in zip(rows["query"], rows["items"], rows.get("scores", rows["query"]), strict=True):
            if "scores" in rows and len(scores) != len(items):
                raise CounterpartError(
                    f"{name} has {len(items)} items and {len(scores)} scores of the query {query}. Write one for each."
                )
            yield ListedQuery(str(query), list(map(str, items)), scores if "scores" in rows else None)


def _entries(table: pa.Table) -> Iterator[ListedQuery]:
    """Yield the lists of a table with an entry a row, in the order of their queries' first entries."""
    coded = table.column("query").combine_chunks().dictionary_encode()
    queries = coded.dictionary.to_pylist()
    codes = coded.indices.to_numpy()
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(queries)))
    items = np.array(list(map(str, table.column("items").to_pylist())), object)[order]
    scores = table.column("scores").to_numpy().astype(np.float64)[order]
    for query, start, end in zip(queries, [0, *ends], ends, strict=False):
        yield ListedQuery(str(query), items[start:end].tolist(), scores[start:end].tolist())
