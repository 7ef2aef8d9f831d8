"""Lists as other libraries write them, a query at a time, as blocks: sorted by score, with the gallery's own ids."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterpart_metrics import ranking_blocks
from counterpart_metrics.arrays import DIRECTIONS
from counterpart_metrics.errors import CounterpartError
from counterpart_metrics.ids import Ids, Keys
from counterpart_metrics.ranking_blocks import Block, padded, ranked_block

_PREFIXES = ("image-", "caption-")  # before the ids in our exports for MTEB


class ListedQuery(NamedTuple):
    """The list of a query, its ids as text; without scores it is best first, with them in any order."""

    query: str
    items: Sequence[str]
    scores: Sequence[float] | None


def listed_blocks(name: str, lists: Iterable[ListedQuery], ids: Ids) -> Iterator[Block]:
    """Yield the lists of one file, which are all of one direction: that in its name, or that of their ids.

    Equal scores keep the order of the file. Ids may have the prefix that our exports for MTEB give them. Raises
    CounterpartError for ids that are not in the gallery, NaN, and lists that fit both directions.
    """
    named = [direction for direction in DIRECTIONS if direction in name.lower()]
    direction = named[0] if len(named) == 1 else None
    for some in _parts(lists):
        queries = np.array([one.query for one in some], object)
        flat = np.array([item for one in some for item in one.items], object)
        lengths = np.array([len(one.items) for one in some], np.int64)
        scores = None
        if some[0].scores is not None:
            scores = np.array([score for one in some for score in one.scores or ()], np.float64)
            if np.isnan(scores).any():
                query = queries[np.repeat(np.arange(len(some)), lengths)[np.isnan(scores)][0]]
                raise CounterpartError(f"{name} has scores that are NaN, for example of the query {query}.")
            order = np.lexsort((-scores, np.repeat(np.arange(len(some)), lengths)))
            flat = flat[order]
            scores = scores[order]
        direction = direction or _direction_of(name, ids, queries, flat)
        query_keys, item_keys = ids.of(direction)
        items, ended = padded(_own(item_keys, flat), lengths)
        rows = None if scores is None else padded(scores, lengths)[0]
        yield ranked_block(name, direction, ids, _own(query_keys, queries), items, ended, rows)


def _parts(lists: Iterable[ListedQuery]) -> Iterator[list[ListedQuery]]:
    """Yield some lists at a time, with about as many entries as may be in memory."""
    part: list[ListedQuery] = []
    entries = 0
    for one in lists:
        part.append(one)
        entries += len(one.items)
        if entries >= ranking_blocks.SIZE:
            yield part
            part = []
            entries = 0
    if part:
        yield part


def _own(keys: Keys, ids: NDArray[np.object_]) -> NDArray[np.object_]:
    """Return ids without the prefixes of our exports, where the gallery has them so and not otherwise."""
    places: dict[str, int] = {}
    codes = [places.setdefault(one, len(places)) for one in ids.tolist()]
    different = np.array(list(places), object)
    for place in np.flatnonzero(keys.find(different) < 0):
        for prefix in _PREFIXES:
            different[place] = different[place].removeprefix(prefix)
    return different[codes]


def _direction_of(name: str, ids: Ids, queries: NDArray[np.object_], items: NDArray[np.object_]) -> str:
    """Return the direction whose ids the lists have; where they have those of neither, the nearer one."""
    known = {}
    for direction in DIRECTIONS:
        sides = zip(ids.of(direction), (queries, items), strict=True)
        known[direction] = sum(int((keys.find(_own(keys, given)) >= 0).sum()) for keys, given in sides)
    best, other = sorted(known, key=lambda direction: -known[direction])
    if known[best] == known[other] > 0:
        raise CounterpartError(
            f"{name}: queries could be images or captions, for example {queries[0]}. Write i2t or t2i into its name."
        )
    return best
