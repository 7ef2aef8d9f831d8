"""Rank candidates by their exact scores, and join ranked lists: by falling score, then by rising place."""

from dataclasses import dataclass

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from mitl.topk.scanning import Buffers, thin
from mitl.topk.sides import Side

NOWHERE = -1


@dataclass(frozen=True)
class Ranking:
    """The best of n queries: ``places`` (n, k) int64 and ``scores`` (n, k) float64; unfilled are NOWHERE and -inf."""

    places: NDArray[np.int64]
    scores: NDArray[np.float64]

    def put(self, rows: slice | NDArray[np.int64], other: "Ranking") -> None:
        """Replace the lists of some queries."""
        self.places[rows], self.scores[rows] = other.places, other.scores


def empty_ranking(n: int, k: int) -> Ranking:
    return Ranking(np.full((n, k), NOWHERE, np.int64), np.full((n, k), -np.inf))


def join(into: Ranking, other: Ranking) -> None:
    """Keep the best of both rankings in the first. No place of one may stand in the other's list of that query."""
    _join(into.places, into.scores, other.places, other.scores)


def settle(buffers: Buffers, queries: Side, part: slice, items: Side, into: Ranking) -> None:
    """Score the candidates of some of the queries in float64, and join them to those queries' lists.

    Queries whose buffers overflowed are left as they are.
    """
    lists = into.places[part], into.scores[part]
    _settle(buffers, queries.values, queries.index, part.start, items.values, items.index, *lists)


def settle_final(buffers: Buffers, part: slice, into: Ranking) -> None:
    """Join the candidates of some queries, whose keys are their final float32 scores, to those queries' lists."""
    _settle_final(buffers, into.places[part], into.scores[part])


@njit(parallel=True, cache=True, nogil=True)
def _settle(buffers, queries, query_index, first, items, item_index, places, scores):
    for query in prange(len(places)):
        if not buffers.overflowed[query]:
            at = query_index[first + query] if len(query_index) else first + query
            _settle_one(query, buffers, queries[at], items, item_index, places[query], scores[query])


@njit(cache=True, nogil=True)
def _settle_one(query, buffers, vector, items, item_index, places, scores):
    count = thin(query, buffers)
    found, exact = np.empty(count, np.int64), np.empty(count, np.float64)
    for number in range(count):
        found[number] = (buffers.entries[query, number] & 0xFFFFFFFF) ^ 0xFFFFFFFF
        item = item_index[found[number]] if len(item_index) else found[number]
        exact[number] = dot(vector, items[item])
    _insert_all(found, exact, places, scores)


@njit(parallel=True, cache=True, nogil=True)
def _settle_final(buffers, places, scores):
    for query in prange(len(places)):
        _settle_final_one(query, buffers, places[query], scores[query])


@njit(cache=True, nogil=True)
def _settle_final_one(query, buffers, places, scores):
    count = thin(query, buffers)
    found, bits = np.empty(count, np.int64), np.empty(count, np.int32)
    for number in range(count):
        key = np.int32(buffers.entries[query, number] >> 32)
        bits[number] = key ^ ((key >> 31) & 0x7FFFFFFF)
        found[number] = (buffers.entries[query, number] & 0xFFFFFFFF) ^ 0xFFFFFFFF
    _insert_all(found, bits.view(np.float32).astype(np.float64), places, scores)


@njit(parallel=True, cache=True, nogil=True)
def _join(places, scores, other_places, other_scores):
    for query in prange(len(places)):
        _insert_all(other_places[query], other_scores[query], places[query], scores[query])


@njit(cache=True, nogil=True)
def _insert_all(found, exact, places, scores):
    for number in range(len(found)):
        if found[number] != NOWHERE:
            insert(found[number], exact[number], places, scores)


@njit(cache=True, nogil=True)
def insert(place, score, places, scores):
    """Insert one item into a sorted list, whose last falls off; an unfilled place yields to anything."""
    at = len(places)
    while at and (
        places[at - 1] == NOWHERE or score > scores[at - 1] or (score == scores[at - 1] and place < places[at - 1])
    ):
        at -= 1
    if at < len(places):
        for move in range(len(places) - 1, at, -1):
            places[move], scores[move] = places[move - 1], scores[move - 1]
        places[at], scores[at] = place, score


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def dot(first, second):
    """The inner product in float64. The compiler may choose the order of the sum, but it chooses once: the same
    two vectors give the same bits on every machine with this kind of processor, whoever asks and in which tile."""
    total = 0.0
    for place in range(len(first)):
        total += np.float64(first[place]) * np.float64(second[place])
    return total
