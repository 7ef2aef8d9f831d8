"""``judged_ranks``, compiled by numba."""

import numpy as np
from numba import njit

# States of an item: a byte each, so that the table of all ids stays in the processor's cache. Larger ones are marks.
OUTSIDE = np.uint8(0)
COUNTED = np.uint8(1)
JUDGED = np.uint8(2)
FIRST_MARK = np.uint8(3)
MARKS = 253


@njit(cache=True, nogil=True)
def scan(items, row_of, starts, judged, states):
    """As ``judged_ranks.scan``. Items that a query has seen get its mark in ``states``."""
    ranks = np.zeros(len(judged), np.int64)
    lengths = np.zeros(len(row_of), np.int64)
    places = np.empty(len(states), np.int32)
    for query in range(len(row_of)):
        if row_of[query] < 0:
            continue
        if query % MARKS == 0:
            for item in range(len(states)):  # in place: a copy of the table takes several times as long
                states[item] = min(states[item], COUNTED)
        wanted = _mark(range(starts[query], starts[query + 1]), judged, states, places)
        mark = np.uint8(FIRST_MARK + query % MARKS)
        lengths[query] = _read(items[row_of[query]], mark, wanted, states, places, ranks)
        if lengths[query] < 0:
            return ranks, lengths, query
        for place in range(starts[query], starts[query + 1]):
            if states[judged[place]] == JUDGED:
                states[judged[place]] = COUNTED
    return ranks, lengths, -1


@njit(cache=True, nogil=True)
def _mark(span, judged, states, places):
    wanted = 0
    for place in span:
        if states[judged[place]] != OUTSIDE:
            states[judged[place]] = JUDGED
            places[judged[place]] = place
            wanted += 1
    return wanted


@njit(cache=True, nogil=True)
def _read(row, mark, wanted, states, places, ranks):
    """Set the ranks of judged items until ``wanted`` are found; return the number of items read, -1 for a repeat."""
    rank = 0
    for item in row:
        if item < 0 or wanted == 0:
            break
        state = states[item]
        if state == OUTSIDE:
            continue
        if state == mark:
            return -1
        rank += 1
        if state == JUDGED:
            ranks[places[item]] = rank
            wanted -= 1
        states[item] = mark
    return rank
