"""One sweep over all tiles of a similarity, which keeps the possible best of its rows and of its columns.

Rows are cut into strips, columns into panels. A panel's candidates are scored when a strip has passed it, a strip's
when it has passed all panels: buffers stay small for any N and M, and a finished strip can be kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from counterpart_topk.candidates import Buffers, buffer_size, candidates_of, open_buffers, seed
from counterpart_topk.progress import Progress
from counterpart_topk.ranking import Candidates, Ranking, empty_ranking, rank_candidates
from counterpart_topk.sides import slices
from counterpart_topk.tiles import ProductTiles

STRIP = 8_192
# If the buffers of more than this share of the queries overflow, the precision is too low for these data.
TOO_MANY = 0.25


class Store(Protocol):
    """Keeps arrays by name until a search is finished (``mitl.checkpoints.Checkpoints``)."""

    def save(self, name: str, **arrays: NDArray) -> None:
        """Keep arrays under a name."""

    def load(self, name: str) -> dict[str, NDArray] | None:
        """Return the arrays under a name, or None."""


class TooManyCandidatesError(Exception):
    """The buffers of many queries overflowed: the scores differ by less than their margins."""


@dataclass
class Sweep:
    """The rankings of rows and of columns that a sweep found, and which of their buffers overflowed.

    ``by_column`` is empty if only one direction was searched.
    """

    by_row: Ranking
    by_column: Ranking
    lost_rows: NDArray[np.bool_]
    lost_columns: NDArray[np.bool_]


def sweep(
    tiles: ProductTiles,
    k: int,
    *,
    both: bool,
    memory: int,
    progress: Progress,
    store: Store | None = None,
) -> Sweep:
    """Rank the columns for every row, and with ``both`` the rows for every column, computing every tile once.

    Resumes after the last strip in ``store``. Raises TooManyCandidatesError where the first strip shows that the tiles'
    precision cannot separate these scores.
    """
    n_rows = len(tiles.rows)
    n_columns = len(tiles.columns)
    found, done = _begun(n_rows, n_columns if both else 0, k, store)
    passing = _Passing(tiles, k, _Shape.within(memory, tiles, k), both, found)
    for strip in slices(n_rows, passing.shape.strip, start=done):
        for panel in passing.panels(strip):
            if strip.start == 0 and passing.too_many:
                raise TooManyCandidatesError
            height = strip.stop - strip.start
            progress(
                f"searching in {tiles.precision}", strip.start * n_columns + height * panel.stop, n_rows * n_columns
            )
        if store is not None and passing.shape.strip < n_rows:
            _keep(found, strip, store)
    return found


@dataclass(frozen=True)
class _Shape:
    """The size of the parts: rows in a strip, rows in a tile, columns in a panel."""

    strip: int
    tile: int
    panel: int

    @classmethod
    def within(cls, memory: int, tiles: ProductTiles, k: int) -> "_Shape":
        tallest, widest = tiles.largest
        a_vector = tiles.bytes_a_vector + 8 * buffer_size(k) + 32
        panel = max(1, min(len(tiles.columns), widest, memory // 4 // a_vector))
        tile = max(1, min(len(tiles.rows), tallest, memory // 4 // (8 * panel)))
        return cls(max(1, min(len(tiles.rows), STRIP, memory // 2 // a_vector)), tile, panel)


class _Passing:
    """Passes strips over all panels, one after the other."""

    def __init__(self, tiles: ProductTiles, k: int, shape: _Shape, both: bool, found: Sweep) -> None:
        self._tiles = tiles
        self._k = k
        self._both = both
        self._found = found
        self.shape = shape
        self.too_many = False
        self._row_margins, self._column_margins = tiles.margins()
        # Allocated once: the first touch of memory costs as much as all scanning.
        self._row_entries = np.empty((shape.strip, buffer_size(k)), np.int64)
        self._column_entries = np.empty((shape.panel if both else 0, buffer_size(k)), np.int64)

    def panels(self, strip: slice) -> Iterator[slice]:
        """Pass a strip; yields every panel when its candidates are scored."""
        rows = self._tiles.strip(strip)
        buffers = self._open(self._row_margins[strip], self._row_entries)
        for panel in slices(len(self._tiles.columns), self.shape.panel):
            self._pass_panel(rows, buffers, strip, panel)
            yield panel
        candidates = Candidates(*candidates_of(buffers))
        rank_candidates(self._tiles.rows, strip, self._tiles.columns, candidates, self._found.by_row)
        self._found.lost_rows[strip] = buffers.overflowed

    def _pass_panel(self, rows: Any, row_buffers: Buffers, strip: slice, panel: slice) -> None:
        columns = self._tiles.panel(panel)
        buffers = self._open_panel(panel)
        for part in slices(strip.stop - strip.start, self.shape.tile):
            of_rows = row_buffers.of_tile(part, panel.start)
            of_columns = buffers.of_tile(slice(None), strip.start + part.start)
            self._tiles.scan(rows, part, columns, of_rows, of_columns)
        self._note_overflow(row_buffers)
        if self._both:
            self._note_overflow(buffers)
            candidates = Candidates(*candidates_of(buffers))
            rank_candidates(self._tiles.columns, panel, self._tiles.rows, candidates, self._found.by_column)
            self._found.lost_columns[panel] = buffers.overflowed

    def _note_overflow(self, buffers: Buffers) -> None:
        self.too_many |= bool(buffers.overflowed.mean() > TOO_MANY)

    def _open_panel(self, panel: slice) -> Buffers:
        buffers = self._open(self._column_margins[panel], self._column_entries)
        never = np.iinfo(self._tiles.key_type).max
        if not self._both:
            buffers.thresholds[:] = never
            return buffers
        seed(buffers, self._found.by_column.scores[panel, -1] - self._tiles.shift)
        # A column whose buffer overflowed in any strip is searched again in the end.
        lost = self._found.lost_columns[panel]
        buffers.overflowed[lost] = True
        buffers.thresholds[lost] = never
        return buffers

    def _open(self, margins: NDArray[np.float64], entries: NDArray[np.int64]) -> Buffers:
        tiles = self._tiles
        return open_buffers(margins, entries, self._k, tiles.key_type, relative=tiles.relative, unit=tiles.unit)


def _begun(n_rows: int, n_columns: int, k: int, store: Store | None) -> tuple[Sweep, int]:
    """Return what earlier runs found, and for how many rows."""
    sweep = Sweep(
        empty_ranking(n_rows, k), empty_ranking(n_columns, k), np.zeros(n_rows, np.bool_), np.zeros(n_columns, np.bool_)
    )
    columns = None if store is None else store.load("columns")
    if store is None or columns is None:
        return sweep, 0
    done = 0
    while done < int(columns["rows"]):
        strip = store.load(f"rows-{done}")
        if strip is None:
            return _begun(n_rows, n_columns, k, None)
        part = slice(done, done + len(strip["lost"]))
        sweep.by_row.put(part, Ranking(strip["places"], strip["scores"]))
        sweep.lost_rows[part] = strip["lost"]
        done = part.stop
    sweep.by_column.put(slice(None), Ranking(columns["places"], columns["scores"]))
    sweep.lost_columns[:] = columns["lost"]
    return sweep, done


def _keep(found: Sweep, strip: slice, store: Store) -> None:
    """Keep a strip, and only then the columns after it: they refer to the rows of all kept strips."""
    rows = found.by_row
    columns = found.by_column
    store.save(f"rows-{strip.start}", places=rows.places[strip], scores=rows.scores[strip], lost=found.lost_rows[strip])
    store.save(
        "columns",
        rows=np.array(strip.stop),
        places=columns.places,
        scores=columns.scores,
        lost=found.lost_columns,
    )
