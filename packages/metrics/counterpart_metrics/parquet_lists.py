"""Rankings in Parquet: a row a query, read some rows at a time, or a table of ``dataset_lists``."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from counterpart_metrics import ranking_blocks
from counterpart_metrics.arrays import DIRECTIONS
from counterpart_metrics.dataset_lists import dataset_lists
from counterpart_metrics.errors import CounterpartError, some_of
from counterpart_metrics.ids import Ids
from counterpart_metrics.listed_queries import listed_blocks
from counterpart_metrics.ranking_blocks import Block, padded, ranked_block
from counterpart_metrics.ranking_tables import WANTED, read_table
from counterpart_metrics.table_rows import found_columns


def read_parquet(path: Path, name: str, ids: Ids) -> Iterator[Block]:
    try:
        with pq.ParquetFile(path) as file:
            columns = file.schema_arrow.names
            found = found_columns(name, columns, WANTED)
            if found["direction"] is None and (found["rank"] is None or found["score"] is not None):
                yield from listed_blocks(name, dataset_lists(path, name), ids)
                return
            if missing := [column for column in ("direction", "query", "items") if column not in columns]:
                if found["item"]:
                    yield from read_table(path, name, ids)
                    return
                raise CounterpartError(f"{name} has no column {some_of(missing)}. It needs direction, query, items.")
            wanted = ["direction", "query", "items", *(["scores"] if "scores" in columns else [])]
            for batch in file.iter_batches(batch_size=_rows_of(file), columns=wanted):
                batch.validate(full=True)  # texts in UTF-8
                yield from _batch_blocks(name, ids, batch)
    except (ValueError, TypeError, pa.ArrowNotImplementedError) as error:
        reason = str(error).split("\n")[0][:100]
        raise CounterpartError(f"{name} is not readable Parquet of rankings ({reason}). Write it again.") from error


def _rows_of(file: pq.ParquetFile) -> int:
    """Return the number of rows with about SIZE items."""
    groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
    values = sum(
        group.column(column).num_values
        for group in groups
        for column in range(group.num_columns)
        if group.column(column).path_in_schema.startswith("items")
    )
    return max(1, ranking_blocks.SIZE * max(1, file.metadata.num_rows) // max(1, values))


def _batch_blocks(name: str, ids: Ids, batch: pa.RecordBatch) -> Iterator[Block]:
    directions = np.array(batch.column("direction").to_pylist(), object)
    if unknown := sorted({str(one) for one in directions} - set(DIRECTIONS)):
        raise CounterpartError(f"{name}: unknown directions {some_of(unknown)}. Use i2t and t2i.")
    for direction in DIRECTIONS:
        part = batch.filter(pa.array(directions == direction))
        if not part.num_rows:
            continue
        lists = {column: part.column(column) for column in ("items", "scores") if column in part.schema.names}
        if any(one.null_count or not hasattr(one, "flatten") for one in lists.values()):
            raise CounterpartError(f"{name}: the columns items and scores must hold a list in every row.")
        lengths = np.diff(lists["items"].offsets.to_numpy())
        flat = _ids_of_column(lists["items"].flatten(), name)
        items, ended = padded(flat, lengths)
        queries = _ids_of_column(part.column("query"), name)
        scores = None
        if "scores" in lists:
            if not np.array_equal(np.diff(lists["scores"].offsets.to_numpy()), lengths):
                raise CounterpartError(f"{name}: some rows have another number of scores than of items.")
            given = lists["scores"].flatten().to_numpy(zero_copy_only=False).astype(np.float64)
            scores, _ = padded(given, lengths)
        yield ranked_block(name, direction, ids, queries, items, ended, scores)


def _ids_of_column(column: pa.Array, name: str) -> NDArray:
    whole = pa.types.is_integer(column.type)
    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if column.null_count or not (whole or text):
        raise CounterpartError(f"{name}: ids are whole numbers or texts in every row, not {column.type} or null.")
    return np.asarray(column.to_numpy(zero_copy_only=False), np.int64 if whole else object)
