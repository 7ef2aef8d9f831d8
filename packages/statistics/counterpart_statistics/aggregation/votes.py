"""The labels of many workers by item, in batches, and the passes over them that every method is made of.

A pass holds one batch of items in memory, besides the parameters of the workers, so that the number of votes is limited
by the disk.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from counterpart_statistics.aggregation.spooled_rows import SpooledRows

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
LEVELS = (1, 2, 3, 4)
ITEM = np.dtype([("code", np.int64), ("end", np.int64), ("votes", np.int32), ("kind", np.int32)])
"""An item: its code, the number of the entry of ``Votes.cells`` after its last, its number of votes, and its kind
(``Votes.kinds``)."""


@dataclass(frozen=True)
class Batch:
    """Whole items, from number ``first`` on, and their votes.

    ``cells`` has an entry for each vote, ``worker * levels + label``, by item and worker, and after those of an item
    one for its kind, ``workers * levels + kind``: so one product sums what the votes say and the prior, and the
    transposed one the votes of the workers and the items of each kind. ``ends`` says where each item's entries end.
    ``sets`` (votes,): the number of each vote's answer set.
    """

    first: int
    rows: NDArray
    cells: NDArray[np.int32]
    kinds: NDArray[np.bool_]
    width: int
    sets: NDArray[np.int32]

    @property
    def last(self) -> int:
        """The number of the item after the last one."""
        return self.first + len(self.rows)

    @cached_property
    def ends(self) -> NDArray[np.int32]:
        return np.cumsum(self.rows["votes"] + 1, dtype=np.int32)

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """(items, levels) which levels an item may have: all, or the right levels of a gold control."""
        return self.kinds[self.rows["kind"]]

    @cached_property
    def is_gold(self) -> NDArray[np.bool_]:
        return np.asarray(~self.possible.all(axis=1))

    @cached_property
    def items(self) -> Codes:
        """The place of each vote's item in the batch."""
        return np.repeat(np.arange(len(self.rows)), self.rows["votes"])

    @cached_property
    def on_gold(self) -> NDArray[np.bool_]:
        """Which votes are on gold controls."""
        return self.is_gold[self.items]

    @cached_property
    def _voted(self) -> NDArray[np.int32]:
        return np.delete(self.cells, self.ends - 1)

    @cached_property
    def workers(self) -> NDArray[np.int32]:
        return self._voted // self.kinds.shape[1]

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """The place of each vote's level among the levels."""
        return self._voted % self.kinds.shape[1]

    @cached_property
    def shares(self) -> Floats:
        """(items, levels) the shares of each item's votes."""
        levels = self.kinds.shape[1]
        cells = np.bincount(self.items * levels + self.labels, minlength=len(self.rows) * levels)
        counts = cells.reshape(len(self.rows), levels).astype(float)
        return np.asarray(counts / self.rows["votes"][:, None])

    @cached_property
    def start(self) -> Floats:
        """The shares of the possible levels: what iterations begin with. Controls that all fail have equal shares."""
        held = np.where(self.possible, self.shares, 0)
        held = np.where(held.any(axis=1, keepdims=True), held, self.possible)
        return held / held.sum(axis=1, keepdims=True)

    def by_item(self, table: Floats) -> Floats:
        """Sum the rows of ``table`` (cells, n) over each item's entries: (items, n)."""
        starts = np.concatenate([[0], self.ends], dtype=np.int32)
        return self._matrix(self.cells, starts) @ table

    def added(self, rows: Floats, sums: Floats) -> Floats:
        """Return ``sums`` (cells, n) with the ``rows`` (items, n) added at each entry of the item.

        The sums come first in the product, which adds in order: the result is that of one product over the items of
        all batches, to the last bit.
        """
        kept = np.arange(self.width, dtype=np.int32)
        cells = np.concatenate([kept, self.cells])
        starts = np.concatenate([kept, [self.width], self.width + self.ends], dtype=np.int32)
        return self._matrix(cells, starts).T @ np.concatenate([sums, rows])

    def _matrix(self, cells: NDArray[np.int32], starts: NDArray[np.int32]) -> sparse.csr_array:
        return sparse.csr_array((np.ones(len(cells)), cells, starts), shape=(len(starts) - 1, self.width))


@dataclass(frozen=True)
class Estimate:
    """The distributions of all items, and what a pass sums of them.

    distribution: (items, levels); the next pass overwrites it.
    by_worker: (workers, levels, levels) the expected votes of each worker, by answer and the item's level.
    by_kind: (kinds, levels) the sums over the items of each kind.
    moved: how much the last pass changed an entry of the distribution on average; NaN at the start.
    """

    distribution: SpooledRows
    by_worker: Floats
    by_kind: Floats
    moved: float


@dataclass(frozen=True)
class Votes:
    """The votes of all items, by ascending code of the item, and for each item by worker.

    The numbers of the workers, which ``worker_names`` has in their order, follow from their votes: sums and random
    starts depend neither on the order of the votes nor on the names. ``kinds`` (kinds, levels) says which levels the
    items of each kind may have; its first row allows all. The items of one kind share the prior of a method.
    ``bounds`` has the number of the first item of each batch, and at last that of all items.
    ``sets`` are the numbers of the votes' answer sets, as they were given.
    ``item_names`` are those of a data frame's items, whose codes are their places in it.
    ``others`` (width, levels) are the sums over items that are counted but not among these: a pass adds to them.
    """

    items: SpooledRows
    cells: SpooledRows
    sets: SpooledRows
    bounds: Sequence[int]
    worker_names: pd.Index
    levels: Sequence[int]
    kinds: NDArray[np.bool_]
    item_names: pd.Index | None = None
    others: Floats | None = None

    @property
    def width(self) -> int:
        """The number of different cells."""
        return len(self.worker_names) * len(self.levels) + len(self.kinds)

    def batches(self) -> Iterator[Batch]:
        for begin, end in pairwise(self.bounds):
            yield self._batch(begin, end)

    @property
    def whole(self) -> Batch:
        """All votes in memory, for methods that need them at once."""
        return self._batch(self.bounds[0], self.bounds[-1])

    def _batch(self, begin: int, end: int) -> Batch:
        rows = self.items.read(begin, end)
        first, last = cells_of(rows)
        sets = self.sets.read(first - begin, last - end)  # a vote has no cell of a kind
        return Batch(begin, rows, self.cells.read(first, last), self.kinds, self.width, sets)

    def at(self, places: Codes) -> Batch:
        """Return the items of these numbers, ascending, and no others: those of a batch need not follow one another.
        Its time depends on their votes, not on all."""
        rows = self.items.mapped()[places]
        given = rows["votes"].astype(np.int64)
        sets = _ranges(rows["end"] - places - 1, given)
        cells = _ranges(rows["end"], given + 1)
        return Batch(0, rows, self.cells.mapped()[cells], self.kinds, self.width, self.sets.mapped()[sets])

    @cached_property
    def given(self) -> Codes:
        """(workers, levels) how often each worker gave each answer."""
        before = 0 if self.others is None else self.others.sum(axis=1).round()  # each vote adds shares that sum to 1
        counts = np.zeros(self.width, dtype=np.int64) + np.int64(before)
        for batch in self.batches():
            counts += np.bincount(batch.cells, minlength=self.width)
        return counts[: -len(self.kinds)].reshape(-1, len(self.levels))

    @cached_property
    def candidates(self) -> int:
        """The number of items that are not gold controls."""
        return sum(int((~batch.is_gold).sum()) for batch in self.batches())

    @property
    def on_candidates(self) -> int:
        """The number of votes on items that are not gold controls."""
        return sum(int((~batch.on_gold).sum()) for batch in self.batches())

    def begin(self) -> Estimate:
        """Return the estimate with which iterations begin."""
        return self.passed(SpooledRows(np.float64, shape=(len(self.levels),)), lambda batch: batch.start)

    def update(self, before: Estimate, likelihood: Floats, *, prior: Floats, on_gold: bool = True) -> Estimate:
        """Return the distributions by Bayes' rule, with their sums.

        ``likelihood`` (workers, levels, levels): the probability of each answer, given the item's level; ``prior``
        (kinds, levels) need not sum to 1. Without ``on_gold``, gold controls keep what they have, and votes on them are
        left out of the sums by worker.
        """
        with np.errstate(divide="ignore"):
            priors = np.log(np.where(self.kinds, prior, 0))
            table = np.concatenate([np.log(likelihood).reshape(-1, len(self.levels)), priors])

        def posterior(batch: Batch) -> Floats:
            shares = _normalised(batch.by_item(table))
            if not on_gold:
                shares[batch.is_gold] = before.distribution.read(batch.first, batch.last)[batch.is_gold]
            return shares

        return self.passed(before.distribution, posterior, on_gold=on_gold)

    def passed(
        self, distribution: SpooledRows, shares_of: Callable[[Batch], Floats], *, on_gold: bool = True
    ) -> Estimate:
        """Write the shares of every batch to ``distribution``; return the estimate."""
        levels = len(self.levels)
        sums = np.zeros((self.width, levels)) if self.others is None else self.others
        moved = 0.0 if len(distribution) else np.nan
        for batch in self.batches():
            shares = shares_of(batch)
            before = distribution.read(batch.first, batch.last) if len(distribution) > batch.first else shares
            moved += np.abs(shares - before).sum()
            distribution.write(batch.first, shares)
            sums = batch.added(shares if on_gold else np.where(batch.is_gold[:, None], 0, shares), sums)
        ends = len(self.worker_names) * levels
        by_worker = sums[:ends].reshape(-1, levels, levels)
        return Estimate(distribution, by_worker, sums[ends:], moved / max(len(self.items) * levels, 1))


def cells_of(rows: NDArray) -> tuple[int, int]:
    """Return the numbers of the first cell of items that follow one another, and of the cell after their last."""
    first, last = rows[:1], rows[-1:]
    return int((first["end"] - first["votes"] - 1).sum()), int(last["end"].sum())


def by_first(codes: Iterable[NDArray], size: int) -> Codes:
    """Return the codes below ``size`` that occur in arrays, by where they occur first."""
    none = np.iinfo(np.int64).max
    first = np.full(size, none)
    begin = 0
    for some in codes:
        np.minimum.at(first, some, begin + np.arange(len(some)))
        begin += len(some)
    return np.argsort(first, kind="stable")[: int((first < none).sum())]


def _ranges(ends: Codes, lengths: Codes) -> Codes:
    """Return the numbers of ranges of some lengths before some ends, one range after another."""
    return np.repeat(ends - np.cumsum(lengths), lengths) + np.arange(lengths.sum())


def _normalised(logits: Floats) -> Floats:
    """Turn ``logits``, the logarithms of shares up to a constant, into the shares, in their place."""
    # By the column: a reduction along rows of four entries takes several times as long.
    logits -= reduce(np.maximum, logits.T)[:, None]
    shares = np.exp(logits, out=logits)
    shares /= reduce(np.add, shares.T)[:, None]
    return shares
