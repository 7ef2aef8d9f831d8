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
    for query in range(len(row_of)):
        if row_of[query] < 0:
            continue
        if query % MARKS == 0:
            for item in range(len(states)):  # in place: a copy of the table takes several times as long
                states[item] = min(states[item], COUNTED)
        wanted = judged[starts[query] : starts[query + 1]]
        ranks_of = ranks[starts[query] : starts[query + 1]]
        left = _mark(wanted, states)
        lengths[query] = _read(
            items[row_of[query]], np.uint8(FIRST_MARK + query % MARKS), wanted, left, states, ranks_of
        )
        if lengths[query] < 0:
            return ranks, lengths, query
        for item in wanted:
            if states[item] == JUDGED:
                states[item] = COUNTED
    return ranks, lengths, -1


@njit(cache=True, nogil=True)
def _mark(wanted, states):
    """Mark the judged items that are in the gallery; return their number."""
    left = 0
    for item in wanted:
        if states[item] != OUTSIDE:
            states[item] = JUDGED
            left += 1
    return left


@njit(cache=True, nogil=True)
def _read(row, mark, wanted, left, states, ranks):
    """Set the ranks of ``wanted``, ascending, until all are found; return the number of items read, -1 for a repeat."""
    rank = 0
    for item in row:
        if item < 0 or left == 0:
            break
        state = states[item]
        if state == OUTSIDE:
            continue
        if state == mark:
            return -1
        rank += 1
        if state == JUDGED:
            ranks[np.searchsorted(wanted, item)] = rank
            left -= 1
        states[item] = mark
    return rank
