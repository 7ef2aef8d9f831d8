"""The scores that a sweep runs over, tile by tile: products of two sides, or blocks that a function computes."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from counterpart_topk.candidates import Buffers, Keys, scan_columns, scan_rows
from counterpart_topk.products import FLOAT32_UNIT, FLOAT64_UNIT, UNDERFLOW, Float32Products, Products
from counterpart_topk.ranking import Ranking, settle, settle_final
from counterpart_topk.sides import CHUNK, Side, slices

Margins = NDArray[np.float64]
IN_CACHE = 1_024, 4_096  # the largest tile that a processor's last cache holds, in bfloat16
Score = Callable[[slice, slice], NDArray]


class Target(NamedTuple):
    """The buffers for candidates, with the first query of a tile in them, and the place of the tile's first item."""

    buffers: Buffers
    first_query: int
    first_place: int


def scan_tile(bits: Keys, rows: Target, columns: Target | None) -> None:
    """Collect the candidates of the rows and of the columns of a tile of score bits, which is overwritten."""
    scan_rows(bits, rows.first_query, rows.first_place, rows.buffers)
    if columns:
        scan_columns(bits, columns.first_query, columns.first_place, columns.buffers)


class Tiles(Protocol):
    """A matrix (N, M) of scores, tile by tile. Unless they are strict, candidates are scored again."""

    @property
    def shape(self) -> tuple[int, int]:
        """N and M."""

    @property
    def precision(self) -> str:
        """The name of the scores' precision."""

    @property
    def key_type(self) -> type[np.signedinteger]:
        """The type of the scores' bits."""

    @property
    def relative(self) -> float:
        """Relative error of rounding a score."""

    @property
    def unit(self) -> float:
        """The score that keys count in; 0 where they are the bits of scores."""

    @property
    def shift(self) -> float:
        """Constant to add to all scores of tiles for the final ones."""

    @property
    def strict(self) -> bool:
        """Whether scores are final."""

    @property
    def bytes_a_vector(self) -> int:
        """Working memory of a row or a column."""

    def margins(self) -> tuple[Margins, Margins]:
        """Return the margins of the scores of rows (N,) and of columns (M,)."""

    def strip(self, rows: slice) -> Any:
        """Prepare rows for ``scan``."""

    def panel(self, columns: slice) -> Any:
        """Prepare columns for ``scan``."""

    @property
    def largest(self) -> tuple[int, int]:
        """Rows and columns of a tile that is computed fast."""

    def scan(self, strip: Any, part: slice, panel: Any, rows: "Target", columns: "Target | None") -> None:
        """Compute the scores of a part of the strip's rows with the panel's columns, and collect candidates."""

    def settle_rows(self, buffers: Buffers, rows: slice, into: Ranking) -> None:
        """Join the candidates of rows to their lists."""

    def settle_columns(self, buffers: Buffers, columns: slice, into: Ranking) -> None:
        """Join the candidates of columns to their lists."""


class ProductTiles:
    """Approximate inner products, in one precision, of two sides."""

    strict = False
    shift = 0.0
    unit = 0.0
    largest = IN_CACHE

    def __init__(self, rows: Side, columns: Side, products: Products) -> None:
        self._rows = rows
        self._columns = columns
        self._products = products
        self.shape = len(rows), len(columns)
        self.precision = products.name
        self.key_type = products.key_type
        self.relative = products.relative
        self.bytes_a_vector = 12 * rows.dimensions  # a copy, and the operand

    def margins(self) -> tuple[Margins, Margins]:
        return self._products.margins(self._rows, self._columns), self._products.margins(self._columns, self._rows)

    def strip(self, rows: slice) -> Any:
        return self._products.operand(self._rows.take(rows))

    def panel(self, columns: slice) -> Any:
        return self._products.operand(self._columns.take(columns))

    def scan(self, strip: Any, part: slice, panel: Any, rows: Target, columns: Target | None) -> None:
        scan_tile(self._products.tile(strip[part], panel), rows, columns)

    def settle_rows(self, buffers: Buffers, rows: slice, into: Ranking) -> None:
        settle(buffers, self._rows, rows, self._columns, into)

    def settle_columns(self, buffers: Buffers, columns: slice, into: Ranking) -> None:
        settle(buffers, self._columns, columns, self._rows, into)


class ScoreTiles:
    """Scores in float32 as ``score(rows, columns)`` gives them for two slices of a (N, M) matrix."""

    precision = "float32"
    key_type = np.int32
    relative = 0.0
    shift = 0.0
    unit = 0.0
    strict = True
    largest = IN_CACHE
    bytes_a_vector = 0

    def __init__(self, score: Score, shape: tuple[int, int]) -> None:
        self._score = score
        self.shape = shape

    def margins(self) -> tuple[Margins, Margins]:
        return np.zeros(self.shape[0]), np.zeros(self.shape[1])

    def strip(self, rows: slice) -> slice:
        return rows

    def panel(self, columns: slice) -> slice:
        return columns

    def scan(self, strip: slice, part: slice, panel: slice, rows: Target, columns: Target | None) -> None:
        scan_tile(self._block(slice(strip.start + part.start, strip.start + part.stop), panel), rows, columns)

    def _block(self, rows: slice, panel: slice) -> Keys:
        block = np.array(self._score(rows, panel), np.float32, order="C")
        if block.shape != (rows.stop - rows.start, panel.stop - panel.start):
            raise ValueError(f"A block of scores has shape {block.shape}.")
        bad = np.isnan(block).any(1)
        if bad.any():
            raise ValueError(f"{int(bad.sum())} rows of scores hold NaN; the first is row {rows.start + bad.argmax()}.")
        block += 0.0  # a negative zero equals a positive one, but its bits do not
        return block.view(np.int32)

    def settle_rows(self, buffers: Buffers, rows: slice, into: Ranking) -> None:
        settle_final(buffers, rows, into)

    def settle_columns(self, buffers: Buffers, columns: slice, into: Ranking) -> None:
        settle_final(buffers, columns, into)


class CentredTiles(ProductTiles):
    """Float32 products of two sides, each minus its mean, for vectors that all point nearly the same way.

    With x = a + x' and y = b + y', where a and b are the means of their sides, xy = x'y' + ay' + bx' + ab. The last
    term is the same for all pairs, so x'y' + ay' + bx' ranks as xy does, in both directions, and its rounding errors
    are as small as x' and y' are. ay' and bx' are added as four more dimensions: two float32 parts of each, times one.
    """

    def __init__(self, rows: Side, columns: Side) -> None:
        super().__init__(rows, columns, Float32Products())
        self.precision = "centred float32"
        self.bytes_a_vector = 32 * rows.dimensions  # with copies in float64
        self._row_mean = _mean(rows)
        self._column_mean = _mean(columns)
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
        """As for plain products; the terms of the sum add up to at most |x'||y'| + |ay'| + |bx'|."""
        products = lengths * other_lengths.max()
        terms = products + np.abs(shares) + np.abs(other_shares).max()
        return 2 * (2.01 * FLOAT32_UNIT * products + (self._rows.dimensions + 8) * FLOAT32_UNIT * terms + UNDERFLOW)


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
