"""The intersection kernel of histograms."""

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray


@njit(cache=True, parallel=True, fastmath=True)
def _intersections(left, right):
    found = np.empty((len(left), len(right)), dtype=np.float32)
    for i in prange(len(left)):
        for j in range(len(right)):
            total = np.float32(0)
            for v in range(left.shape[1]):
                total += min(left[i, v], right[j, v])
            found[i, j] = total
    return found


def intersections(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the sum over v of min(left[i, v], right[j, v]) of every two rows, (n, m) (section 3.3.1)."""
    found: NDArray[np.float32] = _intersections(np.ascontiguousarray(left), np.ascontiguousarray(right))
    return found
