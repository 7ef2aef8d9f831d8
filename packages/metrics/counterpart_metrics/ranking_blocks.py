"""Blocks of rankings: lists of ids as rows of numbers."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterpart_metrics.arrays import DIRECTIONS, NO_ITEM, Integers, Mask, Rankings
from counterpart_metrics.errors import CounterpartError, counted, some_of
from counterpart_metrics.ids import Ids

SIZE = 2_000_000  # entries of lists that are in memory at a time


class Block(NamedTuple):
    """The rankings of some queries of one direction, ``i2t`` or ``t2i``."""

    direction: str
    rankings: Rankings


def ranked_block(
    name: str, direction: str, ids: Ids, queries: NDArray, items: NDArray, ended: Mask, scores: NDArray | None = None
) -> Block:
    """Translate ids; ``ended`` (Q, depth) is True after the end of a list. Scores may not rise along a list."""
    if scores is not None:
        scores = np.where(ended, -np.inf, scores)
        wrong = np.isnan(scores).any(1) | (scores[:, 1:] > scores[:, :-1]).any(1)
        if wrong.any():
            raise CounterpartError(
                f"{name}: the scores of {wrong.sum()} lists {DIRECTIONS[direction]} rise or are NaN, for example those "
                f"of {queries[wrong.argmax()]}. List the best item first."
            )
    query_keys, item_keys = ids.of(direction)
    found = query_keys.find(queries)
    known = item_keys.find(items[~ended])
    listed = np.full(items.shape, NO_ITEM, known.dtype)
    listed[~ended] = known
    unknown = [*queries[found < 0].tolist(), *items[(listed < 0) & ~ended].tolist()]
    if unknown:
        named = sorted({str(key) for key in unknown})
        raise CounterpartError(
            f"The gallery does not have {counted(len(named), 'id')} of {name} ({direction}): {some_of(named)}. Use "
            "the ids of the collection, and leave out training images."
        )
    order = np.argsort(found)
    if (again := found[order][1:] == found[order][:-1]).any():
        raise CounterpartError(
            f"{name} ranks query {queries[order][1:][again][0]} {DIRECTIONS[direction]} twice. Keep one list of each, "
            "with its lines together."
        )
    return Block(
        direction, Rankings(found[order].astype(np.int64), listed[order], None if scores is None else scores[order])
    )


def padded(flat: NDArray, lengths: Integers) -> tuple[NDArray, Mask]:
    """Lay lists that follow one another out as rows (Q, depth); also return where they have ended."""
    depth = int(lengths.max(initial=0))
    ended = np.arange(depth) >= lengths[:, None]
    rows = np.full((len(lengths), depth), "" if flat.dtype.kind == "O" else -1, flat.dtype)
    rows[~ended] = flat
    return rows, ended
