"""The search of one part: the best of a block of items for some queries; and the merge of what several parts gave.

Both are pure: nothing here knows a database, a storage or an engine. Any number of parts, scanned anywhere and merged
in any order, come to the lists of one exact search, bit by bit.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from core.files.stored_files import Part
from core.progress import Progress, silent
from counterpart_topk import topk_of_products
from counterpart_topk.ranking import Ranking, empty_ranking, join

ENTRY = np.dtype([("place", "<i8"), ("score", "<f8")])
"""One entry of a stored ranking."""


Read = Callable[[Part], NDArray]
"""Returns the embeddings of a part, (rows, D) or (rows, K, D)."""


def scan(
    part: Part, queries: NDArray, k: int, read: Read, *, device: str = "cpu", progress: Progress = silent
) -> Ranking:
    """Return each query's ``k`` best items of one part, by their places in the whole side (Q, k).

    ``queries``: (Q, D) or (Q, L, D). Where the part has fewer than ``k`` items, lists end in empty places.

    Raises ValueError as ``topk_of_products`` does.
    """
    items = read(part)
    depth = min(k, len(items))
    places, scores = topk_of_products(queries, items, depth, device=device, progress=progress)
    ranking = empty_ranking(len(queries), k)
    ranking.places[:, :depth] = places + part.first
    ranking.scores[:, :depth] = scores
    return ranking


def merge(one: Ranking, other: Ranking) -> Ranking:
    """Return the best of two rankings of the same queries, by falling score, then by rising place.

    Associative and commutative; ``empty_ranking`` changes nothing. The two may not share a place.
    """
    both = Ranking(one.places.copy(), one.scores.copy())
    join(both, other)
    return both


def packed(ranking: Ranking) -> NDArray:
    """Return a ranking as one array of ENTRY (Q, k), to be stored."""
    entries = np.empty(ranking.places.shape, ENTRY)
    entries["place"] = ranking.places
    entries["score"] = ranking.scores
    return entries


def unpacked(entries: NDArray) -> Ranking:
    """Return the ranking of what ``packed`` returned."""
    return Ranking(np.ascontiguousarray(entries["place"]), np.ascontiguousarray(entries["score"]))
