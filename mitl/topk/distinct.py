"""Search each different vector once: what stands several times in a collection shares its lists."""

from dataclasses import dataclass

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from mitl.topk.ranking import NOWHERE, Ranking, empty_ranking, insert
from mitl.topk.sides import Places, Side

CHUNK = 4_096


@dataclass(frozen=True)
class Groups:
    """Equal vectors of a side: ``firsts`` (g,) the lowest row of each group, ascending; ``group_of`` (n,) each row's
    group; ``members`` (n,) all rows, group by group and ascending in each, ``starts`` (g + 1,) where groups begin."""

    firsts: Places
    group_of: Places
    members: Places
    starts: Places


def group_equals(side: Side) -> Groups | None:
    """Group equal vectors if that at least halves the side; None if it does not."""
    hashes, firsts, group_of = np.unique(side.hashes, return_index=True, return_inverse=True)
    if len(hashes) > len(side) // 2 or not _truly_equal(side, firsts[group_of]):
        return None
    order = np.argsort(firsts)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    group_of = rank[group_of]
    sizes = np.bincount(group_of, minlength=len(firsts))
    return Groups(firsts[order], group_of, np.argsort(group_of, kind="stable"), np.append(0, np.cumsum(sizes)))


def all_different(n: int) -> Groups:
    """Every row a group of its own."""
    rows = np.arange(n)
    return Groups(rows, rows, rows, np.arange(n + 1))


def spread(found: Ranking, queries: Groups, items: Groups) -> Ranking:
    """Turn lists of groups for groups into lists of k rows for rows.

    An item that falls off a list of k groups could not be among the k best rows: the groups before it have rows of
    better score, or of equal score and lower place, one each at least.
    """
    spread_out = empty_ranking(*found.places.shape)
    _spread(found.places, found.scores, items.members, items.starts, spread_out.places, spread_out.scores)
    return Ranking(spread_out.places[queries.group_of], spread_out.scores[queries.group_of])


def _truly_equal(side: Side, first_of: Places) -> bool:
    """Whether every row equals the first with its hash."""
    rows = np.flatnonzero(first_of != np.arange(len(side)))
    parts = (rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK))
    return all(np.array_equal(_vectors(side, part), _vectors(side, first_of[part])) for part in parts)


def _vectors(side: Side, rows: Places) -> NDArray:
    return side.values[side.index[rows] if len(side.index) else rows]


@njit(parallel=True, cache=True, nogil=True)
def _spread(group_places, group_scores, members, starts, places, scores):
    for query in prange(len(places)):
        _spread_one(group_places[query], group_scores[query], members, starts, places[query], scores[query])


@njit(cache=True, nogil=True)
def _spread_one(group_places, group_scores, members, starts, places, scores):
    for number in range(len(group_places)):
        group = group_places[number]
        if group != NOWHERE:
            stop = min(starts[group + 1], starts[group] + len(places))
            for member in members[starts[group] : stop]:
                insert(member, group_scores[number], places, scores)
