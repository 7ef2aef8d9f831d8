"""Rankings as tables with an entry of a list a row, read as ``table_rows`` does.

The score orders a list, else the rank, else the order of the rows. The rows of a query follow each other.
"""

from collections.abc import Iterator
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import numpy as np

from counterpart_metrics.arrays import DIRECTIONS
from counterpart_metrics.errors import CounterpartError
from counterpart_metrics.ids import Ids, plain_id
from counterpart_metrics.ranking_blocks import Block
from counterpart_metrics.table_rows import ITEM, QUERY, SCORE, found_columns, table_columns, table_rows
from counterpart_metrics.trec_runs import RunLines, blocks_of_lines

WANTED = {
    "query": QUERY,
    "item": ITEM,
    "score": SCORE,
    "rank": ("rank", "position", "place"),
    "direction": ("direction",),
}
ROWS = 50_000  # that are read at a time


def read_table(path: Path, name: str, ids: Ids) -> Iterator[Block]:
    yield from blocks_of_lines(name, ids, _lines_of(path, name))


def _lines_of(path: Path, name: str) -> Iterator[tuple[str, RunLines]]:
    """Yield parts of the file, each of one direction. Raises CounterpartError naming a bad row."""
    columns = found_columns(name, table_columns(path, name), WANTED)
    rows = table_rows(path, name, WANTED, required=("query", "item"))
    while some := list(islice(rows, ROWS)):
        entries: dict[str, list[tuple[str, str, float, float]]] = {}
        for number, row in some:
            try:
                rank = _number(row, "rank") if columns["rank"] else float(number)
                score = _number(row, "score") if columns["score"] else -rank
                entry = (_id(row, "query"), _id(row, "item"), rank, score)
                entries.setdefault(_direction(row), []).append(entry)
            except ValueError as error:
                raise CounterpartError(f"{name}, line {number}: {error}.") from error
        for direction, listed in entries.items():
            queries, items, ranks, scores = zip(*listed, strict=True)
            lines = RunLines(np.array(queries, object), np.array(items, object), np.array(ranks), np.array(scores))
            yield direction, lines


def _direction(row: dict[str, Any]) -> str:
    direction = str(row["direction"] or "").strip().lower()
    if direction and direction not in DIRECTIONS:
        raise ValueError(f"unknown direction {direction[:40]}, use i2t or t2i")
    return direction


def _id(row: dict[str, Any], side: Literal["query", "item"]) -> str:
    key = plain_id(row[side])
    if not (isinstance(key, str) and key):
        raise ValueError(f"its {side} has no id")
    return key


def _number(row: dict[str, Any], what: Literal["rank", "score"]) -> float:
    try:
        number = float(row[what])
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number):
        raise ValueError(f"its {what} is not a number: {str(row[what])[:40]}")
    return number
