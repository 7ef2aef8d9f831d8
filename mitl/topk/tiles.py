"""What a sweep runs over: products of two sides, or scores that somebody computes block by block."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mitl.topk.products import Products
from mitl.topk.ranking import Ranking, settle, settle_final
from mitl.topk.scanning import Buffers, Keys, make_keys, scan_columns, scan_rows
from mitl.topk.sides import Side

Margins = NDArray[np.float64]
IN_CACHE = 1_024, 4_096  # the largest tile that a processor's last cache holds, in bfloat16
Score = Callable[[slice, slice], NDArray]


class Target(NamedTuple):
    """Where candidates go: the first query of a tile in its buffers, and the place of the tile's first item."""

    buffers: Buffers
    first_query: int
    first_place: int


def scan_tile(bits: Keys, rows: Target, columns: Target | None) -> None:
    """Take the candidates of its rows and of its columns from a tile of score bits, which are used up."""
    make_keys(bits)
    scan_rows(bits, rows.first_query, rows.first_place, rows.buffers)
    if columns:
        scan_columns(bits, columns.first_query, columns.first_place, columns.buffers)


class Tiles(Protocol):
    """A matrix (N, M) of scores as keys, tile by tile. Unless they are strict, candidates are scored again."""

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
        """By which share of itself a score may be rounded."""

    @property
    def shift(self) -> float:
        """What all scores in tiles lack of the final ones."""

    @property
    def strict(self) -> bool:
        """Whether scores are final."""

    @property
    def bytes_a_vector(self) -> int:
        """What a row or a column takes while it is worked on."""

    def margins(self) -> tuple[Margins, Margins]:
        """Return by how much scores of rows (N,) and of columns (M,) may mislead."""

    def strip(self, rows: slice) -> Any:
        """Make rows ready for ``tile``."""

    def panel(self, columns: slice) -> Any:
        """Make columns ready for ``tile``."""

    @property
    def largest(self) -> tuple[int, int]:
        """Rows and columns of a tile that is computed fast."""

    def scan(self, strip: Any, part: slice, panel: Any, rows: "Target", columns: "Target | None") -> None:
        """Compute a part of the strip's rows with the panel's columns, and hand on what may be among their best."""

    def settle_rows(self, buffers: Buffers, rows: slice, into: Ranking) -> None:
        """Join the candidates of rows to their lists."""

    def settle_columns(self, buffers: Buffers, columns: slice, into: Ranking) -> None:
        """Join the candidates of columns to their lists."""


class ProductTiles:
    """Approximate inner products, in one precision, of two sides."""

    strict = False
    shift = 0.0
    largest = IN_CACHE

    def __init__(self, rows: Side, columns: Side, products: Products) -> None:
        self._rows, self._columns, self._products = rows, columns, products
        self.shape = len(rows), len(columns)
        self.precision, self.key_type, self.relative = products.name, products.key_type, products.relative
        self.bytes_a_vector = 12 * rows.dimensions  # a copy and what it is multiplied as

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
    strict = True
    largest = IN_CACHE
    bytes_a_vector = 0

    def __init__(self, score: Score, shape: tuple[int, int]) -> None:
        self._score, self.shape = score, shape

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
