"""The search on an accelerator. It multiplies in float16, and selects for each query all items that may be among the
best. At the same time the processor ranks these few: lists and scores are the same bytes as without an accelerator."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from counterpart_topk.products import whole_operands, writable
from counterpart_topk.progress import Progress
from counterpart_topk.ranking import Candidates, empty_ranking, rank_candidates
from counterpart_topk.sides import Side, slices
from counterpart_topk.sweep import TOO_MANY, Sweep, TooManyCandidatesError

PANEL = 2**20  # items whose embeddings are on the device at once
SENT = 2**14  # embeddings to the device at once
SCORES = 2**28  # products at once where the device does not report its free memory
GROUP = 8  # products whose maximum is compared first
ALIGNED = GROUP**2  # columns of a product: tensor cores take six times as long where their number is odd
CROWDED = 256  # groups, beyond 8 k: a query whose candidates are in more of them is lost
# Tensor cores cut the terms of a float32 sum off, to at least as many bits as a float32 holds.
SUM_UNIT = 2.0**-22
HALF_UNIT = 2.0**-11  # the largest relative error of rounding to float16
HALF_UNDERFLOW = 2.0**-24


@dataclass(frozen=True)
class AcceleratedPass:
    """The products of two sides on a torch device, whose memory holds a panel of items and a strip of products."""

    rows: Side
    columns: Side
    device: str

    @property
    def precision(self) -> str:
        return f"float16 on {self.device}"

    def sweep(self, k: int, *, both: bool, progress: Progress) -> Sweep:
        """Rank the columns for every row and, with ``both``, the rows for every column, as ``sweep.sweep`` does.

        Lost are the queries with too many candidates. Raises TooManyCandidatesError where those are many.
        """
        rows = _Uploaded(self.rows, self.device)
        columns = _Uploaded(self.columns, self.device)
        of_rows = _Way(rows, columns, k)
        of_columns = _Way(columns, rows, k) if both else None
        ways = [way for way in (of_rows, of_columns) if way]
        # That with more to rank first: it is ranked while the products of the other are computed.
        ways.sort(key=lambda way: -len(way.lost))
        with ThreadPoolExecutor(1) as processor:
            ranked = []
            for number, way in enumerate(ways):
                for strip, candidates, share in way.candidates():
                    ranked.append(processor.submit(way.rank, strip, candidates))
                    total = len(self.rows) * len(self.columns)
                    progress(f"searching in {self.precision}", int((number + share) / len(ways) * total), total)
            for part in ranked:
                part.result()
        if of_columns is None:
            return Sweep(of_rows.found, empty_ranking(0, k), of_rows.lost, np.zeros(0, np.bool_))
        return Sweep(of_rows.found, of_columns.found, of_rows.lost, of_columns.lost)


@dataclass(frozen=True)
class _Vectors:
    """Embeddings on the device, scaled: ``halves`` (n, D) in float16, the ``lengths`` (n,) of the exact ones, and
    ``losses`` (n,), the lengths of their differences."""

    halves: Tensor
    lengths: Tensor
    losses: Tensor

    def __len__(self) -> int:
        return len(self.halves)

    def __getitem__(self, rows: slice) -> "_Vectors":
        return _Vectors(self.halves[rows], self.lengths[rows], self.losses[rows])


class _Uploaded:
    """A side on the device: a small one stays there, of a large one a part at a time."""

    def __init__(self, side: Side, device: str) -> None:
        self.side = side
        self._device = device
        # No entry exceeds one, and a power of two changes no digit.
        self._scale = 2.0 ** -np.ceil(np.log2(side.lengths.max()))
        self._whole = self._upload(slice(0, len(side))) if len(side) <= PANEL else None

    def part(self, rows: slice) -> _Vectors:
        return self._whole[rows] if self._whole else self._upload(rows)

    def _upload(self, rows: slice) -> _Vectors:
        halves = []
        losses = []
        for part in slices(rows.stop, SENT, start=rows.start):
            vectors = torch.from_numpy(writable(self.side.take(part)))
            if self._device != "cpu":
                vectors = vectors.pin_memory()  # copied by many threads, and sent while the next ones are
            exact = vectors.to(self._device, non_blocking=True) * self._scale
            halves.append(exact.half())
            losses.append((exact - halves[-1]).double().norm(dim=1))
        lengths = torch.from_numpy(self.side.lengths[rows] * self._scale).to(self._device)
        return _Vectors(torch.cat(halves), lengths, torch.cat(losses))


class _Best:
    """Finds the items on the device that may be among the ``k`` best of queries there."""

    def __init__(self, items: _Vectors, k: int) -> None:
        self._n = len(items)
        self._k = min(k, len(items))
        self._longest = items.lengths.max()
        self._most_lost = items.losses.max()
        self._halves = torch.nn.functional.pad(items.halves, (0, 0, 0, -len(items) % ALIGNED))

    def height(self, n: int) -> int:
        """Return for how many of n queries an eighth of the free memory holds the products."""
        device = self._halves.device
        scores = torch.cuda.mem_get_info(device)[0] // 16 if device.type == "cuda" else SCORES
        return min(n, max(1, scores // len(self._halves)))

    def candidates(self, queries: _Vectors) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.bool_]]:
        """Return how many candidates each query has (n,), their places, query after query, and which queries are lost,
        having too many."""
        n = len(queries)
        width = len(self._halves)
        with whole_operands():
            scores = queries.halves @ self._halves.T
        scores[:, self._n :] = -torch.inf
        # Neighbours, which are often alike, are in different groups.
        largest = scores.view(n, GROUP, -1).amax(1)
        few = largest.view(n, GROUP, -1).amax(1)
        least = self._least(few if few.shape[1] >= 4 * self._k else scores, queries)
        query, group = (largest >= least[:, None]).nonzero(as_tuple=True)
        lost = torch.bincount(query, minlength=n) > 8 * self._k + CROWDED
        kept = ~lost[query]
        query = query[kept]
        group = group[kept]
        places = group[:, None] + torch.arange(0, width, width // GROUP, device=group.device)
        taken = scores[query[:, None], places] >= least[query, None]
        counts = torch.bincount(query[:, None].expand_as(places)[taken], minlength=n)
        return counts.cpu().numpy(), places[taken].int().cpu().numpy(), lost.cpu().numpy()

    def _least(self, scores: Tensor, queries: _Vectors) -> Tensor:
        """Return the least product in float16 of an item that may be among the k best, by queries' products with at
        least k of the items (n, any number): what products.py proves, with a product that is rounded, too."""
        kth = torch.topk(scores, self._k, dim=1).values[:, -1].double()
        kept = queries.lengths + queries.losses
        lost = queries.losses * self._longest + kept * self._most_lost
        summed = queries.halves.shape[1] * SUM_UNIT * kept * (self._longest + self._most_lost)
        least = kth - 2 * (1.001 * (lost + summed + HALF_UNIT * kth.abs()) + HALF_UNDERFLOW)
        return (least - HALF_UNIT * least.abs() - HALF_UNDERFLOW).half()  # not rounded up


class _Way:
    """One direction of a search: the lists that are ``found``, and the queries that are ``lost``."""

    def __init__(self, queries: _Uploaded, items: _Uploaded, k: int) -> None:
        self._queries = queries
        self._items = items
        self._k = k
        self.found = empty_ranking(len(queries.side), k)
        self.lost = np.zeros(len(queries.side), np.bool_)

    def candidates(self) -> Iterator[tuple[slice, Candidates, float]]:
        """Yield the candidates of a strip of queries in a panel of items, and the share of all products so far."""
        n = len(self._queries.side)
        n_items = len(self._items.side)
        for panel in slices(n_items, PANEL):
            best = _Best(self._items.part(panel), self._k)
            for strip in slices(n, best.height(n)):
                counts, places, lost = best.candidates(self._queries.part(strip))
                self.lost[strip] |= lost
                if self.lost[: strip.stop].mean() > TOO_MANY:
                    raise TooManyCandidatesError
                done = panel.start * n + (panel.stop - panel.start) * strip.stop
                yield strip, Candidates(counts, places, panel.start), done / (n * n_items)

    def rank(self, strip: slice, candidates: Candidates) -> None:
        """Join the best of a strip's candidates to the lists of its queries."""
        rank_candidates(self._queries.side, strip, self._items.side, candidates, self.found)
