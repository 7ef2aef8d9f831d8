"""Ranked lists, by falling score, then by rising place: filled from candidates, joined, spread over equal vectors."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from counterpart_topk.products import FLOAT64_UNIT
from counterpart_topk.sides import Groups, Side, slices

NOWHERE = -1
CHUNK = 65_536


@dataclass(frozen=True)
class Ranking:
    """The best of n queries: ``places`` (n, k) int64 and ``scores`` (n, k) float64; empty: NOWHERE and -inf."""

    places: NDArray[np.int64]
    scores: NDArray[np.float64]

    def put(self, rows: slice | NDArray[np.int64], other: "Ranking") -> None:
        """Replace the lists of some queries."""
        self.places[rows] = other.places
        self.scores[rows] = other.scores


def empty_ranking(n: int, k: int) -> Ranking:
    return Ranking(np.full((n, k), NOWHERE, np.int64), np.full((n, k), -np.inf))


def join(into: Ranking, other: Ranking) -> None:
    """Keep the best of both rankings in the first. A query's two lists may not share a place."""
    _join(into.places, into.scores, other.places, other.scores)


class Candidates(NamedTuple):
    """Items that may be among the best of n queries: ``counts`` (n,), and the items' places query after query, all of a
    query different, counted from ``first`` on."""

    counts: NDArray[np.integer]
    places: NDArray[np.integer]
    first: int = 0


def rank_candidates(queries: Side, part: slice, items: Side, candidates: Candidates, into: Ranking) -> None:
    """Score the candidates of some queries in float64, and join them to the lists of these queries."""
    sides = queries.values, queries.index, part.start, items.values, items.index
    stops = np.cumsum(candidates.counts)
    lists = into.places[part], into.scores[part]
    _rank_candidates(*sides, stops, candidates.places, candidates.first, *lists)


def float64_topk(queries: Side, items: Side, k: int, memory: int) -> Ranking:
    """Search without a first pass, for queries whose best scores differ by less than float32 can represent.

    Items are ranked by float64 products; those that may be among the best are scored again in fixed order. Any number
    of equal scores is in order, at no cost in time or memory.
    """
    ranking = empty_ranking(len(queries), k)
    height = max(1, min(CHUNK, memory // (8 * len(items) + 16 * items.dimensions)))
    for part in slices(len(queries), height):
        vectors = queries.take(part).astype(np.float64)
        products = np.empty((len(vectors), len(items)))
        for columns in slices(len(items), CHUNK):
            np.matmul(vectors, items.take(columns).astype(np.float64).T, out=products[:, columns])
        margins = 4 * (items.dimensions + 2) * FLOAT64_UNIT * queries.lengths[part] * items.lengths.max()
        _rank(products, margins, vectors, items.values, items.index, ranking.places[part], ranking.scores[part])
    return ranking


def spread(found: Ranking, queries: Groups, items: Groups) -> Ranking:
    """Turn lists of groups for groups into lists of k rows for rows.

    An item that is not in a list of k groups cannot be among the k best rows: each group in the list has at least one
    row of better score, or of equal score and lower place.
    """
    spread_out = empty_ranking(*found.places.shape)
    _spread(found.places, found.scores, items.members, items.starts, spread_out.places, spread_out.scores)
    return Ranking(spread_out.places[queries.group_of], spread_out.scores[queries.group_of])


@njit(parallel=True, cache=True, nogil=True)
def _join(places, scores, other_places, other_scores):
    for query in prange(len(places)):
        for number in range(other_places.shape[1]):
            if other_places[query, number] != NOWHERE:
                insert(other_places[query, number], other_scores[query, number], places[query], scores[query])


@njit(cache=True, nogil=True)
def insert(place, score, places, scores):
    """Insert one item into a sorted list, whose last item is dropped; empty places come after all items."""
    at = len(places)
    while at and (
        places[at - 1] == NOWHERE or score > scores[at - 1] or (score == scores[at - 1] and place < places[at - 1])
    ):
        at -= 1
    if at < len(places):
        for move in range(len(places) - 1, at, -1):
            places[move] = places[move - 1]
            scores[move] = scores[move - 1]
        places[at] = place
        scores[at] = score


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def dot(first, second):
    """Return the inner product in float64. The compiler chooses the order of the sum, but only once: the same two
    vectors give the same bits on every computer with this kind of processor, in any tile and from either side."""
    total = 0.0
    for place in range(len(first)):
        total += np.float64(first[place]) * np.float64(second[place])
    return total


@njit(parallel=True, cache=True, nogil=True)
def _rank(products, margins, vectors, items, item_index, places, scores):
    for query in prange(len(products)):
        _rank_one(products[query], margins[query], vectors[query], items, item_index, places[query], scores[query])


@njit(cache=True, nogil=True)
def _rank_one(products, margin, vector, items, item_index, places, scores):
    below = max(0, len(products) - len(places))
    least = np.partition(products, below)[below] - margin
    for place in range(len(products)):
        if products[place] >= least:
            item = item_index[place] if len(item_index) else place
            insert(place, dot(vector, items[item]), places, scores)


@njit(parallel=True, cache=True, nogil=True)
def _rank_candidates(queries, query_index, at, items, item_index, stops, candidates, first, places, scores):
    for number in prange(len(stops)):
        query = np.int64(number)
        # Once in float64, not once a candidate: a conversion takes as long as a product.
        vector = queries[query_index[at + query] if len(query_index) else at + query].astype(np.float64)
        for candidate in candidates[stops[query - 1] if query else 0 : stops[query]]:
            place = first + np.int64(candidate)
            item = item_index[place] if len(item_index) else place
            insert(place, dot(vector, items[item]), places[query], scores[query])


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
