"""Suspicious rankings: signs that a file does not come from a model, gathered while its lists are read. Pure arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterpart_metrics import Rankings

FEWEST = 10  # queries, or neighbours in lists, that a suspicion needs: by chance, fewer may look like anything
COPIED = 10  # first items of a list that are compared with other runs
_ROUNDS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # of splitmix64 (Steele et al. 2014)


class Watch:
    """Gathers signs over the blocks of one file, in any order of blocks."""

    def __init__(self) -> None:
        self._lists = 0
        self._equal = 0
        self._neighbours = 0
        self._rising = 0
        self._falling = 0
        self._sums = [0, 0]

    def add(self, side: int, rankings: Rankings) -> None:
        """Take the lists of some queries; ``side`` numbers the direction."""
        items = rankings.items
        scores = rankings.scores
        both = items[:, 1:] >= 0
        self._neighbours += int(both.sum())
        self._rising += int((both & (items[:, 1:] > items[:, :-1])).sum())
        self._falling += int((both & (items[:, 1:] < items[:, :-1])).sum())
        if scores is not None:
            longer = both.any(1) if both.shape[1] else np.zeros(len(items), bool)
            alike = (~both | (scores[:, 1:] == scores[:, :-1])).all(1)
            self._lists += int(longer.sum())
            self._equal += int((longer & alike).sum())
        for number, start in enumerate((1, 2)):
            self._sums[number] = (self._sums[number] + _digest(side, rankings, start)) % 2**64

    @property
    def by_id(self) -> bool:
        """Whether every list is in the order of the ids, up or down."""
        return self._neighbours >= FEWEST and self._neighbours in (self._rising, self._falling)

    @property
    def constant(self) -> bool:
        """Whether the scores of every list are all equal."""
        return self._lists > 0 and self._equal == self._lists

    @property
    def digest(self) -> str:
        """A name of the first ``COPIED`` items of all lists: other lists have another one, as good as surely."""
        return "".join(f"{total:016x}" for total in self._sums)


def _digest(side: int, rankings: Rankings, start: int) -> int:
    """Sum a hash of every (query, rank, item): it depends neither on blocks nor on what follows the first items."""
    head = rankings.items[:, :COPIED].astype(np.int64)
    with np.errstate(over="ignore"):
        queries = _mixed(rankings.queries.astype(np.uint64) * np.uint64(2) + np.uint64(side) + np.uint64(start << 32))
        ranks = _mixed(np.arange(head.shape[1], dtype=np.uint64) + np.uint64(start << 40))
        hashes = _mixed(queries[:, None] ^ _mixed(head.astype(np.uint64) + ranks))
        return int(hashes[head >= 0].sum(dtype=np.uint64))


def _mixed(values: NDArray[np.uint64]) -> NDArray[Any]:
    values = (values ^ (values >> np.uint64(30))) * _ROUNDS[0]
    values = (values ^ (values >> np.uint64(27))) * _ROUNDS[1]
    return values ^ (values >> np.uint64(31))
