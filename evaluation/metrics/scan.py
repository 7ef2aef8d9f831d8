"""The one loop over rankings: reads each list until all judged items of its query are found. Compiled."""

import numpy as np
from numba import njit

COUNTED = np.int32(-1)  # in the gallery, not seen yet
OUTSIDE = np.int32(-2)  # not in the gallery that is ranked


@njit(cache=True, nogil=True)
def scan(items, row_of, starts, judged, table):
    """Return the ranks (E,) of judged items, the number of items read (Q,), and a query with an item twice or -1.

    Args:
        items: (N, depth), best first, -1 after the end.
        row_of: (Q,) the row of each query; -1 has none.
        starts, judged: (Q + 1,) and (E,), the judged items of each query.
        table: by item, ``COUNTED`` or ``OUTSIDE``. It is used to mark items: judged ones with their place in
            ``judged``, seen ones with the query, below ``OUTSIDE``.
    """
    ranks, lengths = np.zeros(len(judged), np.int64), np.zeros(len(row_of), np.int64)
    for query in range(len(row_of)):
        if row_of[query] < 0:
            continue
        wanted = 0
        for place in range(starts[query], starts[query + 1]):
            if table[judged[place]] != OUTSIDE:
                table[judged[place]] = np.int32(place)
                wanted += 1
        lengths[query] = _read(items[row_of[query]], np.int32(-3 - query), wanted, table, ranks)
        if lengths[query] < 0:
            return ranks, lengths, query
        for place in range(starts[query], starts[query + 1]):
            if table[judged[place]] == place:
                table[judged[place]] = COUNTED
    return ranks, lengths, -1


@njit(cache=True, nogil=True)
def _read(row, seen, wanted, table, ranks):
    """Set ranks of marked items until ``wanted`` are found; return the number of items read, -1 for a repeat."""
    rank = 0
    for item in row:
        if item < 0 or wanted == 0:
            break
        mark = table[item]
        if mark == OUTSIDE:
            continue
        if mark == seen:
            return -1
        rank += 1
        if mark >= 0:
            ranks[mark] = rank
            wanted -= 1
        table[item] = seen
    return rank
