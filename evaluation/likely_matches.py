"""The pairs that a round has not asked, by their probability of being a match, and how many matches it lacks."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.progress import Progress, silent
from evaluation.whole_queries import WholeQueries, whole_queries
from hits.models import Round

Pair = tuple[int, int]
Floats = NDArray[np.float64]
ENOUGH = 0.95
"""The recall at which batches of likely matches have been measured to stop well: the last matches cost most."""


@dataclass(frozen=True)
class LikelyMatches:
    """The P pairs of a round of all pairs, those aside whose match was known beforehand.

    Attributes:
        codes: (P,) as of ``pair_codes``, ascending.
        probability: (P,) of a match, learned from the labels of audited queries, of other images each.
        gains: (P,) verdicts, NaN without one.
        opened: (P,) whether the order of likely matches has come to the pair before.
    """

    codes: NDArray[np.int64]
    probability: Floats
    gains: Floats
    opened: NDArray[np.bool_]

    @classmethod
    def of(cls, wholes: Iterable[WholeQueries]) -> "LikelyMatches":
        """Join the directions: a pair of two queries is asked once, and is as likely as the likelier of both says."""
        parts = []
        for whole in wholes:
            asked = whole.queries.asked
            probability = whole.probability[asked]
            parts.append((whole.queries.codes[asked], probability, whole.queries.gains[asked], whole.opened[asked]))
        codes, probability, gains, opened = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((-probability, codes))
        first = order[np.diff(codes[order], prepend=-1) != 0]
        return cls(codes[first], probability[first], gains[first], opened[first])

    @property
    def found(self) -> int:
        """Matches that judgments have found."""
        return int((np.nan_to_num(self.gains) > 0).sum())

    @property
    def lacking(self) -> float:
        """Matches to expect among the pairs without a verdict."""
        return float(self.probability[np.isnan(self.gains)].sum())

    @property
    def recall(self) -> float:
        """Share of the round's matches that were found, as the probabilities say; 1 where none is expected."""
        total = self.found + self.lacking
        return self.found / total if total else 1.0

    def next_batch(self, size: int) -> "Batch":
        """Return the likeliest pairs that the order has not come to, until ``size`` of them lack a verdict.

        Pairs of audited queries are part of the order, though they cost nothing: the expected metrics of a query must
        know the same labels whether it is audited or not (docs/estimation.md, formula 12).
        """
        left = np.flatnonzero(~self.opened)
        order = left[np.lexsort((self.codes[left], -self.probability[left]))]
        unjudged = np.isnan(self.gains[order])
        until = np.searchsorted(np.cumsum(unjudged), size) + 1
        batch = order[:until]
        asked = batch[np.isnan(self.gains[batch])]
        audited = batch[~np.isnan(self.gains[batch])]
        return Batch(_pairs(self.codes[asked]), _pairs(self.codes[audited]), float(self.probability[asked].sum()))


@dataclass(frozen=True)
class Batch:
    """Pairs (ids of image and caption) to ask, and those of audited queries that the order comes to beside them."""

    asked: list[Pair]
    audited: list[Pair]
    matches: float
    """Matches to expect among those that are asked."""


def likely_matches(round: Round, *, progress: Progress = silent) -> LikelyMatches:
    """Return the pairs of an audit by their probability. Raises CounterpartError as ``whole_queries`` does."""
    return LikelyMatches.of(whole_queries(round, progress=progress))


def _pairs(codes: NDArray[np.int64]) -> list[Pair]:
    images, captions = codes >> 32, codes & 0xFFFFFFFF
    return list(zip(images.tolist(), captions.tolist(), strict=True))
