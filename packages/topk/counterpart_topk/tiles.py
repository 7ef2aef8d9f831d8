"""The scores that a sweep runs over, tile by tile: approximate products of two sides."""

from typing import Any

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray

from counterpart_topk.candidates import Buffers, scan_tile
from counterpart_topk.products import FLOAT32_UNIT, FLOAT64_UNIT, UNDERFLOW, Products
from counterpart_topk.sides import CHUNK, Side, slices

Margins = NDArray[np.float64]


class ProductTiles:
    """Approximate inner products of two sides, in one precision.

    ``key_type``: that of the scores' bits. ``relative``: the error of rounding a score. ``unit``: the score that keys
    count in; 0 where they are the bits of scores. ``shift``: what to add to all scores for the final ones. ``largest``:
    rows and columns of a tile that is computed fast. ``bytes_a_vector``: working memory of a row or a column.
    """

    shift = 0.0
    unit = 0.0
    largest = 8_192, 1_024  # the last cache holds it, columns soon know their thresholds, and few are packed a product

    def __init__(self, rows: Side, columns: Side, products: Products) -> None:
        self.rows = rows
        self.columns = columns
        self._products = products
        self.precision = products.precision
        self.key_type = products.key_type
        self.relative = products.relative
        self.bytes_a_vector = 12 * rows.dimensions  # a copy, and the operand

    def margins(self) -> tuple[Margins, Margins]:
        """Return the margins of the scores of rows (N,) and of columns (M,)."""
        return self._products.margins(self.rows, self.columns), self._products.margins(self.columns, self.rows)

    def strip(self, rows: slice) -> Any:
        """Prepare rows for ``scan``."""
        return self._products.operand(self.rows.take(rows))

    def panel(self, columns: slice) -> Any:
        """Prepare columns for ``scan``."""
        return self._products.operand(self.columns.take(columns))

    def scan(self, strip: Any, part: slice, panel: Any, rows: Buffers, columns: Buffers) -> None:
        """Compute the scores of a part of the strip's rows with the panel's columns, and collect candidates."""
        scan_tile(self._products.tile(strip[part], panel), rows, columns, 2 * get_num_threads())


class CentredTiles(ProductTiles):
    """Float32 products of two sides, each minus its mean, for vectors that all point nearly the same way.

    With x = a + x' and y = b + y', where a and b are the means of their sides, xy = x'y' + ay' + bx' + ab. The last
    term is the same for all pairs, so x'y' + ay' + bx' ranks as xy does, in both directions, and its rounding errors
    are as small as x' and y' are. ay' and bx' are added as four more dimensions: two float32 parts of each, times one.
    """

    def __init__(self, rows: Side, columns: Side) -> None:
        super().__init__(rows, columns, Products("float32"))
        self.precision = "centred float32"
        self.bytes_a_vector = 32 * rows.dimensions  # with copies in float64
        self._row_mean = _mean(rows)
        self._column_mean = _mean(columns)
        self.shift = float(self._row_mean @ self._column_mean)

    def margins(self) -> tuple[Margins, Margins]:
        rows = _measure(self.rows, self._row_mean, self._column_mean)
        columns = _measure(self.columns, self._column_mean, self._row_mean)
        final = FLOAT64_UNIT * self.rows.dimensions
        return (
            self._margins(*rows, *columns) + 4 * final * self.rows.lengths * self.columns.lengths.max(),
            self._margins(*columns, *rows) + 4 * final * self.columns.lengths * self.rows.lengths.max(),
        )

    def strip(self, rows: slice) -> Any:
        vectors, shares = _centred(self.rows.take(rows), self._row_mean, self._column_mean)
        return self._products.operand(np.hstack([vectors, np.ones((len(shares), 2)), _in_two(shares)]))

    def panel(self, columns: slice) -> Any:
        vectors, shares = _centred(self.columns.take(columns), self._column_mean, self._row_mean)
        return self._products.operand(np.hstack([vectors, _in_two(shares), np.ones((len(shares), 2))]))

    def _margins(self, lengths: NDArray, shares: NDArray, other_lengths: NDArray, other_shares: NDArray) -> Margins:
        """As for plain products; the terms of the sum add up to at most |x'||y'| + |ay'| + |bx'|."""
        products = lengths * other_lengths.max()
        terms = products + np.abs(shares) + np.abs(other_shares).max()
        return 2 * (2.01 * FLOAT32_UNIT * products + (self.rows.dimensions + 8) * FLOAT32_UNIT * terms + UNDERFLOW)


def _mean(side: Side) -> NDArray[np.float64]:
    """Return the mean of some thousand vectors: any vector near all others is good enough."""
    step = int(np.ceil(len(side) / CHUNK))
    return side.take(slice(0, len(side), step)).mean(axis=0, dtype=np.float64)


def _centred(vectors: NDArray, mean: NDArray, other_mean: NDArray) -> tuple[NDArray, NDArray]:
    """Vectors minus their mean, and the products of these with the other side's mean."""
    rest = vectors - mean
    return rest, rest @ other_mean


def _measure(side: Side, mean: NDArray, other_mean: NDArray) -> tuple[NDArray, NDArray]:
    lengths, shares = np.empty((2, len(side)))
    for part in slices(len(side), CHUNK):
        rest, shares[part] = _centred(side.take(part), mean, other_mean)
        lengths[part] = np.linalg.norm(rest, axis=1)
    return lengths, shares


def _in_two(numbers: NDArray) -> NDArray:
    """Numbers (n,) rounded to float32, and the rest, (n, 2)."""
    nearest = numbers.astype(np.float32).astype(np.float64)
    return np.stack([nearest, numbers - nearest], axis=1)
