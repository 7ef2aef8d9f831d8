"""The first pass on an accelerator: one float32 product for both directions, of which each query keeps its best items
and some spare ones. Those alone are scored in float64, on the processor, so that the bits are those without it."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.progress import Progress
from mitl.topk.products import Float32Products, whole_operands
from mitl.topk.ranking import Ranking, empty_ranking, rank_candidates
from mitl.topk.sides import Side, slices
from mitl.topk.sweep import TOO_MANY, Sweep, TooManyCandidatesError

SPARE = 16  # items that a query keeps beyond the wanted ones, so that few lists end among near ties
STRIP, PANEL = 4_096, 65_536  # the sides of a tile, 1 GB of scores


@dataclass(frozen=True)
class AcceleratedPass:
    """The products of two sides on a torch device, whose memory holds a tile and what the queries keep."""

    rows: Side
    columns: Side
    device: str

    @property
    def precision(self) -> str:
        return f"float32 on {self.device}"

    def sweep(self, k: int, *, both: bool, progress: Progress) -> Sweep:
        """Rank the columns for every row and, with ``both``, the rows for every column, as ``sweep.sweep`` does.

        Lost are the queries of which an item that was not kept may be as good as the last one ranked. Raises
        TooManyCandidatesError where those are many.
        """
        n_rows, n_columns = len(self.rows), len(self.columns)
        of_rows = _Kept(n_rows, min(k + SPARE, n_columns), self.device)
        of_columns = _Kept(n_columns if both else 0, min(k + SPARE, n_rows), self.device)
        for panel in slices(n_columns, PANEL):
            columns = self._operand(self.columns, panel)
            for strip in slices(n_rows, STRIP):
                with whole_operands():
                    scores = self._operand(self.rows, strip) @ columns.T
                of_rows.add(strip, scores, panel.start)
                if both:
                    of_columns.add(panel, scores.T, strip.start)
                done = panel.start * n_rows + (panel.stop - panel.start) * strip.stop
                progress(f"searching in {self.precision}", done, n_rows * n_columns)
        by_row, lost_rows = of_rows.ranked(self.rows, self.columns, k)
        by_column, lost_columns = of_columns.ranked(self.columns, self.rows, k) if both else _nothing(k)
        if max(lost_rows.mean(), lost_columns.mean() if both else 0) > TOO_MANY:
            raise TooManyCandidatesError
        return Sweep(by_row, by_column, lost_rows, lost_columns)

    def _operand(self, side: Side, part: slice) -> Tensor:
        return Float32Products().operand(side.take(part)).to(self.device)


def _nothing(k: int) -> tuple[Ranking, NDArray[np.bool_]]:
    return empty_ranking(0, k), np.zeros(0, np.bool_)


class _Kept:
    """The best items of n queries so far, by their scores in float32: their places, both (n, depth), on the device."""

    def __init__(self, n: int, depth: int, device: str) -> None:
        self._scores = torch.full((n, depth), -torch.inf, device=device)
        self._places = torch.zeros((n, depth), dtype=torch.int64, device=device)

    def add(self, queries: slice, scores: Tensor, first: int) -> None:
        """Keep the best of these queries' scores (n, items), too; items are the places from ``first`` on."""
        depth = self._scores.shape[1]
        values, places = torch.topk(scores, min(depth, scores.shape[1]), dim=1)
        values = torch.cat([self._scores[queries], values], dim=1)
        places = torch.cat([self._places[queries], places + first], dim=1)
        self._scores[queries], order = torch.topk(values, depth, dim=1)
        self._places[queries] = places.gather(1, order)

    def ranked(self, queries: Side, items: Side, k: int) -> tuple[Ranking, NDArray[np.bool_]]:
        """Return the ``k`` best by float64 products, and of which queries another item may be among them."""
        found = rank_candidates(queries, items, self._places.cpu().numpy(), k)
        if self._scores.shape[1] == len(items):
            return found, np.zeros(len(queries), np.bool_)
        # An item that was left out scores no more than the last one kept, but for the rounding errors of float32.
        most = self._scores[:, -1].double().cpu().numpy() + Float32Products().margins(queries, items)
        return found, found.scores[:, -1] <= most
