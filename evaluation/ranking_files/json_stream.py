"""Rankings in JSON, read as a stream, so that a file is never whole in memory."""

from collections.abc import Iterator
from pathlib import Path

from core.errors import CounterpartError
from core.untrusted import json_items, json_pairs
from counterpart_metrics.arrays import DIRECTIONS
from counterpart_metrics.ids import Ids
from counterpart_metrics.json_lists import Member, blocks_of, no_lists
from counterpart_metrics.listed_queries import listed_blocks
from counterpart_metrics.ranking_blocks import Block
from evaluation.ranking_files.mteb_predictions import NO_RANKINGS, SUFFIX, is_results, predicted_lists


def read_json(path: Path, name: str, ids: Ids) -> Iterator[Block]:
    """Yield the lists of a file of ours, or of a task's predictions of MTEB."""
    if name.endswith(SUFFIX):
        return listed_blocks(name, predicted_lists(path, name), ids)
    if is_results(path):
        raise CounterpartError(f"{name} has {NO_RANKINGS}")
    return blocks_of(name, ids, _members(path, name))


def _members(path: Path, name: str) -> Iterator[Member]:
    for direction in DIRECTIONS:
        any_query = False
        with path.open("rb") as file:
            for query, row in json_pairs(name, file, direction):
                any_query = True
                yield direction, query, row
        if not any_query:
            with path.open("rb") as file:
                if next(json_items(name, file, direction), {}) != {}:
                    raise no_lists(name, direction)
