"""Products of vectors that all point nearly the same way, told apart by what is left without their common direction.

With x = a + x' and y = b + y', where a and b are the means of their sides, xy = x'y' + ay' + bx' + ab. The last term is
the same for all pairs, so x'y' + ay' + bx' ranks as xy does, in both directions, and its rounding errors are as small
as x' and y' are.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mitl.topk.products import FLOAT32_UNIT, FLOAT64_UNIT, UNDERFLOW, Float32Products
from mitl.topk.sides import Side
from mitl.topk.slicing import slices
from mitl.topk.tiles import Margins, ProductTiles

CHUNK = 4_096


class CentredTiles(ProductTiles):
    """Float32 products of two sides, each less its mean.

    ay' and bx' ride along as four more dimensions: two float32 parts of each, times one.
    """

    def __init__(self, rows: Side, columns: Side) -> None:
        super().__init__(rows, columns, Float32Products())
        self.precision = "centred float32"
        self.bytes_a_vector = 32 * rows.dimensions  # copies in float64 too
        self._row_mean, self._column_mean = _mean(rows), _mean(columns)
        self.shift = float(self._row_mean @ self._column_mean)

    def margins(self) -> tuple[Margins, Margins]:
        rows = _measure(self._rows, self._row_mean, self._column_mean)
        columns = _measure(self._columns, self._column_mean, self._row_mean)
        final = FLOAT64_UNIT * self._rows.dimensions
        return (
            self._margins(*rows, *columns) + 4 * final * self._rows.lengths * self._columns.lengths.max(),
            self._margins(*columns, *rows) + 4 * final * self._columns.lengths * self._rows.lengths.max(),
        )

    def strip(self, rows: slice) -> Any:
        vectors, shares = _centred(self._rows.take(rows), self._row_mean, self._column_mean)
        return self._products.operand(np.hstack([vectors, np.ones((len(shares), 2)), _in_two(shares)]))

    def panel(self, columns: slice) -> Any:
        vectors, shares = _centred(self._columns.take(columns), self._column_mean, self._row_mean)
        return self._products.operand(np.hstack([vectors, _in_two(shares), np.ones((len(shares), 2))]))

    def _margins(self, lengths: NDArray, shares: NDArray, other_lengths: NDArray, other_shares: NDArray) -> Margins:
        """As for plain products, where the terms of the sum add up to |x'||y'| + |ay'| + |bx'| at most."""
        products = lengths * other_lengths.max()
        terms = products + np.abs(shares) + np.abs(other_shares).max()
        return 2 * (2.01 * FLOAT32_UNIT * products + (self._rows.dimensions + 8) * FLOAT32_UNIT * terms + UNDERFLOW)


def _mean(side: Side) -> NDArray[np.float64]:
    """The mean of some thousand vectors: any vector near all others would do."""
    step = -(-len(side) // CHUNK)
    return side.take(slice(0, len(side), step)).mean(axis=0, dtype=np.float64)


def _centred(vectors: NDArray, mean: NDArray, other_mean: NDArray) -> tuple[NDArray, NDArray]:
    """Vectors less their mean, and what they share with the other side's mean."""
    rest = vectors - mean
    return rest, rest @ other_mean


def _measure(side: Side, mean: NDArray, other_mean: NDArray) -> tuple[NDArray, NDArray]:
    lengths, shares = np.empty((2, len(side)))
    for part in slices(len(side), CHUNK):
        rest, shares[part] = _centred(side.take(part), mean, other_mean)
        lengths[part] = np.linalg.norm(rest, axis=1)
    return lengths, shares


def _in_two(numbers: NDArray) -> NDArray:
    """Numbers (n,) as float32 and the rest that it leaves, (n, 2)."""
    nearest = numbers.astype(np.float32).astype(np.float64)
    return np.stack([nearest, numbers - nearest], axis=1)
