"""The pairs that may be gold controls, of a pool in the database."""

import numpy as np

from hits.controls import Avoided, unlisted_pairs
from hits.pair_plans import number_collection
from mitl.search.gallery import load_lists

NOTHING = np.empty((0, 2), np.int64)


def ids(sides, pairs):
    return set(zip(sides.images.ids[pairs[:, 0]].tolist(), sides.captions.ids[pairs[:, 1]].tolist(), strict=True))


def negatives(pool, *, known=NOTHING, avoided=None, count=10_000, seed=0):
    sides = number_collection(pool.collection)
    rng = np.random.default_rng(seed)
    drawn = unlisted_pairs(pool, sides, known=known, avoided=Avoided.of(avoided or [], sides)).draw(count, rng)
    return ids(sides, drawn)


def listed(pool):
    """Every pair of the pool's lists, one by one: the slow witness."""
    pairs = set()
    for retrieval in pool.retrievals.all():
        for direction, lists in load_lists(retrieval).items():
            for query, items in zip(lists.queries.tolist(), lists.items.tolist(), strict=True):
                for item in items[: pool.control_depth]:
                    pairs.add((query, item) if direction == "i2t" else (item, query))
    return pairs
