"""Rankings in JSON, read as a stream."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ijson
import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from corpus.input_files import BoundedJson
from evaluation.ranking_files import ranking_blocks
from evaluation.ranking_files.ranking_blocks import Block, Ids, padded, ranked_block
from mitl.models import Direction


def read_json(path: Path, name: str, ids: Ids) -> Iterator[Block]:
    found = False
    for direction in Direction:
        try:
            for block in _json_blocks(path, name, direction, ids):
                found = True
                yield block
        except (ijson.JSONError, UnicodeDecodeError) as error:
            reason = str(error).partition("\n")[0][:100]  # the lines below draw an arrow
            raise CounterpartError(f"{name} is not valid JSON ({reason}). Write the rankings again.") from error
    if not found:
        raise CounterpartError(f'{name} has neither "i2t" nor "t2i". Write {{"i2t": {{image: [captions]}}, …}}.')


def _json_blocks(path: Path, name: str, direction: Direction, ids: Ids) -> Iterator[Block]:
    queries: list[str] = []
    rows: list[list[Any]] = []
    entries, any_query = 0, False
    with path.open("rb") as file:
        for query, row in ijson.kvitems(BoundedJson(name, file), direction.value):
            if not isinstance(row, list):
                raise CounterpartError(_no_lists(name, direction))
            any_query = True
            queries.append(query)
            rows.append(row)
            entries += len(row)
            if entries >= ranking_blocks.SIZE:
                yield _lists_block(name, direction, ids, queries, rows)
                queries = []
                rows = []
                entries = 0
    if queries:
        yield _lists_block(name, direction, ids, queries, rows)
    if not any_query:
        with path.open("rb") as file:
            if next(ijson.items(BoundedJson(name, file), direction.value), {}) != {}:
                raise CounterpartError(_no_lists(name, direction))


def _no_lists(name: str, direction: Direction) -> str:
    return f'"{direction.value}" of {name} is not an object of query: [items, best first].'


def _lists_block(name: str, direction: Direction, ids: Ids, queries: list[str], rows: list[list[Any]]) -> Block:
    """A block of lists of Python values."""
    lengths = np.array([len(row) for row in rows])
    flat = _as_ids([item for row in rows for item in row], f'{name}: "{direction.value}"')
    return ranked_block(name, direction, ids, np.array(queries, object), *padded(flat, lengths))


def _as_ids(values: list[Any], where: str) -> NDArray:
    wrong = next((value for value in values if type(value) not in (int, str) or value == ""), None)
    if wrong is not None:
        raise CounterpartError(f"{where} lists {wrong!r}, which is no id. Ids are whole numbers or texts.")
    if all(type(value) is int for value in values):
        try:
            return np.array(values, np.int64)
        except OverflowError as error:
            raise CounterpartError(f"{where} lists a number beyond 64 bits, which is no id.") from error
    return np.array([str(value) for value in values], object)
