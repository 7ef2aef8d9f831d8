"""The one loop over rankings: reads each list until all judged items of its query are found.

``compiled_ranks`` does the same several times as fast, where numba is installed.
"""

import numpy as np
from numpy.typing import NDArray

from counterpart_metrics.arrays import Integers

HEAD = 64  # places of a list that are read first
DEEPER = 8  # the factor by which the next look is deeper


def scan(
    items: NDArray[np.integer], row_of: Integers, starts: Integers, judged: Integers, states: NDArray[np.uint8]
) -> tuple[Integers, Integers, int]:
    """Return the ranks (E,) of judged items, the number of items read (Q,), and a query with an item twice or -1.

    Args:
        items: (N, depth), best first, -1 after the end.
        row_of: (Q,) the row of each query; -1 has none.
        starts, judged: (Q + 1,) and (E,), the judged items of each query.
        states: by item, 1 in the gallery, 0 elsewhere.
    """
    ranks = np.zeros(len(judged), np.int64)
    lengths = np.zeros(len(row_of), np.int64)
    counted = states.view(np.bool_)
    whole = bool(counted.all())
    depth = items.shape[1]
    order = np.arange(1, depth + 1, dtype=np.int32)
    rank_of = np.zeros(len(counted), np.int32)  # of each item in the list that is read, 0 elsewhere
    for query in np.flatnonzero(row_of >= 0).tolist():
        span = slice(starts[query], starts[query + 1])
        wanted = judged[span]
        inside = counted[wanted]
        if not inside.any():
            continue
        read = min(HEAD, depth)
        while True:
            head = items[row_of[query], :read]
            head = head[counted[head] & (head >= 0)] if not whole or (head[-1:] < 0).any() else head
            rank_of[head[::-1]] = order[: len(head)][::-1]  # of an item listed twice, the first place is kept
            found = rank_of[wanted]
            complete = found[inside].all()
            last = found.max() if complete else len(head)
            twice = (rank_of[head[:last]] != order[:last]).any()
            rank_of[head] = 0
            if twice:
                return ranks, lengths, query
            if complete or read == depth:
                break
            read = min(read * DEEPER, depth)
        ranks[span] = found
        lengths[query] = last
    return ranks, lengths, -1
