"""The labels of many workers as codes, and the sums over them that every method is made of."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
LEVELS = (1, 2, 3, 4)


@dataclass(frozen=True)
class Votes:
    """One entry of ``items``, ``workers`` and ``labels`` per vote: places in ``item_names`` and ``levels``, which are
    ascending, and in ``worker_names``, which follow from the workers' votes: sums and random starts depend neither on
    the order of the votes nor on the names of the workers. The votes are ordered by item and worker.

    ``possible`` (items, levels) says which levels an item may have: all, or the right levels of a gold control.
    """

    items: Codes
    workers: Codes
    labels: Codes
    item_names: pd.Index
    worker_names: pd.Index
    levels: Sequence[int]
    possible: NDArray[np.bool_]

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """The numbers of items, workers and levels."""
        return len(self.item_names), len(self.worker_names), len(self.levels)

    @cached_property
    def is_gold(self) -> NDArray[np.bool_]:
        return np.asarray(~self.possible.all(axis=1))

    @cached_property
    def on_gold(self) -> NDArray[np.bool_]:
        """Which votes are on gold controls."""
        return self.is_gold[self.items]

    @cached_property
    def counts(self) -> Floats:
        """The number of votes of each item for each level."""
        items, _, levels = self.shape
        cells = np.bincount(self.items * levels + self.labels, minlength=items * levels)
        return cells.reshape(items, levels).astype(float)

    @cached_property
    def shares(self) -> Floats:
        return np.asarray(self.counts / self.counts.sum(axis=1, keepdims=True))

    def by_item(self, table: Floats) -> Floats:
        """Sum the rows of ``table`` (workers, levels, n) over each item's votes: (items, n)."""
        return self._cells @ table.reshape(-1, table.shape[-1])

    def by_worker(self, rows: Floats) -> Floats:
        """Sum ``rows`` (items, n) over the votes of each worker for each level: (workers, levels, n)."""
        _, workers, levels = self.shape
        return (self._transposed @ rows).reshape(workers, levels, rows.shape[1])

    @cached_property
    def _cells(self) -> sparse.csr_array:
        """A row per item with a 1 in the cell (worker, level) of each vote. It holds the votes only, no zeros."""
        items, workers, levels = self.shape
        starts = np.searchsorted(self.items, np.arange(items + 1))
        cells = self.workers * levels + self.labels
        return sparse.csr_array((np.ones(len(cells)), cells, starts), shape=(items, workers * levels))

    @cached_property
    def _transposed(self) -> sparse.csr_array:
        return self._cells.T.tocsr()

    @cached_property
    def kinds(self) -> tuple[NDArray[np.bool_], Codes, sparse.csr_array]:
        """(kinds, levels) which levels the items of each kind may have, the kind of each item, and (kinds, items) the
        items of each kind. The items of one kind share the prior of a method."""
        codes = self.possible @ (1 << np.arange(len(self.levels)))
        _, first, kinds = np.unique(codes, return_index=True, return_inverse=True)
        starts = np.append(0, np.cumsum(np.bincount(kinds)))
        members = (np.ones(len(kinds)), np.argsort(kinds, kind="stable"), starts)
        return self.possible[first], kinds, sparse.csr_array(members, shape=(len(first), len(kinds)))

    @cached_property
    def start(self) -> Floats:
        """The shares of the possible levels: what iterations begin with. Controls that all fail have equal shares."""
        held = np.where(self.possible, self.shares, 0)
        held = np.where(held.any(axis=1, keepdims=True), held, self.possible)
        return held / held.sum(axis=1, keepdims=True)

    def posterior(self, before: Floats, evidence: Floats, *, pseudo_count: float = 0.0) -> Floats:
        """Return the distribution of each item by Bayes' rule from ``evidence``, the log-likelihood of each level.

        The prior is the mean of the distributions ``before`` over the items of the same kind, with ``pseudo_count``
        items more at each possible level.
        """
        possible, kinds, members = self.kinds
        with np.errstate(divide="ignore"):
            logits = np.log(np.where(possible, members @ before + pseudo_count, 0))[kinds]
        logits += evidence
        # By the column: a reduction along rows of four entries takes several times as long.
        logits -= reduce(np.maximum, logits.T)[:, None]
        shares = np.exp(logits, out=logits)
        shares /= reduce(np.add, shares.T)[:, None]
        return shares


def read_votes(
    labels: pd.DataFrame,
    *,
    levels: Sequence[int] | None = None,
    gold: Mapping[Any, Iterable[int]] | None = None,
) -> Votes:
    """Check a table of ``item``, ``worker`` and ``label`` and return its votes.

    ``levels`` None means 1-4 if they cover the labels, otherwise the labels that occur. ``gold`` gives the right
    levels of items whose answer is known. Raises ValueError for a missing column, a label outside the levels, a worker
    who labelled an item twice, or a gold item with no right level.
    """
    scale = _checked_scale(labels, levels)
    if nameless := int(labels[["item", "worker"]].isna().any(axis=1).sum()):
        raise ValueError(f"{nameless} labels lack an item or a worker; name them or drop them.")
    items, item_names = pd.factorize(labels["item"], sort=True)
    workers, worker_names = pd.factorize(labels["worker"], sort=True)
    places = np.searchsorted(np.array(scale), labels["label"].to_numpy())
    by_votes = _order_by_votes(items, workers, places)
    workers = np.argsort(by_votes)[workers]
    worker_names = worker_names[by_votes]
    order = np.lexsort((workers, items))
    items, workers, places = items[order], workers[order], places[order]
    twice = int(((np.diff(items) == 0) & (np.diff(workers) == 0)).sum())
    if twice:
        raise ValueError(f"{twice} labels repeat an item and worker; keep one of each.")
    possible = _possible(pd.Index(item_names), scale, gold or {})
    return Votes(items, workers, places, pd.Index(item_names), pd.Index(worker_names), scale, possible)


def _possible(items: pd.Index, levels: Sequence[int], gold: Mapping[Any, Iterable[int]]) -> NDArray[np.bool_]:
    """Return which levels each item may have; gold items that nobody labelled are left out."""
    possible = np.ones((len(items), len(levels)), dtype=bool)
    by_levels: dict[frozenset[int], list[Any]] = {}
    for item, right in gold.items():
        by_levels.setdefault(frozenset(right), []).append(item)
    for right, members in by_levels.items():
        known = np.isin(levels, list(right))
        if not known.any():
            raise ValueError(f"{len(members)} gold items have no right level among the levels: {members[0]!r}, ….")
        places = items.get_indexer(pd.Index(members))
        possible[places[places >= 0]] = known
    return possible


def _order_by_votes(items: Codes, workers: Codes, labels: Codes) -> Codes:
    """Return the order of the workers by a digest of what each voted on and how."""
    order = np.lexsort((labels, items, workers))
    votes = np.stack([items, labels], axis=1)[order]
    ends = np.cumsum(np.bincount(workers))
    digests = [hashlib.sha256(part.tobytes()).digest() for part in np.split(votes, ends[:-1])]
    return np.array(sorted(range(len(ends)), key=digests.__getitem__), dtype=np.int64)


def _checked_scale(labels: pd.DataFrame, levels: Sequence[int] | None) -> list[int]:
    missing = {"item", "worker", "label"} - set(labels.columns)
    if missing:
        raise ValueError(f"The labels lack the columns {', '.join(sorted(missing))}.")
    seen = set(labels["label"].unique())
    scale = sorted(levels or (LEVELS if seen <= set(LEVELS) else seen))
    if foreign := seen - set(scale):
        raise ValueError(f"{len(foreign)} labels are not among the levels: {', '.join(map(str, sorted(foreign)))}.")
    return scale
