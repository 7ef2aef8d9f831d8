"""Rankings in JSON: ``{"i2t": {image: [captions, best first]}, "t2i": {caption: [images, best first]}}``."""

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterpart_metrics import ranking_blocks
from counterpart_metrics.arrays import DIRECTIONS
from counterpart_metrics.errors import CounterpartError
from counterpart_metrics.ids import Ids
from counterpart_metrics.ranking_blocks import Block, padded, ranked_block
from counterpart_metrics.text_files import read_text

Member = tuple[str, str, Any]
"""A direction, a query and its list."""


def read_json(path: Path, name: str, ids: Ids) -> Iterator[Block]:
    yield from blocks_of(name, ids, _members(path, name))


def blocks_of(name: str, ids: Ids, members: Iterable[Member]) -> Iterator[Block]:
    """Yield the lists in blocks; those of one direction follow one another.

    Raises CounterpartError if there are none, and for lists and items that are of another kind.
    """
    found = False
    for direction, part in groupby(members, itemgetter(0)):
        queries: list[str] = []
        rows: list[list[Any]] = []
        entries = 0
        for _, query, row in part:
            if not isinstance(row, list):
                raise no_lists(name, direction)
            found = True
            queries.append(query)
            rows.append(row)
            entries += len(row)
            if entries >= ranking_blocks.SIZE:
                yield _block(name, direction, ids, queries, rows)
                queries = []
                rows = []
                entries = 0
        if queries:
            yield _block(name, direction, ids, queries, rows)
    if not found:
        raise CounterpartError(f'{name} has neither "i2t" nor "t2i". Write {{"i2t": {{image: [captions]}}, …}}.')


def no_lists(name: str, direction: str) -> CounterpartError:
    return CounterpartError(f'"{direction}" of {name} is not an object of query: [items, best first].')


class _Object(list[tuple[str, Any]]):
    """The members of a JSON object; a name may repeat."""


def _members(path: Path, name: str) -> Iterator[Member]:
    try:
        content = json.loads(read_text(path, name), object_pairs_hook=_Object)
    except (ValueError, RecursionError) as error:
        raise CounterpartError(f"{name} is not valid JSON ({error}). Write the rankings again.") from error
    whole = dict(content) if isinstance(content, _Object) else {}
    for direction in DIRECTIONS:
        lists = whole.get(direction, _Object())
        if not isinstance(lists, _Object):
            raise no_lists(name, direction)
        for query, row in lists:
            yield direction, query, row


def _block(name: str, direction: str, ids: Ids, queries: list[str], rows: list[list[Any]]) -> Block:
    """Return a block of lists of Python values."""
    lengths = np.array([len(row) for row in rows])
    flat = _as_ids([item for row in rows for item in row], f'{name}: "{direction}"')
    return ranked_block(name, direction, ids, np.array(queries, object), *padded(flat, lengths))


def _as_ids(values: list[Any], where: str) -> NDArray:
    wrong = next((value for value in values if type(value) not in (int, str) or value == ""), None)
    if wrong is not None:
        raise CounterpartError(f"{where} lists the invalid id {wrong!r}. Ids are whole numbers or texts.")
    if all(type(value) is int for value in values):
        try:
            return np.array(values, np.int64)
        except OverflowError as error:
            raise CounterpartError(f"{where} lists a number beyond 64 bits. Write such ids as texts.") from error
    return np.array([str(value) for value in values], object)
