"""Search without a first pass, for queries whose best scores differ by less than float32 can tell."""

import numpy as np
from numba import njit, prange

from mitl.topk.products import FLOAT64_UNIT
from mitl.topk.ranking import Ranking, dot, empty_ranking, insert
from mitl.topk.sides import Side
from mitl.topk.slicing import slices

CHUNK = 65_536


def exact_topk(queries: Side, items: Side, k: int, memory: int) -> Ranking:
    """Rank items for queries by float64 products, those that may be among the best scored again in fixed order.

    Any number of equal scores is in order; time and memory beside the budget do not depend on them.
    """
    found = empty_ranking(len(queries), k)
    height = max(1, min(CHUNK, memory // (8 * len(items) + 16 * items.dimensions)))
    for part in slices(len(queries), height):
        vectors = queries.take(part).astype(np.float64)
        products = np.empty((len(vectors), len(items)))
        for columns in slices(len(items), CHUNK):
            np.matmul(vectors, items.take(columns).astype(np.float64).T, out=products[:, columns])
        margins = 4 * (items.dimensions + 2) * FLOAT64_UNIT * queries.lengths[part] * items.lengths.max()
        _rank(products, margins, vectors, items.values, items.index, found.places[part], found.scores[part])
    return found


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
