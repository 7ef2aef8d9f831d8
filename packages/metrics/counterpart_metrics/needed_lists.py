"""Which lists of a file decide what is asked of it: embeddings are ranked for no more."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from counterpart_metrics.arrays import DIRECTIONS, Integers
from counterpart_metrics.targets import Part, Reading

DEEPEST = 1000  # places of a list that is made of embeddings
LAST_RANK = 10  # that a metric looks at in every list; further ones look at as many ranks as the query has matches


class Needed(NamedTuple):
    """The first ``depth`` places of the lists of ``queries``, ids in the order of their numbers; None: of all."""

    queries: Integers | None
    depth: int


Needs = Mapping[str, Needed]  # by direction; no list of another one is needed
EVERY_FIRST = dict.fromkeys(DIRECTIONS, Needed(None, LAST_RANK))
EVERYTHING = dict.fromkeys(DIRECTIONS, Needed(None, DEEPEST))


def needs_of(readings: Iterable[Reading]) -> Needs:
    """Return what decides the figures of some readings, to the last bit."""
    needs: dict[str, Needed] = {}
    for reading in readings:
        for direction, parts in reading.target.parts.items():
            if sum(len(part.queries) for part in parts):
                queries = np.unique(np.concatenate([part.queries for part in parts]))
                depth = max(_depth(part, reading) for part in parts)
                needs = joined(needs, {direction: Needed(queries, depth)})
    return needs


def joined(*some: Needs) -> dict[str, Needed]:
    """Return the needs of all."""
    found: dict[str, Needed] = {}
    for direction in DIRECTIONS:
        if together := [needs[direction] for needs in some if direction in needs]:
            found[direction] = Needed(_union([part.queries for part in together]), max(part.depth for part in together))
    return found


def _union(queries: Sequence[Integers | None]) -> Integers | None:
    some = [one for one in queries if one is not None]
    return np.unique(np.concatenate(some)) if len(some) == len(queries) else None


def _depth(part: Part, reading: Reading) -> int:
    """Return how many places decide: all where a part of the gallery counts, or where equal scores change places."""
    if part.most is None or part.gallery is not None or reading.policies.ties != "file":
        return DEEPEST
    return min(DEEPEST, max(LAST_RANK, part.most))
