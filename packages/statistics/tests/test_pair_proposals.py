from types import SimpleNamespace

import numpy as np

from counterpart_statistics.pair_proposals import by_pair, flattened

LISTS = SimpleNamespace(
    queries=np.array([5, 3]),
    items=np.array([[8, 9, 7], [9, 0, 0]]),
    scores=np.array([[3.0, 2, 1], [4, -np.inf, -np.inf]]),
)
NOTHING = np.zeros((0, 2), np.int64)


def rows(found):
    return list(zip(*(column.tolist() for column in found), strict=True))


def test_the_first_items_of_each_list_are_proposals_with_their_rank():
    assert rows(flattened(1, "i2t", LISTS, 2, NOTHING)) == [
        (1, "i2t", 5, 8, 1, 3),
        (1, "i2t", 5, 9, 2, 2),
        (1, "i2t", 3, 9, 1, 4),
    ]
    assert rows(flattened(1, "t2i", LISTS, 1, NOTHING)) == [(1, "t2i", 8, 5, 1, 3), (1, "t2i", 9, 3, 1, 4)]


def test_known_pairs_are_passed_over_and_keep_the_ranks_of_the_others():
    assert rows(flattened(1, "i2t", LISTS, 1, np.array([[5, 8], [3, 9]]))) == [(1, "i2t", 5, 9, 2, 2)]


def test_proposals_are_sorted_by_pair_and_distinct_pairs_counted():
    one = flattened(1, "i2t", LISTS, 3, NOTHING)
    twice = type(one)._make(np.concatenate([column, column[:1]]) for column in one)
    found, n = by_pair(twice)
    assert [(row[2], row[3]) for row in rows(found)] == [(3, 9), (5, 7), (5, 8), (5, 8), (5, 9)]
    assert n == 4
