"""Rankings in JSON, read as a stream, so that a file is never whole in memory."""

from collections.abc import Iterator
from pathlib import Path

import ijson

from core.errors import CounterpartError
from corpus.input_files import BoundedJson
from counterpart_metrics.arrays import DIRECTIONS
from counterpart_metrics.ids import Ids
from counterpart_metrics.json_lists import Member, blocks_of, no_lists
from counterpart_metrics.ranking_blocks import Block


def read_json_stream(path: Path, name: str, ids: Ids) -> Iterator[Block]:
    try:
        yield from blocks_of(name, ids, _members(path, name))
    except (ijson.JSONError, UnicodeDecodeError) as error:
        reason = str(error).partition("\n")[0][:100]  # the lines below draw an arrow
        raise CounterpartError(f"{name} is not valid JSON ({reason}). Write the rankings again.") from error


def _members(path: Path, name: str) -> Iterator[Member]:
    for direction in DIRECTIONS:
        any_query = False
        with path.open("rb") as file:
            for query, row in ijson.kvitems(BoundedJson(name, file), direction):
                any_query = True
                yield direction, query, row
        if not any_query:
            with path.open("rb") as file:
                if next(ijson.items(BoundedJson(name, file), direction), {}) != {}:
                    raise no_lists(name, direction)
