"""The pairs that a round has not asked, by their probability of being a match, how many matches are missing, and which
queries are closed: their pools are estimated complete."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterpart_statistics.audits import STOP_RECALL
from counterpart_statistics.pair_codes import Ids, ids_in
from counterpart_statistics.selection.pooled_queries import WholeQueries

Floats = NDArray[np.float64]
CLOSING = 0.5
"""A query closes if it misses at most this part of the matches that queries may miss on average once the round has
its recall. With a half, the round has it when all queries are closed, although a pair of two queries counts in both;
replays asked as many pairs as without closing."""


@dataclass(frozen=True)
class LikelyMatches:
    """The P pairs of a round of all pairs, those aside whose match was known beforehand.

    Attributes:
        codes: (P,) as of ``pair_codes``, ascending.
        probability: (P,) of a match. It is learned from audited queries and opened pairs of other images, and then
            corrected by the opened pairs of the same query and of the same item.
        gains: (P,) verdicts, NaN without one.
        opened: (P,) whether the order of likely matches has come to the pair before.
        asking: (2, P) whether the pair's image is a query, and its caption; None where no query is known, so that none
            closes.
        stop_recall: the recall at which the round stops.
    """

    codes: NDArray[np.int64]
    probability: Floats
    gains: Floats
    opened: NDArray[np.bool_]
    asking: NDArray[np.bool_] | None = None
    stop_recall: float = STOP_RECALL

    @classmethod
    def of(cls, wholes: Iterable[WholeQueries], *, stop_recall: float = STOP_RECALL) -> "LikelyMatches":
        """Join the directions: a pair of two queries is asked once, and is as likely as the likelier of both says."""
        parts = []
        for whole in wholes:
            asked = whole.queries.asked
            probability = whole.after_opened[asked]
            side = np.full(len(probability), whole.direction == "t2i")
            parts.append(
                (whole.queries.codes[asked], probability, whole.queries.gains[asked], whole.opened[asked], side)
            )
        codes, probability, gains, opened, side = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((-probability, codes))
        first = order[np.diff(codes[order], prepend=-1) != 0]
        asking = np.stack([np.isin(codes[first], codes[side == number]) for number in range(2)])
        return cls(codes[first], probability[first], gains[first], opened[first], asking, stop_recall)

    @property
    def found(self) -> int:
        """Matches that judgments have found."""
        return int((np.nan_to_num(self.gains) > 0).sum())

    @property
    def missing(self) -> float:
        """Matches to expect among the pairs without a verdict."""
        return float(self.probability[np.isnan(self.gains)].sum())

    @property
    def recall(self) -> float:
        """Share of the round's matches that were found, as the probabilities say; 1 where none is expected."""
        total = self.found + self.missing
        return self.found / total if total else 1.0

    @cached_property
    def closed(self) -> NDArray[np.bool_]:
        """(Q,) whether the pool of each query with pairs to ask is estimated complete: the matches to expect among its
        pairs to which the order has not come are few. Once all are closed, the round has its recall.

        The rule is the same for audited queries and others, and reads of the verdicts those of opened pairs alone
        (docs/estimation.md, formula 12).
        """
        missing = self._by_query(np.where(self.opened, 0.0, self.probability))
        found = self._by_query(self.opened & (np.nan_to_num(self.gains) > 0))
        return missing <= CLOSING * (1 - self.stop_recall) * (missing + found).sum() / max(len(missing), 1)

    @cached_property
    def _waits(self) -> NDArray[np.bool_]:
        """(P,) whether every query of the pair is closed."""
        closed = np.append(self.closed, True)[self._query]  # the last one: of sides that are no query, number -1
        return np.asarray(closed.all(axis=0) & (self._query >= 0).any(axis=0))

    @property
    def is_complete(self) -> bool:
        """Whether every pair without a verdict is one of closed queries alone."""
        return not (np.isnan(self.gains) & ~self._waits).any()

    @property
    def said(self) -> str:
        """Return a sentence on how far the round has come."""
        return (
            f"About {self.recall:.0%} of the matches are found. Closed queries, whose pools are estimated complete: "
            f"{self.closed.sum():,} of {len(self.closed):,}."
        )

    @property
    def enough(self) -> str:
        """Return why no further batch is needed; empty if one is."""
        if self.recall >= self.stop_recall:
            return f"{self.said} The other matches cost most."
        return f"Every other query is judged. {self.said}" if self.is_complete else ""

    def next_batch(self, size: int) -> "Batch":
        """Return the likeliest pairs that the order has not come to, until ``size`` of them have no verdict. Pairs
        of closed queries follow only once every other pair has one.

        Pairs of audited queries are part of the order, though they cost nothing: the expected metrics of a query must
        know the same labels whether it is audited or not (docs/estimation.md, formula 12).
        """
        left = np.flatnonzero(~self.opened & (~self._waits | self.is_complete))
        order = left[np.lexsort((self.codes[left], -self.probability[left]))]
        unjudged = np.isnan(self.gains[order])
        until = np.searchsorted(np.cumsum(unjudged), size) + 1
        batch = order[:until]
        asked = batch[np.isnan(self.gains[batch])]
        audited = batch[~np.isnan(self.gains[batch])]
        return Batch(self.codes[asked], self.codes[audited], float(self.probability[asked].sum()))

    @cached_property
    def _query(self) -> NDArray[np.int64]:
        """(2, P) the number of the query that the pair's image is, and its caption; -1 where it is none."""
        found = np.full((2, len(self.codes)), -1)
        numbered = 0
        for side, ids in enumerate(ids_in(self.codes)):
            if self.asking is not None and self.asking[side].any():
                distinct, number = np.unique(ids[self.asking[side]], return_inverse=True)
                found[side, self.asking[side]] = number + numbered
                numbered += len(distinct)
        return found

    def _by_query(self, values: NDArray[Any]) -> Floats:
        """Return (Q,) the sum of ``values`` (P,) over the pairs of each query."""
        sums = np.zeros(int(self._query.max(initial=-1)) + 1)
        for side in self._query:
            np.add.at(sums, side[side >= 0], values[side >= 0])
        return sums


@dataclass(frozen=True)
class Batch:
    """Codes of the pairs to ask, and of the pairs of audited queries between them in the order."""

    asked: Ids
    audited: Ids
    matches: float
    """Matches to expect among those that are asked."""
