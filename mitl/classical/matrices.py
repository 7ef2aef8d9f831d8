"""Kernel matrices brought to a common scale."""

import numpy as np
from numpy.typing import NDArray


def normalised(
    kernel: NDArray[np.float64], left: NDArray[np.float64], right: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Divide a kernel (n, m) by the geometric means of what its items give with themselves, ``left`` (n,) and
    ``right`` (m,) (section 3.4.3). What gives 0 with itself stays at 0."""
    scale = np.sqrt(left)[:, None] * np.sqrt(right)[None, :]
    return np.divide(kernel, scale, out=np.zeros_like(kernel), where=scale > 0)
